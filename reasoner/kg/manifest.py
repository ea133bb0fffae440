"""``kg.yaml``: how the relations of a graph read, and what cannot be true together."""

import re
from decimal import Decimal
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

_SLOT = re.compile(r"\{(h|t)\}")
#: Stands between the brace and the letter of what must not be read as a slot.
_NO_SLOT = "\0"


class Relation(BaseModel):
    """One relation.

    Attributes
    ----------
    template
        A sentence with ``{h}`` where the head goes and ``{t}`` where the tail goes.
    inverse
        The relation that says the same from the tail's side; a symmetric one names itself.
    strength
        How causal the relation is, in [0, 1].
    structural
        True for edges that tie documents and chunks together and carry no knowledge.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    template: str | None = None
    inverse: str | None = None
    strength: Decimal = Field(default=Decimal(1), ge=0, le=1)
    structural: bool = False

    @field_validator("template")
    @classmethod
    def _has_both_slots(cls, template: str | None) -> str | None:
        if template is not None and sorted(_SLOT.findall(template)) != ["h", "t"]:
            raise ValueError("a template holds {h} once and {t} once")
        return template


class Rules(BaseModel):
    """What a graph knows about its relations taken together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    conflict: tuple[tuple[str, str], ...] = ()

    @field_validator("conflict", mode="before")
    @classmethod
    def _one_pair_or_many(cls, value: object) -> object:
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return [value]
        return value


class Manifest(BaseModel):
    """The content of ``kg.yaml``; every key has a default, so the file may be absent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    description: str = ""
    triples: str = "triples.tsv"
    entities: str | None = None
    relations: dict[str, Relation] = {}
    rules: Rules = Rules()
    embedder: str | None = None

    @field_validator("triples", "entities")
    @classmethod
    def _stays_inside(cls, path: str | None) -> str | None:
        if path is not None:
            pure = PurePosixPath(path)
            if len(path) > 200:
                raise ValueError("a path of at most 200 characters")
            if pure.is_absolute() or ".." in pure.parts or "\\" in path:
                raise ValueError("a path inside the graph's own folder, without '..'")
        return path

    @model_validator(mode="after")
    def _rules_name_relations(self) -> "Manifest":
        if self.relations:
            named = {r for pair in self.rules.conflict for r in pair}
            named |= {r.inverse for r in self.relations.values() if r.inverse}
            if missing := sorted(named - self.relations.keys()):
                raise ValueError(f"no relation named {missing[0]!r} is declared")
        return self


def fill(template: str, head: str, tail: str) -> str:
    """Return a template with its slots filled, each once; names are never read as slots.

    Examples
    --------
    >>> fill("{h} treats {t}", "{t}", "x")
    '{t} treats x'
    """
    parts = _SLOT.split(template)
    parts[0::2] = [part.replace(_NO_SLOT, "") for part in parts[0::2]]
    parts[1::2] = [head if slot == "h" else tail for slot in parts[1::2]]
    return "".join(parts)


def escaped(words: str) -> str:
    """Return words for a template in which nothing is a slot."""
    return words.replace("{", "{" + _NO_SLOT)

"""The operator contract: what a step takes, gives, costs and may reach.

An operator is one async function in one file. Its positional parameters are inputs, its
keyword-only parameters are options, its annotations are its types, its docstring is its page.
What it does beyond computing (its *effect*) and how much of it (its *cost*) stand in the
decorator: the checker, the price, the cache key, the tests and the generated pages all read
that one place.
"""

import inspect
import types as python_types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import (
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from reasoner import values
from reasoner.types import Type, list_of


@dataclass(frozen=True, slots=True)
class Within:
    """The range of a number, both ends included; put it in an annotation."""

    low: float
    high: float


#: A number from 0 to 1: a similarity, a strength.
Share = Annotated[float, Within(0, 1)]
Direction = Literal["out", "in", "any"]
Similarity = Literal["cosine", "cosine01"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One triple with its names."""

    head: values.Entity
    relation: str
    tail: values.Entity


class Graph(Protocol):
    """A knowledge graph, or a view of one, as operators and models see it. Immutable."""

    @property
    def fingerprint(self) -> str:
        """A hash of the content."""
        ...

    @property
    def conflicts(self) -> frozenset[frozenset[str]]:
        """Pairs of relations that cannot both hold between the same two entities."""
        ...

    def fact(self, triple: values.TripleId) -> Fact:
        """Return the triple with this id."""
        ...

    def sentence(self, triple: values.TripleId) -> str:
        """Return the triple in words, head and tail in the places that its relation gives."""
        ...

    def symmetric(self, relation: str) -> bool:
        """Say whether a relation is its own inverse."""
        ...

    def main_reading(self, triple: values.TripleId) -> Fact:
        """Return the triple read in the main direction of its relation."""
        ...

    def grouped(
        self, triples: Sequence[values.TripleId]
    ) -> list[tuple[str, tuple[values.TripleId, ...]]]:
        """Return sentences with their triples; those of one head and relation share one."""
        ...

    def neighbors(
        self,
        entity: values.EntityId,
        *,
        per_relation: int,
        direction: Direction,
        relations: Sequence[str] | None,
    ) -> values.Evidence:
        """Return the triples at an entity, at most ``per_relation`` for each relation."""
        ...

    def paths(
        self,
        source: values.EntityId,
        target: values.EntityId,
        *,
        max_hops: int,
        direction: Direction,
        limit: int,
    ) -> values.Evidence:
        """Return simple paths, shortest first."""
        ...

    def view(self, *, relations: Sequence[str] | None, min_strength: float | None) -> "Graph":
        """Return the graph restricted to the triples that fit; ids stay what they are."""
        ...


class Linker(Protocol):
    """Turns mentions into entities of a graph."""

    async def link(
        self, mentions: Sequence[str], *, tau: float, sim: Similarity
    ) -> list[values.Linked]:
        """Link each mention, in order."""
        ...

    async def names_in(self, text: str) -> list[values.Linked]:
        """Return the entities that ``text`` names literally, in order of occurrence."""
        ...

    async def nearest(self, text: str, limit: int) -> list[values.Linked]:
        """Return the entities whose names are most similar to ``text``, best first."""
        ...


class Embedder(Protocol):
    """Sentence embeddings."""

    @property
    def id(self) -> str:
        """The name of the model, pinned beside every threshold on its similarities."""
        ...

    async def similarity(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine of ``text`` to each of ``others``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a running step may reach: nothing else is global."""

    graph: Graph
    linker: Linker
    embedder: Embedder


class Effect(StrEnum):
    """What an operator does beyond computing its result."""

    PURE = "pure"
    GRAPH = "graph"
    EMBED = "embed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A keyword-only parameter of an operator."""

    name: str
    type: Type
    default: object
    required: bool
    choices: tuple[str, ...] = ()
    whole: bool = False
    within: Within | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSpec:
    """An operator's signature and traits, read from its function."""

    name: str
    inputs: tuple[tuple[str, Type], ...]
    options: tuple[Option, ...]
    returns: Type
    effect: Effect
    searches: int
    embeddings: int
    bounded_by: str | None
    version: int
    run: Callable[..., Awaitable[Any]]
    doc: str

    @property
    def signature(self) -> str:
        """The call as it is written in a recipe."""
        parts = [f"{name}: {kind}" for name, kind in self.inputs]
        for o in self.options:
            shown = f" = {_literal(o.default)}" if not o.required else ""
            kind = "|".join(f'"{c}"' for c in o.choices) if o.choices else str(o.type)
            parts.append(f"{o.name}: {kind}{shown}")
        return f"{self.name}({', '.join(parts)}) -> {self.returns}"


Catalog = Mapping[str, OpSpec]
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])
_MARK = "__reasoner_operator__"


def operator(
    *,
    effect: Effect,
    searches: int = 0,
    embeddings: int = 0,
    bounded_by: str | None = None,
    version: int = 1,
) -> Callable[[F], F]:
    """Mark an async function as an operator and state its traits.

    Parameters
    ----------
    effect
        What it reaches: nothing, the graph, or the embedder.
    searches, embeddings
        The most graph searches and embedded texts of one call.
    bounded_by
        The option that bounds the length of a list result.
    version
        Raised when the meaning changes, so that recorded results of the old one are not used.
    """

    def mark(fn: F) -> F:
        traits = {
            "effect": effect,
            "searches": searches,
            "embeddings": embeddings,
            "bounded_by": bounded_by,
            "version": version,
        }
        setattr(fn, _MARK, traits)
        return fn

    return mark


def spec_of(fn: Callable[..., Any]) -> OpSpec | None:
    """Return the spec of a function marked with `operator`, or None for any other function."""
    traits = getattr(fn, _MARK, None)
    if traits is None:
        return None
    hints = get_type_hints(fn)
    extras = get_type_hints(fn, include_extras=True)
    inputs: list[tuple[str, Type]] = []
    options: list[Option] = []
    for name, param in list(inspect.signature(fn).parameters.items())[1:]:
        kind = language_type(hints[name])
        if param.kind is not inspect.Parameter.KEYWORD_ONLY:
            inputs.append((name, kind))
            continue
        choices = get_args(hints[name]) if get_origin(hints[name]) is Literal else ()
        required = param.default is inspect.Parameter.empty
        default = None if required else param.default
        whole = hints[name] is int or hints[name] == (int | None)
        options.append(
            Option(
                name=name,
                type=kind,
                default=default,
                required=required,
                choices=choices,
                whole=whole,
                within=_range(extras[name]),
            )
        )
    return OpSpec(
        name=fn.__name__,
        inputs=tuple(inputs),
        options=tuple(options),
        returns=language_type(hints["return"]),
        run=fn,
        doc=inspect.getdoc(fn) or "",
        **traits,
    )


def _range(hint: object) -> Within | None:
    """Return the range in an annotation such as `Share` or ``Share | None``."""
    parts = [hint, *get_args(hint)]
    found = [m for part in parts for m in getattr(part, "__metadata__", ())]
    return next((m for m in found if isinstance(m, Within)), None)


_PYTHON_TYPES: dict[object, str] = {
    str: "Text",
    int: "Number",
    float: "Number",
    Decimal: "Number",
    bool: "Bool",
    Graph: "Graph",
    values.Entity: "Entity",
    values.Linked: "Linked",
    values.Evidence: "Evidence",
    values.Chain: "Chain",
    values.Answer: "Answer",
    values.Findings: "Findings",
}


def language_type(hint: object) -> Type:
    """Return the type of the language that a Python annotation stands for.

    Examples
    --------
    >>> str(language_type(Sequence[str]))
    'List[Text]'
    """
    if isinstance(hint, TypeVar):
        return Type(hint.__name__)
    if (name := _PYTHON_TYPES.get(hint)) is not None:
        return Type(name)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return Type("Text")
    if origin in {python_types.UnionType, Union} and python_types.NoneType in args:
        (inner,) = (a for a in args if a is not python_types.NoneType)
        return Type("Optional", (language_type(inner),))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list_of(language_type(args[0]))
    raise TypeError(f"the annotation {hint!r} stands for no type of the language")


def _literal(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case _:
            return str(value)

"""The types of the language: what flows between steps, with multiplicity as part of the type."""

from collections.abc import Mapping
from dataclasses import dataclass

#: Types without arguments, with what a value of each is.
SIMPLE: Mapping[str, str] = {
    "Text": "a string",
    "Number": "an exact decimal number",
    "Bool": "true or false",
    "Entity": "one node of the graph",
    "Linked": "a mention with the entity that it was linked to, or with none",
    "Triple": "one edge of the graph",
    "Path": "a chain of triples, each starting where the one before ends",
    "Graph": "a knowledge graph, or a view of one",
    "Passage": "a piece of a document",
    "Evidence": "a set of ids of triples, paths and passages that were retrieved in this run",
    "Thought": "a line of reasoning with its parents and depth",
    "Chain": "a finished dialog: its searches, evidence and partial answer",
    "Findings": "chains after reconciliation: claims, conflicts and the evidence that is left",
    "Answer": "a text with citations and ranked candidates",
    "Verdict": "the result of a comparison: win, tie, lose or inconsistent",
}
#: Types with one argument.
GENERIC: Mapping[str, str] = {
    "List": "any number of values, in order",
    "Optional": "one value or none",
    "Scored": "a value with a score in [0, 1]",
}


@dataclass(frozen=True, slots=True)
class Type:
    """A type: a name, its arguments, and for records their fields."""

    name: str
    args: tuple["Type", ...] = ()
    fields: tuple[tuple[str, "Type"], ...] = ()

    def __str__(self) -> str:
        """Return the type as it is written in a recipe."""
        if self.fields:
            return f"Record{{{', '.join(f'{k}: {t}' for k, t in self.fields)}}}"
        return f"{self.name}[{', '.join(map(str, self.args))}]" if self.args else self.name

    @property
    def item(self) -> "Type":
        """The type of the members of a list; `UNKNOWN` for other types."""
        return self.args[0] if self.name == "List" and self.args else UNKNOWN

    @property
    def is_variable(self) -> bool:
        """True for the type variables of operator signatures (``T``, ``U``)."""
        return len(self.name) == 1


#: The type of what could not be typed because of an error that was reported already.
UNKNOWN = Type("?")
#: The type of ``none``.
NOTHING = Type("none")
TEXT, NUMBER, BOOL = Type("Text"), Type("Number"), Type("Bool")
LINKED, ENTITY, EVIDENCE, GRAPH = Type("Linked"), Type("Entity"), Type("Evidence"), Type("Graph")
CHAIN, ANSWER, FINDINGS = Type("Chain"), Type("Answer"), Type("Findings")


_T = Type("T")
#: Fields that values have beside records: what ``value.name`` may ask for.
FIELDS: Mapping[str, Mapping[str, Type]] = {
    "Chain": {"question": TEXT, "answer": ANSWER, "evidence": EVIDENCE},
    "Answer": {"text": TEXT},
    "Findings": {"evidence": EVIDENCE, "chains": Type("List", (CHAIN,))},
    "Linked": {"mention": TEXT, "score": NUMBER},
    "Scored": {"value": _T, "score": NUMBER},
}


def list_of(item: Type) -> Type:
    """Return ``List[item]``."""
    return Type("List", (item,))


def assignable(given: Type, wanted: Type) -> bool:
    """Say whether a value of type ``given`` may be used where ``wanted`` is asked for.

    A single value is never taken for a list, nor a list for a single value. An ``Optional[T]``
    takes a ``T`` and ``none``; a ``T`` does not take an ``Optional[T]``.
    """
    return unify(given, wanted, {}) is not None


def unify(given: Type, wanted: Type, bound: Mapping[str, Type]) -> Mapping[str, Type] | None:
    """Return ``bound`` with the type variables of ``wanted`` set so that ``given`` fits, or None."""
    if UNKNOWN in (given, wanted):
        return bound
    if wanted.is_variable:
        known = bound.get(wanted.name)
        if known is None or known == UNKNOWN:
            return {**bound, wanted.name: given}
        return bound if assignable(given, known) else None
    if wanted.name == "Optional":
        if given == NOTHING:
            return bound
        inner = given.args[0] if given.name == "Optional" else given
        return unify(inner, wanted.args[0], bound)
    if wanted.name == "Record" and given.name == "Record":
        have = dict(given.fields)
        for name, kind in wanted.fields:
            if name not in have or (step := unify(have[name], kind, bound)) is None:
                return None
            bound = step
        return bound
    if given.name != wanted.name or len(given.args) != len(wanted.args):
        return None
    for mine, theirs in zip(given.args, wanted.args, strict=True):
        if (step := unify(mine, theirs, bound)) is None:
            return None
        bound = step
    return bound


def substitute(kind: Type, bound: Mapping[str, Type]) -> Type:
    """Return ``kind`` with its type variables replaced; an unbound one becomes `UNKNOWN`."""
    if kind.is_variable and kind != UNKNOWN:
        return bound.get(kind.name, UNKNOWN)
    fields = tuple((name, substitute(t, bound)) for name, t in kind.fields)
    return Type(kind.name, tuple(substitute(a, bound) for a in kind.args), fields)


def join_types(left: Type, right: Type) -> Type | None:
    """Return the narrowest type that takes both, or None."""
    if right == UNKNOWN:
        return left
    if assignable(left, right):
        return right
    return left if assignable(right, left) else None

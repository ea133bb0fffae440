"""The values that flow between steps while a plan runs.

Evidence is always a set of ids into the immutable tables of a graph, never loose text: text is
rendered from the ids when a prompt is built, and citations are checked against the ids.
A triple's id is its row in the graph's triples table; it is written ``T<row>`` where people
and models read it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NewType

EntityId = NewType("EntityId", int)
TripleId = NewType("TripleId", int)


class LinkMethod(StrEnum):
    """Which stage of linking gave the entity."""

    EXACT = "exact"
    LEXICAL = "lexical"
    EMBEDDING = "embedding"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Entity:
    """One node of a graph."""

    id: EntityId
    name: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A mention and the entity it was linked to; ``entity`` is None below the threshold.

    ``score`` is the similarity of the best candidate, in [-1, 1] for cosine and in [0, 1]
    otherwise, also when it was too low; ``nearest`` names that candidate.
    """

    mention: str
    entity: Entity | None
    score: float
    method: LinkMethod
    nearest: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was retrieved: ids in the order in which they are numbered and shown.

    Attributes
    ----------
    triples
        Ids of triples, without repetition.
    paths
        Each path as the ids of its triples, in order; their triples are in ``triples`` too.
    passages
        Ids of passages.
    missed
        Mentions that linked to no entity, with the nearest name that was too far.
    truncated
        How many triples or paths a limit left out.
    """

    triples: tuple[TripleId, ...] = ()
    paths: tuple[tuple[TripleId, ...], ...] = ()
    passages: tuple[str, ...] = ()
    missed: tuple[Linked, ...] = ()
    truncated: int = 0

    @property
    def empty(self) -> bool:
        """True if nothing was found, whatever was missed."""
        return not (self.triples or self.paths or self.passages)

    @property
    def ids(self) -> frozenset[str]:
        """The ids that may be cited, as they are written."""
        return frozenset([*(triple_label(t) for t in self.triples), *self.passages])


def union(parts: Iterable[Evidence]) -> Evidence:
    """Return all evidence of ``parts``, each id once, in order of first occurrence."""
    triples: dict[TripleId, None] = {}
    paths: dict[tuple[TripleId, ...], None] = {}
    passages: dict[str, None] = {}
    missed: dict[Linked, None] = {}
    truncated = 0
    for part in parts:
        triples.update(dict.fromkeys(part.triples))
        paths.update(dict.fromkeys(part.paths))
        passages.update(dict.fromkeys(part.passages))
        missed.update(dict.fromkeys(part.missed))
        truncated += part.truncated
    return Evidence(tuple(triples), tuple(paths), tuple(passages), tuple(missed), truncated)


def shown_ids(value: object) -> frozenset[str]:
    """Return the ids of all evidence that a value holds."""
    match value:
        case Evidence():
            return value.ids
        case Chain():
            return value.evidence.ids
        case Findings():
            return value.evidence.ids | shown_ids(value.chains)
        case Answer():
            return frozenset(i for c in value.citations for i in c.ids)
        case list() | tuple():
            return frozenset[str]().union(*map(shown_ids, value))
        case _:
            return frozenset()


def triple_label(triple: int) -> str:
    """Return the id of a triple as people and models read it.

    Examples
    --------
    >>> triple_label(7)
    'T7'
    """
    return f"T{triple}"


@dataclass(frozen=True, slots=True)
class Citation:
    """The characters ``start`` to ``end`` of an answer rest on the evidence ``ids``."""

    start: int
    end: int
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entity that an answer proposes, with a score in [0, 1]."""

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A text whose sentences point at their evidence.

    ``partial`` says that a budget ended the run before everything was read; ``rejected`` are
    cited ids that were never retrieved, taken out of the text.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    partial: bool = False
    rejected: tuple[str, ...] = ()


class SearchStatus(StrEnum):
    """How a search that a model asked for ended."""

    FOUND = "found"
    EMPTY = "empty"
    NO_MATCH = "no_match"
    DUPLICATE = "duplicate"
    EXHAUSTED = "exhausted"
    UNKNOWN_TOOL = "unknown_tool"
    ERROR = "error"

    @property
    def executed(self) -> bool:
        """True if the search ran and so counts against the limit of searches."""
        return self in (SearchStatus.FOUND, SearchStatus.EMPTY, SearchStatus.NO_MATCH)


@dataclass(frozen=True, slots=True)
class Search:
    """One search inside a dialog, with what it linked and found."""

    tool: str
    args: tuple[str, ...]
    status: SearchStatus
    observation: str
    evidence: Evidence = Evidence()
    linked: tuple[Linked, ...] = ()


class ChainStatus(StrEnum):
    """How a chain ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"  # a budget ended it: what it has is kept


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a transcript: text that a model decoded, or what the runtime put in."""

    role: str  # "model" | "runtime"
    text: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A finished dialog: what was asked, decoded, searched, found and concluded."""

    question: str
    status: ChainStatus
    answer: Answer
    searches: tuple[Search, ...] = ()
    transcript: tuple[Part, ...] = ()
    stop_reason: str = ""

    @property
    def evidence(self) -> Evidence:
        """Everything that the chain's searches found, in order."""
        return union(s.evidence for s in self.searches)


@dataclass(frozen=True, slots=True)
class Claim:
    """An assertion of a chain: a triple, read in its relation's main direction.

    ``chains`` are the 0-based positions of the chains that assert it.
    """

    triple: TripleId
    head: str
    relation: str
    tail: str
    chains: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims that cannot both hold; both sides stay on record."""

    rule: tuple[str, str]
    kept: Claim
    dropped: Claim
    support_kept: tuple[TripleId, ...]
    support_dropped: tuple[TripleId, ...]
    decided_by: str  # "support" | "similarity" | "order"


@dataclass(frozen=True, slots=True)
class Findings:
    """Chains after reconciliation.

    ``evidence`` is the union over all chains, without the triples of dropped claims;
    ``from_failed`` are the ids that only chains that failed had found.
    """

    chains: tuple[Chain, ...]
    claims: tuple[Claim, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    evidence: Evidence = Evidence()
    from_failed: tuple[TripleId, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """The place of an item that failed under ``on_error skip``; it stays in the record."""

    index: int
    reason: str


def with_text(answer: Answer, text: str) -> Answer:
    """Return ``answer`` with another text and without citations."""
    return replace(answer, text=text, citations=())

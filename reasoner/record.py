"""The audit record of a run: one JSON document, its schema shipped, no secrets in it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LinkRecord(_Part):
    """A mention and what it was linked to; ``entity`` is none below the threshold."""

    mention: str
    entity: str | None
    score: float
    method: str


class CallRecord(_Part):
    """One model call: where in the plan, by which model, at what cost."""

    path: str
    role: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    usd: float
    estimated: bool
    seconds: float
    cached: bool
    finish: str


class SearchRecord(_Part):
    """One search of a chain; ``triples`` and ``paths`` are ids into the graph's tables."""

    tool: str
    args: list[str]
    status: str
    linked: list[LinkRecord]
    triples: list[int]
    paths: list[list[int]]
    truncated: int


class CitationRecord(_Part):
    """Characters ``start`` to ``end`` of a text and the evidence that they rest on."""

    start: int
    end: int
    ids: list[str]


class ChainRecord(_Part):
    """One chain, whole, in the order in which it happened."""

    path: str
    question: str
    status: Literal["completed", "failed", "stopped"]
    stop_reason: str
    searches: list[SearchRecord]
    transcript: list[dict[str, str]]
    answer: str
    citations: list[CitationRecord]


class SubQuestion(_Part):
    """A sub-question; one beyond the bound was never asked."""

    text: str
    truncated: bool


class ClaimRecord(_Part):
    """An asserted triple with the chains (by position) that assert it."""

    triple: int
    head: str
    relation: str
    tail: str
    chains: list[int]
    support: list[int]


class ConflictRecord(_Part):
    """Two claims that exclude each other; both sides are kept here."""

    rule: tuple[str, str]
    kept: ClaimRecord
    dropped: ClaimRecord
    decided_by: Literal["support", "similarity", "order"]


class CandidateRecord(_Part):
    """An entity that the answer proposes."""

    name: str
    score: float


class EvidenceRecord(_Part):
    """One cited id with its content."""

    id: str
    head: str
    relation: str
    tail: str
    text: str


class BudgetRecord(_Part):
    """What was allowed, what was used, and which limit ended the run, if one did."""

    limits: dict[str, float]
    calls: int
    tokens: int
    usd: float
    seconds: float
    tripped: str | None


class Notice(_Part):
    """Something that a reader of the result should know."""

    kind: str
    path: str
    text: str


class AuditRecord(_Part):
    """Everything that a run did and why it stopped.

    ``outcome`` is ``answered``, ``partial`` (a budget ended the run) or ``failed``. Positions in
    lists follow the plan, never the time at which something finished.
    """

    version: int
    run: str
    started: str
    method: str
    variant: str | None
    plan: str
    graph: str
    graph_fingerprint: str
    models: dict[str, str]
    notes: list[str]
    embedder: str
    seed: int
    inputs: dict[str, str]
    sub_questions: list[SubQuestion]
    chains: list[ChainRecord]
    conflicts: list[ConflictRecord]
    answer: str
    candidates: list[CandidateRecord]
    citations: list[CitationRecord]
    evidence: list[EvidenceRecord]
    calls: list[CallRecord]
    notices: list[Notice]
    budget: BudgetRecord
    outcome: Literal["answered", "partial", "failed"]
    stop_reason: str

"""``reconcile``: what chains assert, held against one another."""

import re
from collections.abc import Sequence
from dataclasses import replace

from reasoner.op import Context, Effect, Fact, operator
from reasoner.values import (
    Chain,
    ChainStatus,
    Claim,
    Conflict,
    Evidence,
    Findings,
    TripleId,
    union,
)  # fmt: skip

_WORD = re.compile(r"\w+")


@operator(effect=Effect.EMBED, embeddings=2)
async def reconcile(
    ctx: Context, chains: Sequence[Chain], question: str, *, keep_failed: bool = True
) -> Findings:
    """Find claims that cannot both hold, settle each conflict, and keep both sides on record.

    Claims are the triples that a chain's answer cites (or, if it cites nothing, those of its
    evidence whose two ends it names), read in the main direction of their relation. Two claims conflict if the graph's rules name their relations as exclusive and
    they connect the same two entities. The side with the broader corroborating neighbourhood
    stays: the number of distinct triples, over the distinct chains that retrieved them, that
    share the claim's relation and one of its ends. A tie goes to the sentence that is more
    similar to the question, and then to the claim that was asserted first (METHODS 1.1.6).

    Parameters
    ----------
    chains
        Finished dialogs. One that failed asserts nothing.
    question
        The question that all chains serve.
    keep_failed
        Whether the evidence that only failed chains found is kept (and marked as theirs).

    Returns
    -------
    Findings
        ``evidence`` is the union in order of chains and searches, without dropped claims.
    """
    sources = [c for c in chains if keep_failed or c.status is not ChainStatus.FAILED]
    everything = union(c.evidence for c in sources)
    claims = _claims(ctx, chains)
    conflicts = await _settle(ctx, claims, chains, question)
    dropped: set[TripleId] = set()
    for conflict in conflicts:
        dropped |= _same(ctx, conflict.dropped, everything.triples)
    sound = {t for c in chains if c.status is not ChainStatus.FAILED for t in c.evidence.triples}
    return Findings(
        chains=tuple(chains),
        claims=tuple(claims),
        conflicts=tuple(conflicts),
        evidence=_without(everything, dropped),
        from_failed=tuple(t for t in everything.triples if t not in sound),
    )


def _claims(ctx: Context, chains: Sequence[Chain]) -> list[Claim]:
    """Return each asserted fact once, with every chain that asserts it, in order."""
    found: dict[Fact, Claim] = {}
    for index, chain in enumerate(chains):
        if chain.status is ChainStatus.FAILED:
            continue
        cited = {i for c in chain.answer.citations for i in c.ids}
        for triple in chain.evidence.triples:
            fact = ctx.graph.main_reading(triple)
            if f"T{triple}" not in cited if cited else not _says(chain.answer.text, fact):
                continue
            old = found.get(fact)
            if old is None:
                found[fact] = Claim(triple, fact.head.name, fact.relation, fact.tail.name, (index,))
            elif index not in old.chains:
                found[fact] = replace(old, chains=(*old.chains, index))
    return list(found.values())


def _says(text: str, fact: Fact) -> bool:
    """Say whether an answer without citations names both ends of a fact, as whole words."""
    said = _folded(text)
    return _folded(fact.head.name) in said and _folded(fact.tail.name) in said


def _folded(text: str) -> str:
    words = " ".join(_WORD.findall(text.casefold()))
    return f" {words} "


def _rule(ctx: Context, first: Claim, second: Claim) -> tuple[str, str] | None:
    """Return the pair of relations by which two claims exclude each other, or None.

    Claims are read in the direction in which the rules are stated.
    """
    rule = frozenset({first.relation, second.relation})
    if len(rule) < 2 or rule not in ctx.graph.conflicts:
        return None
    mine, theirs = (first.head, first.tail), (second.head, second.tail)
    turned = any(map(ctx.graph.symmetric, rule)) and mine == theirs[::-1]
    return (first.relation, second.relation) if mine == theirs or turned else None


async def _settle(
    ctx: Context, claims: Sequence[Claim], chains: Sequence[Chain], question: str
) -> list[Conflict]:
    """Keep the strongest claims of those that exclude each other, whatever order they came in.

    Claims in conflict are taken by support, then likeness to the question, then order; each is
    kept unless it conflicts with one that was kept before it.
    """
    pairs = {
        (i, j): rule
        for i, one in enumerate(claims)
        for j, other in enumerate(claims)
        if i < j and (rule := _rule(ctx, one, other)) is not None
    }
    contested = sorted({i for pair in pairs for i in pair})
    support = {i: _support(ctx, claims[i], chains) for i in contested}
    likeness = dict.fromkeys(contested, 0.0)
    if any(len(support[i]) == len(support[j]) for i, j in pairs):
        sentences = [ctx.graph.sentence(claims[i].triple) for i in contested]
        scores = await ctx.embedder.similarity(question, sentences)
        likeness = dict(zip(contested, scores, strict=True))
    kept: list[int] = []
    conflicts: list[Conflict] = []
    for i in sorted(contested, key=lambda i: (-len(support[i]), -likeness[i], i)):
        rival = next((k for k in kept if (min(i, k), max(i, k)) in pairs), None)
        if rival is None:
            kept.append(i)
            continue
        by = "order"
        if len(support[rival]) != len(support[i]):
            by = "support"
        elif likeness[rival] != likeness[i]:
            by = "similarity"
        conflicts.append(
            Conflict(
                rule=(claims[rival].relation, claims[i].relation),
                kept=claims[rival],
                dropped=claims[i],
                support_kept=tuple(t for _, t in support[rival]),
                support_dropped=tuple(t for _, t in support[i]),
                decided_by=by,
            )
        )
    return sorted(conflicts, key=lambda c: claims.index(c.dropped))


def _support(ctx: Context, claim: Claim, chains: Sequence[Chain]) -> list[tuple[int, TripleId]]:
    """Return the distinct (chain, triple) pairs that corroborate a claim, in order."""
    found: dict[tuple[int, Fact], TripleId] = {}
    for index, chain in enumerate(chains):
        if chain.status is ChainStatus.FAILED:
            continue
        for triple in chain.evidence.triples:
            fact = ctx.graph.main_reading(triple)
            shares = {fact.head.name, fact.tail.name} & {claim.head, claim.tail}
            if fact.relation == claim.relation and shares:
                found.setdefault((index, fact), triple)
    return [(index, triple) for (index, _), triple in found.items()]


def _same(ctx: Context, claim: Claim, triples: Sequence[TripleId]) -> set[TripleId]:
    """Return the triples that state the claim, in either direction of its relation."""
    fact = ctx.graph.main_reading(claim.triple)
    return {t for t in triples if ctx.graph.main_reading(t) == fact}


def _without(evidence: Evidence, dropped: set[TripleId]) -> Evidence:
    return replace(
        evidence,
        triples=tuple(t for t in evidence.triples if t not in dropped),
        paths=tuple(p for p in evidence.paths if not dropped.intersection(p)),
    )

"""Dividing a question, and choosing the next search of a chain."""

from collections.abc import Sequence
from itertools import combinations

from reasoner.models.builtin.mind import Mind, part, split_part
from reasoner.models.builtin.rank import best_first, both_readings, rank
from reasoner.values import Search, union

#: Bridge searches of a chain whose question names several things.
BRIDGES = 3


async def decompose(mind: Mind, question: str, limit: int | None) -> list[str]:
    """Return at most ``limit`` sub-questions: one per telling clause, then the whole question."""
    telling = [clause for clause, _ in await mind.telling(question) if clause != question]
    parts = [part(clause, question) for clause in telling]
    if len(parts) < 2:  # one thing only: there is nothing to divide
        return [question]
    return [*(parts if limit is None else parts[: limit - 1]), question]


async def next_search(
    mind: Mind, question: str, searches: Sequence[Search], tools: Sequence[tuple[str, int]]
) -> tuple[str, tuple[str, ...]] | None:
    """Return the tool and the names to search next, or None if nothing is left to search.

    The chain of a whole question first bridges the things that it names, pair by pair. Every
    chain then anchors the most promising entity that it has not looked at yet.
    """
    about, whole = split_part(question)
    if not await mind.speaks_to(whole):
        return None
    bridge = next((tool for tool, count in tools if count == 2), None)
    anchor = next((tool for tool, count in tools if count == 1), None)
    known = await mind.given(whole)
    tried = {s.args for s in searches}
    if bridge is not None and about == whole:
        named = list(known) or [name for _, name in await mind.telling(whole)]
        for pair in list(combinations(dict.fromkeys(named), 2))[:BRIDGES]:
            if pair not in tried:
                return bridge, pair
    if anchor is None:
        return None
    anchored = {s.args[0] for s in searches if len(s.args) == 1}
    if known and not anchored:
        here = await mind.given(about)
        return anchor, (next((name for name in known if name in here), next(iter(known))),)
    found = union(s.evidence for s in searches)
    if found.triples:
        ranked = await rank(mind, whole, *both_readings(mind.graph, found.triples))
    else:
        pool = await mind.near(about)
        ranked = best_first(dict(zip(pool, await mind.cosine(about, pool), strict=True)))
    name = next((entity for entity, _ in ranked if entity not in anchored), None)
    return None if name is None else (anchor, (name,))

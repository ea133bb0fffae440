"""Writing an answer: sentences of the evidence, quoted with their ids, and nothing else."""

import math
from collections.abc import Iterable, Mapping, Sequence

from reasoner.harmless import harmless
from reasoner.models.builtin.mind import Mind, split_part
from reasoner.models.builtin.rank import both_readings, rank
from reasoner.op import Fact
from reasoner.values import Conflict, Evidence, TripleId

NOTHING = "No information was found for this question."
#: Most candidates of an answer, and of those most that a look-up writes out.
CANDIDATES = 10
WRITTEN = 10
#: Most sentences on how things that the question names are connected.
LINKS = 6


async def answer(
    mind: Mind, question: str, evidence: Evidence, conflicts: Sequence[Conflict] = ()
) -> tuple[str, list[tuple[str, float]]]:
    """Return a text with citations and the ranked candidates, with scores in (0, 1]."""
    _, about = split_part(question)
    facts = {t: mind.graph.fact(t) for t in evidence.triples}
    if not facts or not await mind.speaks_to(about):
        return NOTHING, []
    triples, readings = both_readings(mind.graph, evidence.triples)
    ranked = await rank(mind, about, triples, readings)
    given = await mind.given(about)
    named = set(await mind.named(about))
    best = [name for name, _ in ranked[:CANDIDATES]]
    links = _between(facts, named)[:LINKS]
    if given and best and best[0] not in given:
        top = [name for name, score in ranked[:WRITTEN] if score >= ranked[0][1] - 0.05]
        body = _between(facts, set(top) | set(given), across=set(given))
        opening = f"Found: {', '.join(map(harmless, top))}."
    else:
        body = _about(facts, best[0], named)
        opening = f"Best match: {harmless(best[0])}."
    shown = dict.fromkeys([*body, *(t for t in links if t not in body)])
    settled = {c.dropped.triple for c in conflicts}
    parts = [opening, *_sentences(mind, [t for t in shown if t not in settled])]
    paragraphs = ["\n".join(parts), *(_settled(mind, c) for c in conflicts)]
    others = [name for name in best[1:4] if harmless(name) not in opening]
    if others and not given:
        paragraphs.append(f"Also considered: {', '.join(map(harmless, others))}.")
    return "\n\n".join(paragraphs), _scaled(ranked[:CANDIDATES])


def _scaled(ranked: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return scores as shares of a softmax, so that they lie in (0, 1] and keep their order."""
    top = ranked[0][1] if ranked else 0.0
    raised = [math.exp(min(0.0, score - top)) for _, score in ranked]
    total = math.fsum(raised)
    return [(n, round(v / total, 6)) for (n, _), v in zip(ranked, raised, strict=True)]


def _about(facts: Mapping[TripleId, Fact], name: str, named: set[str]) -> list[TripleId]:
    """Return the triples of an entity: first those with what the question names, then all."""
    mine = [t for t, f in facts.items() if f.head.name == name]
    if not mine:
        mine = [t for t, f in facts.items() if f.tail.name == name]
    return sorted(mine, key=lambda t: facts[t].tail.name not in named)


def _between(
    facts: Mapping[TripleId, Fact], names: set[str], across: Iterable[str] | None = None
) -> list[TripleId]:
    """Return one triple for each fact that connects two of the names, in order."""
    ends = None if across is None else set(across)
    found: dict[frozenset[object], TripleId] = {}
    for triple, fact in facts.items():
        pair = {fact.head.name, fact.tail.name}
        if len(pair) == 2 and pair <= names and (ends is None or len(pair & ends) == 1):
            found.setdefault(
                frozenset({fact.head.name, fact.relation, fact.tail.name, triple}), triple
            )
    return list(found.values())


def _sentences(mind: Mind, triples: Sequence[TripleId]) -> list[str]:
    """Return sentences with their ids; what says the same of several things is one sentence."""
    said: set[Fact] = set()
    fresh: list[TripleId] = []
    for triple in triples:
        reading = mind.graph.main_reading(triple)
        if reading not in said:
            said.add(reading)
            fresh.append(triple)
    return [
        f"- {harmless(text, None)} [{', '.join(f'T{t}' for t in ids)}]."
        for text, ids in mind.graph.grouped(fresh)
    ]


def _settled(mind: Mind, conflict: Conflict) -> str:
    kept, dropped = conflict.kept.triple, conflict.dropped.triple
    mine, theirs = len(conflict.support_kept), len(conflict.support_dropped)
    return (
        f"The graph holds both that {harmless(mind.graph.sentence(kept))} [T{kept}] and that "
        f"{harmless(mind.graph.sentence(dropped))} [T{dropped}]. The first was kept: {mine} against "
        f"{theirs} corroborating triples, decided by {conflict.decided_by}."
    )

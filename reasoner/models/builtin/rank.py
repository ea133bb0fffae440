"""Ranking the entities of the evidence as answers to a question.

A question either *describes* something ("I cough and have a fever. What may it be?") or *looks
something up* ("What films did X direct?").

Describing. An entity is scored by how well its name and its neighbours explain all clauses c::

    cover(e) = sum over c of log(1 + (p(e | c) + sum over neighbours n of p(n | c)) / EPS)
    score(e) = cover(e) + PRIOR * cos(question, e) + KIND * log(richness(e))

``richness`` is the number of relation types that describe an entity, so that a thing that the
graph describes goes before a mere attribute of such things. A mentioned entity can be the answer:
it explains the clause that names it. It yields only to an entity that is not mentioned, is about
as rich, is linked to it and to another mentioned entity, and covers the question about as well.

Looking up. Entities that are named in the same sentence as the asking word are given, so they are
not the answer. Others are scored by the relations on the way from each given entity g::

    score(e) = sum over g of max over routes g..e of cos(rest of question, route) - DETOUR * hops
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from reasoner.models.builtin.mind import Mind, phrase, without
from reasoner.op import Fact, Graph
from reasoner.values import TripleId

Triple = tuple[str, str, str]

#: The unit of an explained share of a clause.
EPS = 0.05
#: Weight of the name's likeness to the whole question.
PRIOR = 5.0
#: Weight of the log number of relation types.
KIND = 4.0
#: "About as rich", "about as well", as a ratio.
ABOUT = 0.75
#: Longest route of a look-up, and what each of its hops costs.
HOPS = 3
DETOUR = 0.1
#: Most routes that are followed: a bound on hubs, far above what evidence holds.
MAX_ROUTES = 20_000


def both_readings(graph: Graph, triples: Iterable[TripleId]) -> tuple[list[Triple], list[Triple]]:
    """Return triples by name as they stand, and in the main direction of their relations."""
    ids = list(triples)
    facts, mains = [graph.fact(t) for t in ids], [graph.main_reading(t) for t in ids]
    return _named(facts), _named(mains)


def _named(facts: Iterable[Fact]) -> list[Triple]:
    return [(f.head.name, f.relation, f.tail.name) for f in facts]


async def rank(
    mind: Mind, question: str, triples: Iterable[Triple], readings: Iterable[Triple] = ()
) -> list[tuple[str, float]]:
    """Return the entities of the evidence with their scores, best answer first.

    ``readings`` are the same triples in the main direction of their relations: what a look-up
    asks for may be worded either way.
    """
    evidence = list(dict.fromkeys(triples))
    given = await mind.given(question)
    both = list(dict.fromkeys([*evidence, *readings]))
    if given and (found := await _look_up(mind, question, given, both)):
        return best_first(found)
    near = neighbours(evidence)
    entities = sorted(near)
    rich = richness(evidence)
    cover = dict.fromkeys(entities, 0.0)
    for reading in (await mind.readings(question, entities)).values():
        for entity in entities:
            share = math.fsum(reading[n] for n in near[entity] | {entity})
            cover[entity] += math.log1p(share / EPS)
    likeness = await mind.cosine(question, entities)
    score = {
        e: cover[e] + PRIOR * like + KIND * math.log(rich[e])
        for e, like in zip(entities, likeness, strict=True)
    }
    said = set(await mind.named(question))
    for entity in sorted(said.intersection(entities)):
        rivals = [
            score[other] - EPS
            for other in near[entity] - said
            if len(near[other] & said) >= 2
            and rich[other] >= ABOUT * rich[entity]
            and cover[other] >= cover[entity] + math.log(ABOUT)
        ]
        score[entity] = min([score[entity], *rivals])
    return best_first(score)


def best_first(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return names with scores by score descending, then by name."""
    rounded = [(name, round(score, 6)) for name, score in scores.items()]
    return sorted(rounded, key=lambda item: (-item[1], item[0]))


def neighbours(triples: Iterable[Triple]) -> dict[str, set[str]]:
    """Return the entities next to each entity, either way."""
    near: dict[str, set[str]] = {}
    for head, _, tail in triples:
        near.setdefault(head, set()).add(tail)
        near.setdefault(tail, set()).add(head)
    return near


def richness(triples: Iterable[Triple]) -> dict[str, float]:
    """Return how many relation types describe each entity: its own, or those of its likes.

    An entity that was not searched shows no edges of its own; it is taken to be like the
    entities that stand at the same end of the same relation.
    """
    out: dict[str, set[str]] = {}
    into: dict[str, set[str]] = {}
    for head, relation, tail in triples:
        out.setdefault(head, set()).add(relation)
        into.setdefault(tail, set()).add(relation)
    members: dict[str, list[int]] = {}
    for entity, relations in into.items():
        for relation in sorted(relations) if entity in out else ():
            members.setdefault(relation, []).append(len(out[entity]))
    rich: dict[str, float] = {}
    for entity in out.keys() | into.keys():
        likes = [sum(m) / len(m) for r in into.get(entity, ()) if (m := members.get(r))]
        rich[entity] = max([float(len(out.get(entity, ()))), *likes, 1.0])
    return rich


async def _look_up(
    mind: Mind, question: str, given: Mapping[str, str], triples: Sequence[Triple]
) -> dict[str, float]:
    rest = without(question, given.values())
    score: dict[str, float] = {}
    for start in given:
        reached = _routes(start, triples)
        routes = sorted({route for ways in reached.values() for route in ways})
        texts = [phrase(" ".join(dict.fromkeys(route))).strip() for route in routes]
        likeness = await mind.cosine(rest, texts) if rest else [0.0] * len(texts)
        fit = {r: like - DETOUR * len(r) for r, like in zip(routes, likeness, strict=True)}
        for entity in sorted(reached.keys() - given.keys()):
            score[entity] = score.get(entity, 0.0) + max(fit[r] for r in reached[entity])
    return score


def _routes(start: str, triples: Iterable[Triple]) -> dict[str, set[tuple[str, ...]]]:
    """Return the relation sequences of the walks from ``start`` to each entity, either way."""
    near: dict[str, set[tuple[str, str]]] = {}
    for head, relation, tail in triples:
        near.setdefault(head, set()).add((relation, tail))
        near.setdefault(tail, set()).add((relation, head))
    found: dict[str, set[tuple[str, ...]]] = {}
    edge: set[tuple[str, tuple[str, ...]]] = {(start, ())}
    count = 0
    for _ in range(HOPS):
        edge = {
            (other, (*route, relation))
            for entity, route in edge
            for relation, other in near.get(entity, ())
            if other != start
        }
        count += len(edge)
        if count > MAX_ROUTES:
            break
        for entity, route in edge:
            found.setdefault(entity, set()).add(route)
    return found

"""``view`` against a graph with fewer facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.errors import RunError
from reasoner.operators.neighbors import neighbors
from reasoner.operators.paths import paths
from reasoner.operators.verbalize import verbalize
from reasoner.operators.view import view
from reasoner.testing.strategies import triples
from reasoner.values import Evidence

STRENGTHS = st.sampled_from([0.0, 0.25, 0.5, 1.0])
FILTERS = {
    "relations": st.none() | st.lists(st.sampled_from(["r", "s", "t"]), unique=True),
    "least": st.none() | STRENGTHS,
}


@st.composite
def worlds(draw):
    rows = [("a", r, "b") for r in "rst"] + draw(
        triples(nodes=st.sampled_from("abcde"), max_size=16)
    )
    return rows, draw(st.lists(STRENGTHS, min_size=len(rows), max_size=len(rows)))


def seen(facts, relations, least):
    return {
        t: f
        for t, f in facts.items()
        if (relations is None or f[1] in relations) and (least is None or f[4] >= least)
    }


def key(w, evidence):
    return [w.named(p) for p in evidence.paths] or w.named(evidence.triples)


@given(
    data=st.data(), given_world=worlds(), **FILTERS, direction=st.sampled_from(["out", "in", "any"])
)
def test_a_view_is_the_graph_of_what_it_lets_through(
    world, data, given_world, relations, least, direction
):
    rows, strengths = given_world
    w = world(rows, strengths=strengths)
    part = w.run(view, relations=relations, min_strength=least)
    facts = seen(w.facts, relations, least)
    source, target = (data.draw(st.sampled_from(w.names)) for _ in "st")
    at = w.run(neighbors, w.at(source), per_relation=100, direction=direction, graph=part)
    mine = {"out": (0,), "in": (2,), "any": (0, 2)}[direction]
    assert sorted(at.triples) == [t for t, f in facts.items() if source in [f[i] for i in mine]]
    way = w.run(
        paths, w.at(source), w.at(target), max_hops=4, limit=10**6, direction=direction, graph=part
    )
    assert set(way.triples) <= facts.keys()
    if not facts:
        assert at == way == Evidence()
        return
    # The same graph as a file of its own: other ids, the same answers by name.
    small = world([f[:3] for f in facts.values()])
    known = source in small.names and target in small.names
    again = (
        small.run(
            paths, small.at(source), small.at(target), max_hops=4, limit=10**6, direction=direction
        )
        if known
        else Evidence()
    )
    assert sorted(map(w.named, way.paths)) == sorted(map(small.named, again.paths))


@given(given_world=worlds(), **FILTERS)
def test_ids_are_those_of_the_whole_graph(world, given_world, relations, least):
    rows, strengths = given_world
    w = world(rows, strengths=strengths)
    part = w.run(view, relations=relations, min_strength=least)
    assert part.conflicts == w.graph.conflicts
    for t, fact in w.facts.items():
        assert part.fact(t) == w.graph.fact(t)
        assert (part.fact(t).head.name, part.fact(t).relation, part.fact(t).tail.name) == fact[:3]
    found = Evidence(triples=tuple(w.facts))
    assert w.run(verbalize, found) == tuple(part.sentence(t) for t in w.facts)


@given(given_world=worlds(), data=st.data())
def test_views_of_views_restrict_further(world, given_world, data):
    rows, strengths = given_world
    w = world(rows, strengths=strengths)
    (r1, s1), (r2, s2) = (
        (data.draw(FILTERS["relations"]), data.draw(FILTERS["least"])) for _ in "12"
    )
    one = w.run(
        view, relations=r2, min_strength=s2, graph=w.run(view, relations=r1, min_strength=s1)
    )
    other = w.run(
        view, relations=r1, min_strength=s1, graph=w.run(view, relations=r2, min_strength=s2)
    )
    both = seen(seen(w.facts, r1, s1), r2, s2)
    for name in w.names:
        a, b = (w.run(neighbors, w.at(name), per_relation=100, graph=g) for g in (one, other))
        assert a == b
        assert sorted(a.triples) == [t for t, f in both.items() if f[0] == name]


@given(given_world=worlds())
def test_no_filter_is_the_whole_graph(world, given_world):
    rows, strengths = given_world
    w = world(rows, strengths=strengths)
    whole = w.run(view)
    assert whole.fingerprint == w.graph.fingerprint
    for name in w.names:
        assert w.run(neighbors, w.at(name), graph=whole) == w.run(neighbors, w.at(name))


def test_an_unknown_relation_is_refused(world):
    w = world([("a", "treats", "b")])
    with pytest.raises(RunError, match="no relation 'cures'"):
        w.run(view, relations=["cures"])

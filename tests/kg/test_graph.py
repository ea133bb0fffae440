"""A graph's own readings: inverses, the main direction, and the topology for algorithms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.kg.manifest import Manifest, Relation, Rules
from reasoner.testing.strategies import graph_of, names, triples

PAIRS = Manifest(
    relations={
        "s": Relation(inverse="r"),
        "r": Relation(inverse="s"),
        "both": Relation(inverse="both"),
    },
    rules=Rules(conflict=(("r", "both"),)),
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("graphs")


def told(fact):
    return (fact.head.name, fact.relation, fact.tail.name)


def inverses(graph):
    rows = graph.store.relations
    return {r.name: rows[r.inverse].name for r in rows if r.inverse is not None}


@given(rows=triples(nodes=names()), data=st.data())
def test_exact_inverses_are_found_by_content(folder, rows, data):
    """A relation with all its triples turned round is an inverse; one triple more and it is not."""
    turned = [(t, f"{r} by", h) for h, r, t in rows]
    graph = graph_of(data.draw(st.permutations(rows + turned)), folder)
    sets = {}
    for h, r, t in {*rows, *turned}:
        sets.setdefault(r, set()).add((h, t))
    found = inverses(graph)
    assert found.keys() == sets.keys()
    for one, other in found.items():
        assert sets[one] == {(t, h) for h, t in sets[other]}
    extra = graph_of([*rows, *turned, ("only here", "r by", "nor here")], folder)
    assert inverses(extra).get("r by") is None


def test_the_inverse_of_an_inverse_is_the_relation_itself_three_times_over(compiled):
    graph = compiled("x\ta\ty\ny\tb\tx\nx\tc\ty\n")
    pairs = inverses(graph)
    assert all(pairs.get(pairs[r]) == r for r in pairs)


def test_a_symmetric_relation_is_its_own_inverse(compiled):
    assert inverses(compiled("a\tr\tb\nb\tr\ta\nc\tr\tc\na\ts\tb\n")) == {"r": "r"}


@given(rows=triples(nodes=names(), relations=("r", "s", "both", "free")))
def test_the_main_reading_is_one_for_both_directions(folder, rows):
    back = {"r": "s", "s": "r", "both": "both"}
    turned = [(t, back[r], h) for h, r, t in rows if r in back]
    rows = [("no inverse", "free", "by content"), *rows]
    graph = graph_of(rows + turned, folder, PAIRS)
    every = [*dict.fromkeys(rows + turned)]
    for triple, (h, r, t) in enumerate(every):
        assert told(graph.fact(triple)) == (h, r, t)
        expected = {
            "r": (h, "r", t),
            "s": (
                t,
                "r",
                h,
            ),  # rules are stated about r, so that is the main one, though s comes first
            "both": (min(h, t), "both", max(h, t)),
            "free": (h, "free", t),
        }[r]
        assert told(graph.main_reading(triple)) == expected
        if r in back:
            assert graph.main_reading(every.index((t, back[r], h))) == graph.main_reading(triple)


def test_a_declared_inverse_has_no_second_one_by_content(compiled):
    graph = compiled("a\tr\tb\nb\ts\ta\nb\tfree\ta\n", PAIRS)
    assert inverses(graph) == {"r": "s", "s": "r"}
    assert told(graph.main_reading(2)) == ("b", "free", "a")


def test_without_rules_the_first_declared_is_the_main_one(compiled):
    plain = Manifest(relations={"s": Relation(inverse="r"), "r": Relation(inverse="s")})
    graph = compiled("a\tr\tb\nb\ts\ta\n", plain)
    assert {told(graph.main_reading(t)) for t in (0, 1)} == {("b", "s", "a")}


@pytest.mark.graph
@given(rows=triples(nodes=names()))
def test_the_index_of_an_edge_is_the_row_of_its_triple(folder, rows):
    pytest.importorskip("graph_tool")
    graph = graph_of(rows, folder)
    topology = graph.topology
    assert topology.is_directed()
    assert topology.num_vertices() == len(graph.store.names)
    assert topology.num_edges() == len(set(rows))
    for edge in topology.edges():
        fact = graph.fact(topology.edge_index[edge])
        assert (int(edge.source()), int(edge.target())) == (fact.head.id, fact.tail.id)


@pytest.mark.graph
def test_the_topology_of_a_view_holds_what_the_view_lets_through(compiled):
    pytest.importorskip("graph_tool")
    graph = compiled("a\tr\tb\nb\ts\tc\n")
    part = graph.view(relations=["s"], min_strength=None)
    assert [part.topology.edge_index[e] for e in part.topology.edges()] == [1]

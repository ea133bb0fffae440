"""Every bundled graph: complete, without repetition, and readable."""

import pytest

from reasoner import api, bundled
from reasoner.kg.manifest import Manifest, fill

GRAPHS = bundled.names("kgs")


@pytest.fixture(scope="module", params=GRAPHS)
def graph(request):
    return api.open_graph(request.param)


def test_there_are_graphs():
    assert {"tiny", "clinic"} <= set(GRAPHS)


def test_nothing_is_dropped_and_every_id_points_somewhere(graph):
    store = graph.store
    assert (store.dropped.empty_cell, store.dropped.duplicate) == (0, 0)
    head, relation, tail = store.columns
    for column, size in (
        (head, len(store.names)),
        (relation, len(store.relations)),
        (tail, len(store.names)),
    ):
        assert 0 <= column.min() <= column.max() < size
    rows = list(zip(head.tolist(), relation.tolist(), tail.tolist(), strict=True))
    assert len(set(rows)) == len(rows)
    assert all(h != t for h, _, t in rows)
    assert len(set(store.names)) == len(store.names)
    assert all(n and n == n.strip() for n in store.names)


def test_every_relation_is_declared_with_a_template_of_its_own(graph):
    manifest = api.read_settings(bundled.folder("kgs") / graph.store.name / "kg.yaml", Manifest)
    assert {r.name for r in graph.store.relations} == manifest.relations.keys()
    read = [fill(r.template, "H", "T") for r in manifest.relations.values()]
    assert len(set(read)) == len(read)
    assert all(text.split().count("H") == text.split().count("T") == 1 for text in read)


def test_declared_inverses_are_complete(graph):
    store = graph.store
    head, relation, tail = (c.tolist() for c in store.columns)
    facts = set(zip(head, relation, tail, strict=True))
    for h, r, t in facts:
        row = store.relations[r]
        assert row.inverse is not None
        assert store.relations[row.inverse].inverse == r
        assert (t, row.inverse, h) in facts


def test_every_rule_is_about_main_readings_and_has_a_pair(graph):
    facts = {graph.main_reading(t) for t in range(graph.store.triples.height)}
    by_relation = {}
    for f in facts:
        by_relation.setdefault(f.relation, set()).add((f.head, f.tail))
    assert graph.conflicts
    for rule in graph.conflicts:
        one, other = rule
        assert by_relation[one] & by_relation[other]


def test_aliases_are_names_of_one_entity(graph):
    from reasoner.retrieval.names import normalize

    names = {normalize(n) for n in graph.store.names}
    assert len(names) == len(graph.store.names)  # no two names are the same to the linker
    aliases = [normalize(a) for listed in graph.store.entities["aliases"].to_list() for a in listed]
    assert len(set(aliases)) == len(aliases)
    assert not names & set(aliases)


def test_clinic_is_large_enough_to_learn_from():
    store = api.open_graph("clinic").store
    assert (store.entities["kind"] == "disease").sum() >= 80
    assert store.triples.height >= 1500
    assert not (store.entities["kind"] == "").any()

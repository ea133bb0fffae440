"""``verbalize``: the head in the head's slot, the tail in the tail's, whatever they are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api
from reasoner.kg.manifest import Manifest, Relation, fill
from reasoner.operators.verbalize import verbalize
from reasoner.testing import tiny_kg
from reasoner.testing.strategies import names, triples
from reasoner.values import Evidence

TEMPLATES = Manifest(
    relations={
        "r": Relation(template="<{h}> treats <{t}>", inverse="s"),
        "s": Relation(template="<{t}> is what treats <{h}>", inverse="r"),
    }
)


def expected(fact):
    head, relation, tail, *_ = fact
    sentences = {
        "r": f"<{head}> treats <{tail}>",
        "s": f"<{tail}> is what treats <{head}>",
        "a_word": f"{head} a word {tail}",
    }
    return sentences[relation]


@given(rows=triples(nodes=names(), relations=("r", "s", "a_word")), data=st.data())
def test_each_end_stands_in_its_slot(world, rows, data):
    w = world(rows, TEMPLATES)
    wanted = tuple(data.draw(st.lists(st.sampled_from(list(w.facts)))))
    said = w.run(verbalize, Evidence(triples=wanted))
    assert list(said) == [expected(w.facts[t]) for t in wanted]


@given(rows=triples(nodes=names(), relations=("r", "s", "a_word")), data=st.data())
def test_grouped_sentences_hold_every_tail_once(world, rows, data):
    w = world(rows, TEMPLATES)
    wanted = data.draw(st.lists(st.sampled_from(list(w.facts)), unique=True))
    groups = w.graph.grouped(wanted)
    assert sorted(t for _, members in groups for t in members) == sorted(wanted)
    assert [members[0] for _, members in groups] == [
        t
        for i, t in enumerate(wanted)
        if w.facts[t][:2] not in [w.facts[u][:2] for u in wanted[:i]]
    ]
    for sentence, members in groups:
        assert len({w.facts[t][:2] for t in members}) == 1
        assert list(members) == [t for t in wanted if t in members]
        tails = [w.facts[t][2] for t in members]
        listed = " and ".join(filter(None, [", ".join(tails[:-1]), tails[-1]]))
        assert sentence == expected((*w.facts[members[0]][:2], listed))


@pytest.mark.parametrize("graph", ["tiny", "clinic"])
def test_every_relation_of_a_bundled_graph_and_its_inverse(graph):
    store = api.open_graph(graph).store
    for row in store.relations:
        said = fill(row.template, "HEAD", "TAIL")
        assert said.count("HEAD") == said.count("TAIL") == 1
        if row.inverse not in (None, store.relations.index(row)):
            assert fill(store.relations[row.inverse].template, "TAIL", "HEAD") != said


def test_tiny_reads_as_a_person_would_say_it():
    graph = tiny_kg().graph
    assert [graph.sentence(t) for t in (0, 1, 12, 13)] == [
        "migraine has symptom headache",
        "headache is a symptom of migraine",
        "ibuprofen treats migraine",
        "migraine is treated by ibuprofen",
    ]


@given(head=names(), tail=names())
def test_names_are_never_read_as_slots(head, tail):
    assert fill("{t}|{h}", head, tail) == f"{tail}|{head}"


@pytest.mark.parametrize("relation", ["{h}", "{t}", "is {t} of"])
def test_relations_are_never_read_as_slots(world, relation):
    w = world([("x", relation, "y")])
    assert w.run(verbalize, Evidence(triples=(0,))) == (f"x {relation} y",)


def test_nothing_in_nothing_out(world):
    assert world([("a", "r", "b")]).run(verbalize, Evidence()) == ()

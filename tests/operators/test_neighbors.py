"""``neighbors`` against a list comprehension."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.errors import RunError
from reasoner.kg.manifest import Manifest, Relation
from reasoner.operators.neighbors import neighbors
from reasoner.testing.strategies import names, triples
from reasoner.values import Evidence

DIRECTIONS = st.sampled_from(["out", "in", "any"])
DECLARED = Manifest(relations={"t": Relation(), "r": Relation(), "s": Relation()})


def reference(world, name, k, direction, relations, facts=None):
    """(ids kept in order, how many were left out)."""
    facts = world.facts if facts is None else facts
    sides = {"out": [(0, 2)], "in": [(2, 0)], "any": [(0, 2), (2, 0)]}[direction]
    kept, every = {}, {}
    for number, (mine, other) in enumerate(sides):
        for relation in (
            world.relations if relations is None else sorted(relations, key=world.relations.index)
        ):
            run = [t for t, f in facts.items() if f[mine] == name and f[1] == relation]
            if number:  # a loop stands on both sides, and counts on the first
                run = [t for t in run if facts[t][other] != name]
            run.sort(key=lambda t: (-facts[t][3], facts[t][other], t))
            kept |= dict.fromkeys(run[:k])
            every |= dict.fromkeys(run)
    return tuple(kept), len(every) - len(kept)


@given(
    data=st.data(),
    rows=triples(relations="rs", max_size=32),
    direction=DIRECTIONS,
    k=st.integers(0, 4),
)
def test_neighbors_are_those_of_the_reference(world, data, rows, direction, k):
    weights = data.draw(
        st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=len(rows), max_size=len(rows))
    )
    w = world(rows, data.draw(st.sampled_from([None, DECLARED])), weights=weights)
    name = data.draw(st.sampled_from(w.names))
    wanted = data.draw(st.none() | st.lists(st.sampled_from(w.relations), unique=True))
    found = w.run(neighbors, w.at(name), per_relation=k, direction=direction, relations=wanted)
    kept, left_out = reference(w, name, k, direction, wanted)
    assert found.triples == kept
    assert found.missed == found.paths == ()
    assert found.truncated == left_out


def test_a_loop_that_is_cut_on_both_sides_is_left_out_once(world):
    w = world([("z", "r", "a"), ("z", "r", "z"), ("b", "r", "z")])
    found = w.run(neighbors, w.at("z"), per_relation=1, direction="any")
    assert (found.triples, found.truncated) == ((0, 2), 1)


@pytest.mark.parametrize("k", [-1, -5])
def test_no_negative_limit_counts_more_than_there_is(world, k):
    w = world([("a", "r", "b"), ("a", "r", "c")])
    found = w.run(neighbors, w.at("a"), per_relation=k)
    assert (found.triples, found.truncated) == ((), 2)


@given(rows=triples(nodes=names()), direction=DIRECTIONS, k=st.integers(0, 4))
def test_a_higher_limit_only_adds(world, rows, direction, k):
    w = world(rows)
    less, more = (
        w.run(neighbors, w.at(rows[0][0]), per_relation=n, direction=direction) for n in (k, k + 1)
    )
    assert [t for t in more.triples if t in set(less.triples)] == list(less.triples)
    assert more.truncated <= less.truncated


@given(rows=triples(nodes=names()), direction=DIRECTIONS, k=st.integers(1, 4), random=st.randoms())
def test_the_order_of_rows_does_not_matter(world, rows, direction, k, random):
    mixed = random.sample(rows, len(rows))
    one, other = world(rows, DECLARED), world(mixed, DECLARED)
    for name in one.names:
        a, b = (
            w.run(neighbors, w.at(name), per_relation=k, direction=direction) for w in (one, other)
        )
        assert one.named(a.triples) == other.named(b.triples)
        assert a.truncated == b.truncated


@given(rows=triples(), direction=DIRECTIONS, random=st.randoms(), k=st.integers(1, 4))
def test_names_stand_for_nothing_but_their_order(world, rows, direction, random, k):
    w = world(rows)
    kept_order = {n: f"x{n}" for n in w.names}
    mixed = dict(zip(w.names, random.sample(w.names, len(w.names)), strict=True))
    at = rows[0][0]
    options = {"per_relation": k, "direction": direction}
    for new, exact in ((kept_order, True), (mixed, False)):
        v = world([(new[h], r, new[t]) for h, r, t in rows])
        if not exact:
            options["per_relation"] = 100
        a, b = w.run(neighbors, w.at(at), **options), v.run(neighbors, v.at(new[at]), **options)
        assert (a == b) if exact else (set(a.triples) == set(b.triples))


def test_a_mention_that_linked_to_nothing_is_missed(world, nowhere):
    w = world([("a", "r", "b")])
    assert w.run(neighbors, nowhere) == Evidence(missed=(nowhere,))


def test_a_node_without_triples_has_no_neighbors(world):
    w = world([("a", "r", "b")])
    assert w.run(neighbors, w.at("b")) == w.run(neighbors, w.at("a"), relations=[]) == Evidence()


def test_an_unknown_relation_is_named_with_the_known_ones(world):
    w = world([("a", "treats", "b")])
    with pytest.raises(
        RunError, match=r"no relation 'treat'; did you mean 'treats'\? it has: treats"
    ):
        w.run(neighbors, w.at("a"), relations=["treat"])

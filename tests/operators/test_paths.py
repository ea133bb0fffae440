"""``paths`` against an enumeration by recursion."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.operators.paths import paths
from reasoner.testing.strategies import names, triples
from reasoner.values import Evidence

DIRECTIONS = st.sampled_from(["out", "in", "any"])
FEW = st.sampled_from("abcde")
HOPS = st.integers(1, 4)
ALL = 1_000_000


def steps(facts, direction):
    """(from, to, id) for each way along a triple."""
    forth = [(f[0], f[2], t) for t, f in facts.items()]
    back = [(v, u, t) for u, v, t in forth]
    return {"out": forth, "in": back, "any": forth + back}[direction]


def reference(facts, source, target, hops, direction):
    """All simple paths in the documented order: hops, then names on the way, then ids."""
    ways = steps(facts, direction)

    def walk(seen, ids):
        if seen[-1] == target:
            yield (len(ids), seen, ids)
        elif len(ids) < hops:
            for u, v, t in ways:
                if u == seen[-1] and v not in seen:
                    yield from walk((*seen, v), (*ids, t))

    return [ids for _, _, ids in sorted(walk((source,), ()))] if source != target else []


def simple(facts, direction):
    """True if no two ways lead from one node to another."""
    ends = [(u, v) for u, v, t in steps(facts, direction) if u != v]
    return len(ends) == len(set(ends))


def ends(data, w):
    return [data.draw(st.sampled_from(w.names)) for _ in "st"]


@given(
    data=st.data(),
    rows=triples(nodes=FEW, max_size=16),
    direction=DIRECTIONS,
    hops=HOPS,
    limit=st.integers(0, 12),
)
def test_paths_are_those_of_the_reference(world, data, rows, direction, hops, limit):
    w = world(rows)
    source, target = ends(data, w)
    wanted = reference(w.facts, source, target, hops, direction)
    found, every = (
        w.run(paths, w.at(source), w.at(target), max_hops=hops, direction=direction, limit=n)
        for n in (limit, ALL)
    )
    assert found.paths == every.paths[:limit]
    assert found.truncated == (len(wanted) > limit)
    assert found.triples == tuple(dict.fromkeys(t for path in found.paths for t in path))
    assert sorted(every.paths) == sorted(wanted)
    assert [len(p) for p in every.paths] == [len(p) for p in wanted]


PAIRS = list(combinations("abcde", 2))
EDGES = st.tuples(*(st.sampled_from(["r", "s", "t", "", "turned"]) for _ in PAIRS))


@given(data=st.data(), edges=EDGES.filter(any), direction=DIRECTIONS, hops=HOPS)
def test_shorter_ones_come_first_then_those_with_lesser_names(world, data, edges, direction, hops):
    """At most one edge for each pair, so that names alone say what comes first."""
    kinds = zip(PAIRS, edges, strict=True)
    ways = [(u, r, v) if r != "turned" else (v, r, u) for (u, v), r in kinds if r]
    w = world(data.draw(st.permutations(ways)))
    source, target = ends(data, w)
    wanted = reference(w.facts, source, target, hops, direction)
    limit = data.draw(st.integers(0, len(wanted) + 1))
    found = w.run(
        paths, w.at(source), w.at(target), max_hops=hops, direction=direction, limit=limit
    )
    assert list(found.paths) == wanted[:limit]
    assert found.truncated == (len(wanted) > limit)


@pytest.mark.parametrize(("limit", "truncated"), [(0, 1), (1, 1), (2, 0), (3, 0)])
def test_the_limit_is_told_from_the_end_of_the_list(world, limit, truncated):
    w = world([("s", "r", "b"), ("s", "r", "a"), ("a", "r", "t"), ("b", "r", "t")])
    found = w.run(paths, w.at("s"), w.at("t"), limit=limit)
    assert [w.along(p, "s")[1] for p in found.paths] == ["a", "b"][:limit]
    assert found.truncated == truncated


def test_names_on_the_way_come_before_ids(world):
    w = world(
        [
            ("s", "r", "a"),
            ("s", "q", "a"),
            ("a", "r", "b"),
            ("a", "r", "c"),
            ("b", "r", "t"),
            ("c", "r", "t"),
        ]
    )
    found = w.run(paths, w.at("s"), w.at("t"))
    assert list(found.paths) == reference(w.facts, "s", "t", 3, "out")


@given(
    data=st.data(),
    rows=triples(nodes=names(), max_size=14),
    direction=DIRECTIONS,
    hops=HOPS,
    random=st.randoms(),
)
def test_the_order_of_rows_does_not_matter(world, data, rows, direction, hops, random):
    one, other = world(rows), world(random.sample(rows, len(rows)))
    source, target = ends(data, one)
    limit = 3 if simple(one.facts, direction) else ALL
    a, b = (
        w.run(paths, w.at(source), w.at(target), max_hops=hops, direction=direction, limit=limit)
        for w in (one, other)
    )
    mine, theirs = [one.named(p) for p in a.paths], [other.named(p) for p in b.paths]
    assert mine == theirs if limit == 3 else sorted(mine) == sorted(theirs)
    assert a.truncated == b.truncated


@given(
    data=st.data(),
    rows=triples(nodes=FEW, max_size=16),
    direction=DIRECTIONS,
    hops=HOPS,
    random=st.randoms(),
)
def test_names_stand_for_nothing_but_their_order(world, data, rows, direction, hops, random):
    w = world(rows)
    source, target = ends(data, w)
    options = {"max_hops": hops, "direction": direction, "limit": ALL}
    found = w.run(paths, w.at(source), w.at(target), **options)
    mixed = dict(zip(w.names, random.sample(w.names, len(w.names)), strict=True))
    for new, exact in (({n: f"x{n}" for n in w.names}, True), (mixed, False)):
        v = world([(new[h], r, new[t]) for h, r, t in rows])
        again = v.run(paths, v.at(new[source]), v.at(new[target]), **options)
        assert again == found if exact else set(again.paths) == set(found.paths)


@given(data=st.data(), rows=triples(nodes=names(), max_size=14), direction=DIRECTIONS, hops=HOPS)
def test_paths_are_chains_without_repetition(world, data, rows, direction, hops):
    w = world(rows)
    source, target = ends(data, w)
    found = w.run(paths, w.at(source), w.at(target), max_hops=hops, direction=direction)
    for path in found.paths:
        along = w.along(path, source)
        assert along[-1] == target
        assert len(set(along)) == len(along) == len(path) + 1 <= hops + 1
    back = {"out": "in", "in": "out", "any": "any"}[direction]
    turned = w.run(paths, w.at(target), w.at(source), max_hops=hops, direction=back, limit=ALL)
    every = w.run(paths, w.at(source), w.at(target), max_hops=hops, direction=direction, limit=ALL)
    assert {p[::-1] for p in turned.paths} == set(every.paths)


def test_a_hub_of_ten_thousand_is_no_hindrance(world):
    rows = [("hub", "r", f"n{i}") for i in range(10_000)] + [("n7", "r", "t"), ("s", "r", "hub")]
    w = world(rows)
    found = w.run(paths, w.at("s"), w.at("t"), max_hops=3)
    assert [w.along(p, "s") for p in found.paths] == [["s", "hub", "n7", "t"]]


@pytest.mark.parametrize("hops", [0, -1])
def test_no_hops_no_paths(world, hops):
    w = world([("a", "r", "b")])
    assert w.run(paths, w.at("a"), w.at("b"), max_hops=hops) == Evidence()


def test_mentions_that_linked_to_nothing_are_missed(world, nowhere):
    w = world([("a", "r", "b")])
    assert w.run(paths, w.at("a"), nowhere) == Evidence(missed=(nowhere,))
    assert w.run(paths, nowhere, w.at("a")) == Evidence(missed=(nowhere,))
    assert w.run(paths, nowhere, nowhere) == Evidence(missed=(nowhere, nowhere))

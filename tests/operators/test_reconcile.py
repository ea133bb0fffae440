"""``reconcile`` against METHODS 1.1.6 (iii) and (iv), told again in plain lists."""

import asyncio
from dataclasses import replace
from itertools import permutations, product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reasoner.kg.manifest import Manifest, Relation, Rules
from reasoner.operators.reconcile import reconcile
from reasoner.values import (
    Answer,
    Chain,
    ChainStatus,
    Citation,
    Evidence,
    Search,
    SearchStatus,
    union,
)

RULES = Manifest(
    relations={
        "treated_by": Relation(inverse="treats"),
        "treats": Relation(inverse="treated_by"),
        "causes": Relation(inverse="caused_by"),
        "caused_by": Relation(inverse="causes"),
        "seen_with": Relation(inverse="seen_with"),
    },
    rules=Rules(conflict=(("treats", "causes"),)),
)
MAIN = {"treated_by": "treats", "caused_by": "causes"}
INVERSE = {**MAIN, **{v: k for k, v in MAIN.items()}, "seen_with": "seen_with"}
#: Two drugs, two states, every relation in both directions.
ROWS = [
    row
    for d, r, c in product(("drug", "pill"), ("treats", "causes", "seen_with"), ("pain", "rash"))
    for row in ((d, r, c), (c, INVERSE[r], d))
]
STATUS = st.sampled_from(ChainStatus)


class Say:
    """An embedder that gives each sentence the similarity that a test wants."""

    id = "say"

    def __init__(self, **scores):
        self.scores = scores

    async def similarity(self, text, others):
        return [
            next((s for word, s in self.scores.items() if f" {word} " in o), 0.0) for o in others
        ]


def chain(cited, also=(), *, status=ChainStatus.COMPLETED, paths=(), text=None):
    """A chain whose answer cites some triples and whose search found ``also`` others."""
    found = tuple(dict.fromkeys([*cited, *also]))
    said = text if text is not None else "".join(f"Sentence {t}." for t in cited)
    answer = Answer(said, tuple(Citation(0, 1, (f"T{t}",)) for t in cited))
    search = Search("search", ("x",), SearchStatus.FOUND, "", Evidence(triples=found, paths=paths))
    return Chain("q", status, answer, (search,))


@pytest.fixture(scope="session")
def w(world):
    return world(ROWS, RULES)


HOT = [i for i, row in enumerate(ROWS) if {*row} >= {"drug", "pain"} and "seen_with" not in row]
IDS = st.sampled_from(HOT) | st.sampled_from(range(len(ROWS)))


@st.composite
def chains(draw):
    found = []
    for _ in range(draw(st.integers(0, 4))):
        cited = draw(st.lists(IDS, max_size=4, unique=True))
        also = draw(st.lists(IDS, max_size=3, unique=True))
        paths = []
        if cited or also:
            path = st.lists(st.sampled_from([*cited, *also]), min_size=1, max_size=3).map(tuple)
            paths = draw(st.lists(path, max_size=2))
        # An answer without citations names nobody here, so that it asserts nothing.
        found.append(chain(cited, also, status=draw(STATUS), paths=tuple(paths)))
    return found


def main(row):
    head, relation, tail = row
    if relation == "seen_with":
        return (*sorted((head, tail)), relation)
    return (tail, head, MAIN[relation]) if relation in MAIN else (head, tail, relation)


def support(chains, fact):
    """Distinct facts over distinct chains that share the relation and an end."""
    return {
        (i, main(ROWS[t]))
        for i, c in enumerate(chains)
        if c.status is not ChainStatus.FAILED
        for t in c.evidence.triples
        if main(ROWS[t])[2] == fact[2] and {*main(ROWS[t])[:2]} & {*fact[:2]}
    }


def run(w, found, question="?", embedder=None, **options):
    context = replace(w.context, embedder=embedder or Say())
    return asyncio.run(reconcile(context, found, question, **options))


def said(claim):
    return (claim.head, claim.tail, claim.relation)


@given(found=chains())
def test_claims_are_what_chains_that_did_not_fail_cite(w, found):
    wanted = {}
    for i, c in enumerate(found):
        cited = {int(x[1:]) for cite in c.answer.citations for x in cite.ids}
        if c.status is not ChainStatus.FAILED:
            for t in c.evidence.triples:
                if t in cited:
                    wanted.setdefault(main(ROWS[t]), []).append(i)
    claims = run(w, found).claims
    assert [(said(c), list(c.chains)) for c in claims] == [
        (f, sorted(set(i))) for f, i in wanted.items()
    ]


@given(
    found=chains(),
    scores=st.fixed_dictionaries({"treats": st.sampled_from([0.1, 0.2]), "causes": st.just(0.1)}),
)
def test_the_broader_neighbourhood_wins_then_similarity_then_order(w, found, scores):
    result = run(
        w,
        found,
        embedder=Say(**scores, **{"treated by": scores["treats"], "caused by": scores["causes"]}),
    )
    order = [said(c) for c in result.claims]
    pairs = {
        frozenset(f[:2]) for f in order if {(*f[:2], "treats"), (*f[:2], "causes")} <= {*order}
    }
    assert {frozenset((c.kept.head, c.kept.tail)) for c in result.conflicts} == pairs
    assert len(result.conflicts) == len(pairs)
    for conflict in result.conflicts:
        kept, dropped = said(conflict.kept), said(conflict.dropped)
        assert {kept[2], dropped[2]} == {"treats", "causes"} == {*conflict.rule}
        assert conflict.kept in result.claims  # both sides stay on record
        assert conflict.dropped in result.claims
        mine, theirs = support(found, kept), support(found, dropped)
        assert (len(conflict.support_kept), len(conflict.support_dropped)) == (
            len(mine),
            len(theirs),
        )
        assert {main(ROWS[t]) for t in conflict.support_kept} == {f for _, f in mine}
        key = {f: (len(support(found, f)), scores[f[2]], -order.index(f)) for f in (kept, dropped)}
        assert key[kept] > key[dropped]
        differs = [a != b for a, b in zip(key[kept], key[dropped], strict=True)]
        assert conflict.decided_by == ("support", "similarity", "order")[differs.index(True)]


@given(found=chains(), keep_failed=st.booleans())
def test_evidence_is_everything_but_the_dropped_in_both_directions(w, found, keep_failed):
    result = run(w, found, keep_failed=keep_failed)
    lost = {said(c.dropped) for c in result.conflicts}
    sources = [c for c in found if keep_failed or c.status is not ChainStatus.FAILED]
    every = union(c.evidence for c in sources)
    assert result.evidence.triples == tuple(t for t in every.triples if main(ROWS[t]) not in lost)
    assert result.evidence.paths == tuple(
        p for p in every.paths if not lost & {main(ROWS[t]) for t in p}
    )
    assert result.chains == tuple(found)
    sound = {t for c in found if c.status is not ChainStatus.FAILED for t in c.evidence.triples}
    assert result.from_failed == tuple(t for t in every.triples if t not in sound)
    assert keep_failed or not result.from_failed


@given(found=chains(), data=st.data())
def test_the_order_of_chains_does_not_decide_where_supports_differ(w, found, data):
    result = run(w, found)
    assume(all(c.decided_by == "support" for c in result.conflicts))
    mixed = data.draw(st.permutations(found))
    again = run(w, mixed)
    assert {said(c) for c in again.claims} == {said(c) for c in result.claims}
    assert {said(c.kept) for c in again.conflicts} == {said(c.kept) for c in result.conflicts}
    assert set(again.evidence.triples) == set(result.evidence.triples)
    assert set(again.from_failed) == set(result.from_failed)


def test_both_directions_of_a_dropped_claim_leave_the_evidence(w):
    treats, treated = (
        ROWS.index(("drug", "treats", "pain")),
        ROWS.index(("pain", "treated_by", "drug")),
    )
    causes = ROWS.index(("drug", "causes", "pain"))
    more = ROWS.index(("drug", "causes", "rash"))
    result = run(w, [chain([treats], [treated]), chain([causes], [more])])
    assert [c.decided_by for c in result.conflicts] == ["support"]
    assert result.evidence.triples == (causes, more)
    assert {said(c) for c in result.claims} == {
        ("drug", "pain", "treats"),
        ("drug", "pain", "causes"),
    }


def test_a_failed_chain_neither_asserts_nor_supports_but_its_evidence_stays(w):
    treats, causes = ROWS.index(("drug", "treats", "pain")), ROWS.index(("drug", "causes", "pain"))
    found = [
        chain([treats]),
        chain([causes], [ROWS.index(("drug", "causes", "rash"))], status=ChainStatus.FAILED),
    ]
    result = run(w, found)
    assert (result.conflicts, [said(c)[2] for c in result.claims]) == ((), ["treats"])
    assert result.from_failed == result.evidence.triples[1:] != ()
    assert run(w, found, keep_failed=False).evidence.triples == (treats,)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Drug treats PAIN.",
            {"treats", "causes", "seen_with"},
        ),  # it names both ends: all that it found
        ("The drugs help with pain", set()),
        ("drug and rash", set()),
        ("", set()),
    ],
)
def test_an_answer_without_citations_asserts_what_it_names(w, text, wanted):
    found = [ROWS.index(("drug", r, "pain")) for r in ("treats", "causes", "seen_with")]
    assert {c.relation for c in run(w, [chain([], found, text=text)]).claims} == wanted


def test_nothing_in_nothing_out(w):
    result = run(w, [])
    assert (result.claims, result.conflicts, result.evidence) == ((), (), Evidence())


def test_three_way_conflicts_do_not_depend_on_the_order_of_chains(world):
    rules = Manifest(
        relations={r: Relation() for r in ("treats", "causes", "harms")},
        rules=Rules(conflict=(("treats", "causes"), ("treats", "harms"))),
    )
    rows = [("d", "causes", "c"), ("d", "causes", "x"), ("d", "causes", "y")]
    rows += [("d", "treats", "c"), ("d", "treats", "z"), ("d", "harms", "c")]
    v = world(rows, rules)
    found = [chain([0], [1, 2]), chain([3], [4]), chain([5])]
    kept = {frozenset(run(v, p).evidence.triples) for p in permutations(found)}
    assert len(kept) == 1


@pytest.mark.parametrize(
    "drug",
    [
        "a",
        pytest.param(
            "z"
        ),
    ],
)
def test_a_symmetric_relation_may_exclude_a_directed_one(world, drug):
    rules = Manifest(
        relations={"treats": Relation(), "interacts": Relation(inverse="interacts")},
        rules=Rules(conflict=(("treats", "interacts"),)),
    )
    v = world([(drug, "treats", "m"), (drug, "interacts", "m"), ("m", "interacts", drug)], rules)
    assert len(run(v, [chain([0]), chain([1])]).conflicts) == 1

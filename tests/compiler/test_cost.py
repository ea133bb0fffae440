"""The price of a plan, held against bounds that were added up by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api, bundled
from reasoner.compiler.cost import Cost, price
from tests.compiler.support import CATALOG, bound, compiled

COSTS = st.builds(Cost, *[st.integers(0, 9)] * 3)
MIRAGE = bundled.folder("recipes") / "mirage.rsn"


@pytest.mark.parametrize(
    ("body", "calls", "searches", "embeddings"),
    [
        ("[question]", 0, 0, 0),
        ("[lookup(question)]", 0, 2, 1),
        ("[lookup(lookup(question)), lookup(question)]", 0, 6, 3),
        ("words(question, top: 9)", 0, 0, 3),
        ("[ask say(question) by r]", 3, 0, 0),
        ("[ask say(question) by r(retries: 0)]", 1, 0, 0),
        ("[ask say(lookup(question)) by r(retries: 1)]", 2, 2, 1),
        ("each q in words(question, top: 5) { lookup(q) }", 0, 10, 3 + 5),
        ("each q in words(question, top: 5) { ask say(q) by r }", 15, 0, 3),
        ("each q in words(question, top: 5) up to 2 { ask say(q) by r }", 6, 0, 3),
        ("each q in ask split(question, limit: 4) by r { ask say(q) by r(retries: 0) }", 3 + 4, 0, 0),
        ("each q in each w in words(question, top: 5) { lookup(w) } { ask say(q) by r }", 15, 10, 8),
        ("each q in [question, question] { ask choose(q, each w in words(q, top: 3) { lookup(w) }) by r }",
         2 * 3, 2 * 3 * 2, 2 * (3 + 3)),
        ("each q in [] { ask say(q) by r }", 0, 0, 0),
        ("a = ask say(question) by r\n[question]", 0, 0, 0),
        ("budget(calls: 2) { [ask say(question) by r] }", 2, 0, 0),
        ("budget(calls: 99) { [ask say(question) by r] }", 3, 0, 0),
        ("budget(calls: 2) { [lookup(ask say(question) by r)] }", 2, 2, 1),
        ("budget(seconds: 1) { [ask say(question) by r] }", 3, 0, 0),
        ("if question == question { [ask say(question) by r] } else { [lookup(question)] }", 3, 2, 1),
        ("first of { [ask say(question) by r]; [lookup(question)] }", 3, 2, 1),
        ("[loop s = question up to 4 until s == question { ask say(s) by r(retries: 0) }]", 4, 0, 0),
        ("[fold w in words(question, top: 5) from s = question { ask say(s + w) by r }]", 15, 0, 3),
        ("""[matrix rows 2, columns 3 {
              cell(above) { ask say(above) by r(retries: 0) }
              summary(cells) { ask choose(question, cells) by r(retries: 1) }
            }]""", 2 * 3 + 3 * 2, 0, 0),
        ("""frontier from words(question, top: 5), best: 2, depth: 3, grown: 4 {
              score(w) { 1 }
              visit(w) { ask say(w) by r(retries: 0) }
              grow(all) { words(question) }
            }""", 2 * 3, 0, 3 + 2 * 3),
        ("each q in words(question, top: 5) { budget(calls: 1) { ask say(q) by r } }", 5, 0, 3),
    ],
)  # fmt: skip
def test_bounds_by_hand(body, calls, searches, embeddings):
    total, lines = bound(body)
    assert total == Cost(calls, searches, embeddings)
    top = [line.cost for line in lines.values() if line.depth == 0]
    assert sum(top, Cost()) == total


def dialog(options, *handlers):
    on = "".join(f" on {h} " for h in handlers)
    plan = compiled(f"[dialog look(question) by r, {options} {{{on}}}]", "List[Chain]")
    return price(plan, CATALOG)[0]


def test_a_dialog_pays_its_turns_and_one_last_answer():
    assert dialog("searches: 3, turns: 4", "s(a) { neighbors(link(a)) }") == Cost(5, 3, 3)


def test_the_dearest_handler_counts_for_every_search():
    one, two = "s(a) { neighbors(link(a)) }", "s(a, b) { paths(link(a), link(b)) }"
    assert dialog("searches: 3, turns: 4", one, two) == Cost(5, 3, 6)
    asks = "t(a) { neighbors(link(ask say(a) by r(retries: 0))) }"
    assert dialog("searches: 3, turns: 4", one, asks, two) == Cost(5 + 3, 3, 6)


def test_more_of_anything_never_costs_less():
    for low, high in (
        ("searches: 2", "searches: 3"),
        ("searches: 2, turns: 4", "searches: 2, turns: 5"),
    ):
        less, more = (dialog(o, "s(a) { neighbors(link(a)) }") for o in (low, high))
        assert less.calls < more.calls
        assert less.searches <= more.searches


@pytest.mark.parametrize(
    ("variant", "chains", "asks", "embeddings"),
    [
        (None, 4, 2, 2),
        ("without_decomposer", 1, 1, 2),
        ("without_synthesizer", 4, 1, 0),
        ("without_both", 1, 0, 0),
    ],
)
def test_mirage_by_hand(variant, chains, asks, embeddings):
    turns, searches, retries = 5 + 5, 5, 2
    total, lines = price(api.compile_recipe(MIRAGE, variant=variant), CATALOG)
    assert total == Cost(
        calls=asks * (1 + retries) + chains * (turns + 1),
        searches=chains * searches,
        embeddings=chains * searches * 2 + embeddings,
    )
    (inner,) = (line for line in lines if line.step == "chains.explore")
    assert (inner.depth, inner.times, inner.cost.calls) == (1, chains, turns + 1)


def test_a_setting_moves_the_price():
    plan = api.compile_recipe(MIRAGE, settings={"max_subquestions": "2", "max_searches": "1"})
    assert price(plan, CATALOG)[0].calls == 3 + 2 * (1 + 5 + 1) + 3


def test_lines_are_in_the_order_of_the_plan_with_their_formulas():
    _, lines = bound(
        "xs = words(question, top: 5)\neach x in xs { y = lookup(x)\n ask say(y) by r(retries: 1) }"
    )
    shown = [(n, line.depth, line.times, line.formula) for n, line in lines.items()]
    assert shown == [
        ("xs", 0, 1, ""),
        ("each", 0, 1, "5 x 2"),
        ("each.y", 1, 5, ""),
        ("each.say", 1, 5, "1 + 1 retries"),
    ]


@given(COSTS, COSTS, COSTS, st.integers(0, 9), st.integers(0, 9))
def test_costs_add_up(a, b, c, n, m):
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + Cost() == a
    assert (a + b).times(n) == a.times(n) + b.times(n)
    assert a.times(n).times(m) == a.times(n * m)
    assert a.times(n) + a.times(m) == a.times(n + m)

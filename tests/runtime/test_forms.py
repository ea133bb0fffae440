"""Forms that choose and repeat: if, first of, loop, fold, budget; and what they cost."""

import itertools
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.catalog import builtin
from reasoner.compiler.cost import price
from reasoner.errors import ModelError
from reasoner.runtime.calc import is_empty
from reasoner.testing import ScriptedModel, shuffled
from reasoner.values import (
    Answer,
    Chain,
    ChainStatus,
    Entity,
    EntityId,
    Evidence,
    Findings,
    Linked,
    LinkMethod,
    TripleId,
)
from tests.runtime.support import go, items, recipe

PROMPTS = """
prompt say(x: Text) -> Text { "{x}" }
prompt list(x: Text) -> List[Text] { "{x}" }
prompt rate(x: Text) -> Number { "{x}" }
prompt ok(x: Text) -> Bool { "{x}" }
prompt gather(xs: List[Text]) -> Text { "{xs}" }
"""


NAMES = itertools.count()


def method(body, returns="Text"):
    return recipe(f"{PROMPTS}method m(question: Text) -> {returns} {{\n{body}\n}}\n")


def echo(request):
    """Say what was asked."""
    return request.messages[-1].content


def asked(ran):
    """Return what the model was asked, call by call."""
    return [r.messages[-1].content for r in ran.model.requests]


def run(body, script=echo, returns="Text", **options):
    ran = go(method(body, returns), script, **options)
    assert ran.error is None, ran.error
    return ran


def notices(ran):
    return [n.text for n in ran.record.notices]


# ---- if --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cond", "calls", "value"),
    [
        ('question == "yes"', ["then"], "then"),
        ('not question == "yes"', ["else"], "else"),
        ('question == "yes" and 1 < 2', ["then"], "then"),
        ('question == "no" or 2 / 3 > 0.66', ["then"], "then"),
        ("-1 + 2 * 3 == 5", ["then"], "then"),
        ("0.1 + 0.2 == 0.3", ["then"], "then"),
    ],
)
def test_only_the_branch_that_holds_is_run(cond, calls, value):
    body = f"""if {cond} {{ ask say("then") by r }} else {{ ask say("else") by r }}"""
    ran = run(body, question="yes")
    assert (ran.value, asked(ran)) == (value, calls)


def test_an_if_without_else_gives_none():
    ran = run('if question == "no" { ask say("then") by r }', returns="Optional[Text]")
    assert (ran.value, asked(ran)) == (None, [])


def test_a_chain_of_conditions_takes_the_first_that_holds():
    body = """if question == "a" { "1" } else if question == "b" { "2" } else { "3" }"""
    assert [run(body, question=q).value for q in "abc"] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "cond", ['question == "b" and ask ok("asked") by r', 'ask ok("asked") by r and question == "b"']
)
def test_both_sides_of_and_are_evaluated(cond):
    body = f'if {cond} {{ "t" }} else {{ "e" }}'
    ran = run(body, lambda _: "yes", question="a")
    assert (ran.value, asked(ran)) == ("e", ["asked"])


# ---- first of --------------------------------------------------------------------------------


def of_three(accept=""):
    given = "\n".join(f'{{ ask say("{n}") by r }}' for n in "abc")
    name = "x " if accept else ""
    return f"first {name}of {{ {given} }} {accept}"


@given(st.sets(st.sampled_from("abc")))
def test_first_gives_the_first_that_passes_or_the_last(passing):
    accept = " or ".join(f'x == "{n}"' for n in sorted(passing)) or 'x == "none"'
    ran = run(of_three(f"accept {accept}"))
    expected = min(passing, default="c")
    assert ran.value == expected
    assert asked(ran) == list("abc")[: "abc".index(expected) + 1], "later ones are not evaluated"


def test_first_skips_what_is_empty():
    body = """
      maybe = if question == "never" { ["x"] }
      first of { maybe; []; ask list("two") by r; ask list("three") by r }
    """
    ran = run(body, lambda _: items("found"), returns="List[Text]")
    assert (ran.value, asked(ran)) == (("found",), ["two"])


def test_without_accept_an_optional_alternative_leaves_no_optional():
    body = 'first of { if question == "a" { "first" }; "second" }'
    assert [run(body, question=q).value for q in "ab"] == ["first", "second"]


def test_the_last_alternative_is_given_if_none_passes():
    assert run("first of { []; each q in [] { q } }", returns="List[Text]").value == ()
    assert run('first of { "a"; " " }', returns="Text").value == "a"


def test_a_failed_alternative_fails_the_run_it_is_not_empty():
    ran = go(method(of_three()), lambda _: ModelError("down"))
    assert "down" in str(ran.error)
    assert asked(ran) == ["a"]


def test_accept_may_ask_a_model_and_each_question_is_counted():
    ran = run(of_three("accept ask ok(x) by judge"), lambda r: "no" if r.view.task else "")
    total = price(ran.plan, builtin())[0].calls
    assert len(asked(ran)) == 6
    assert total == 3 * (3 + 3), "three alternatives and three tests, each with two retries"


NOTHING = Linked("x", None, 0.3, LinkMethod.NONE)
SOMETHING = Linked("x", Entity(EntityId(0), "x"), 1.0, LinkMethod.EXACT)
FOUND = Evidence(triples=(TripleId(1),))


@pytest.mark.parametrize(
    ("value", "empty"),
    [
        (None, True), ("", True), (" \n", True), ("a", False), ((), True), ([], True), ({}, True),
        (("",), False), (Decimal(0), False), (False, False), (Evidence(), True),
        (Evidence(missed=(NOTHING,)), True), (FOUND, False), (NOTHING, True), (SOMETHING, False),
        (Answer(" "), True), (Answer("a"), False), (Findings(()), True),
        (Findings((), evidence=FOUND), False),
        (Chain("q", ChainStatus.FAILED, Answer("")), True),
        (Chain("q", ChainStatus.COMPLETED, Answer("a")), False),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_empty(value, empty):
    assert is_empty(value) is empty


# ---- loop ------------------------------------------------------------------------------------


def longer(limit, until="", on_limit=""):
    until = f'until s == "{until}"' if until else ""
    on_limit = f"on_limit {on_limit}" if on_limit else ""
    return f"""loop s = "" up to {limit} {until} {on_limit} {{ ask say(s + "a") by r }}"""


@given(limit=st.integers(1, 6), wanted=st.integers(1, 8))
def test_a_loop_stops_at_until_and_never_beyond_its_limit(limit, wanted):
    ran = run(longer(limit, until="a" * wanted))
    rounds = min(limit, wanted)
    assert ran.value == "a" * rounds
    assert asked(ran) == ["a" * n for n in range(1, rounds + 1)]


def test_a_loop_without_until_runs_all_its_rounds():
    assert run(longer(4)).value == "aaaa"


@pytest.mark.parametrize(
    ("on_limit", "value"),
    [
        ("", "aa"),
        ("return", "aa"),
        ('default("none")', "none"),
    ],
)
def test_what_a_loop_gives_at_its_limit(on_limit, value):
    assert run(longer(2, until="x", on_limit=on_limit)).value == value


def test_a_loop_that_reaches_its_limit_can_fail():
    ran = go(method(longer(2, until="x", on_limit="fail")), echo)
    assert "the condition did not hold after 2 rounds" in str(ran.error)
    assert run(longer(2, until="aa", on_limit="fail")).value == "aa"


def test_the_state_may_be_a_record():
    body = """
      end = loop s = {text: question, done: 1 == 2, rounds: 0} up to 5 until s.done {
        said = ask say(s.text + "+") by r
        {text: said, done: said == "q++", rounds: s.rounds + 1}
      }
      if end.rounds == 2 { end.text } else { "wrong" }
    """
    assert run(body, question="q").value == "q++"


def test_the_state_may_be_a_list_that_grows():
    body = "loop found = [] up to 3 { found + [ask say(question) by r] }"
    assert run(body, returns="List[Text]", question="q").value == ("q", "q", "q")


@given(limit=st.integers(1, 5), calls=st.integers(0, 6))
def test_a_budget_inside_a_loop_keeps_the_last_whole_state(limit, calls):
    body = f"""loop s = "" up to {limit} {{
      half = ask say(s + "a") by r
      ask say(half + "b") by r
    }}"""
    ran = go(method(body), echo, limits={"calls": calls} if calls else {"calls": 1})
    whole = min(limit, max(calls, 1) // 2)
    assert ran.error is None
    if whole:
        assert ran.value if isinstance(ran.value, str) else ran.value.text == "ab" * whole
    else:
        assert ran.value.text == "The budget ended before anything was found."
    assert ran.record.outcome == ("answered" if calls >= 2 * limit else "partial")


def test_a_budget_that_ends_a_condition_keeps_the_round_before_it():
    body = 'loop s = "" up to 3 until ask ok(s) by judge { ask say(s + "a") by r }'
    ran = go(method(body), lambda r: "no" if r.view.returns.name == "Bool" else echo(r), limits={"calls": 1})  # fmt: skip
    assert (ran.value.text, ran.record.outcome) == ("a", "partial")


# ---- fold ------------------------------------------------------------------------------------


@given(st.lists(st.text("abc", min_size=1, max_size=3), max_size=5), st.integers(0, 99))
def test_a_fold_goes_through_its_items_in_order(texts, seed):
    listed = ", ".join(f'"{t}"' for t in texts)
    body = f'fold x in [{listed}] from s = "" {{ ask say(s + "." + x) by r }}'
    ran = run(body, ScriptedModel(echo, delay=shuffled(seed)))
    assert ran.value == "".join(f".{t}" for t in texts)
    assert asked(ran) == list(itertools.accumulate(f".{t}" for t in texts))
    assert ran.model.most_running <= 1


def test_a_fold_is_bounded_by_the_producer_of_its_list():
    body = """
      parts = ask list(question, limit: 3) by lister(retries: 0)
      fold x in parts from s = "" { ask say(s + x) by r(retries: 0) }
    """
    script = lambda r: items(*"abcde") if r.view.returns.name == "List" else echo(r)  # noqa: E731
    ran = run(body, script)
    assert ran.value == "abc"
    assert price(ran.plan, builtin())[0].calls == 1 + 3 == len(asked(ran))


def test_a_budget_inside_a_fold_keeps_the_last_whole_state():
    body = 'fold x in ["a", "b", "c"] from s = "" { ask say(s + x) by r }'
    ran = go(method(body), echo, limits={"calls": 2})
    assert (ran.value.text, ran.record.outcome) == ("ab", "partial")


def test_a_fold_over_nothing_gives_its_first_state():
    assert run('fold x in [] from s = "start" { s + x }').value == "start"


# ---- budget ----------------------------------------------------------------------------------


def test_a_part_with_a_budget_leaves_the_rest_alone():
    body = """
      few = budget(calls: 2) { each q in ["a", "b", "c"] { ask say(q) by r } }
      return few + [ask say("rest") by r]
    """
    ran = run(body, returns="List[Text]")
    texts = ran.value if isinstance(ran.value, tuple) else ran.value.text
    assert "rest" in texts
    assert len(asked(ran)) == 3
    assert ran.record.outcome == "partial"


def test_the_list_of_a_budget_can_be_gone_over():
    body = """
      few = budget(calls: 2) { ask list(question, limit: 2) by r }
      each x in few { ask say(x) by r }
    """
    assert run(body, lambda _: items("a", "b"), returns="List[Text]").value


# ---- the price -------------------------------------------------------------------------------


#: Expressions of type Text: ``{a}`` and ``{b}`` are others, ``{v}`` is a fresh name, ``{n}`` a small
#: number, ``{xs}`` a list of ``{n}`` texts, ``{w}`` weights. Each always makes the same calls.
STRAIGHT = (
    "{a}",
    "(ask say({a}) by r(retries: 0))",
    "({a} + {b})",
    "{{left: {a}, right: {b}}}.left",
    "budget(calls: 1000) {{ {a} }}",
    "(fold {v} in {xs} from s{v} = {a} {{ ask say(s{v} + {v}) by r(retries: 0) }})",
    "(loop {v} = {a} up to {n} {{ {v} + {b} }})",
    (
        "(matrix rows {n}, columns 2, weights {w} {{"
        " column(previous) {{ ask say(previous + question) by r(retries: 0) }}"
        " cell(shared, above) {{ ask say(shared + above) by r(retries: 0) }}"
        " summary(cells) {{ ask gather(cells) by r(retries: 0) }} }})"
    ),
    "(each {v} in {xs} {{ {v} + {a} }}) == []",
    (
        "(frontier from {xs}, best: {n}, depth: 1 {{"
        " score({v}) {{ ask rate({v}) by r(retries: 0) }} visit({v}) {{ {v} + {a} }} }}) == []"
    ),
)
#: Those whose calls depend on what a model says, or on what is new.
CHOOSING = (
    "(if {a} == {b} {{ {a} }} else {{ {b} }})",
    "(first of {{ {a}; {b} }})",
    '(first {v} of {{ {a}; {b} }} accept {v} == "no")',
    "(loop {v} = {a} up to {n} until {v} == {a} {{ {b} }})",
    "ask say({a}) by r",
    (
        "(frontier from [question, {a}], best: {n}, depth: 3, grown: 2, drain: true {{"
        " score({v}) {{ ask rate({v}) by r }} visit({v}) {{ ask say({v} + {b}) by r }}"
        " grow({v}) {{ {v} + [question] }} }}) == []"
    ),
)


@st.composite
def texts(draw, shapes, depth=3):
    """Return expressions of type Text in which forms stand inside forms."""
    if depth == 0:
        return draw(st.sampled_from(["question", '"a"']))
    shape = draw(st.sampled_from(shapes))
    a, b = (draw(texts(shapes, depth - 1)) for _ in "ab")
    count = draw(st.integers(1, 3))
    xs = ", ".join(f'"x{k}"' for k in range(count))
    weights = draw(st.sampled_from(["0", "0.5", "vertical(0.1)", "uniform(1)"]))
    name = f"v{next(NAMES)}"
    text = shape.format(a=a, b=b, n=count, xs=f"[{xs}]", w=weights, v=name)
    return f'(if {text} {{ "t" }} else {{ "e" }})' if text.endswith("== []") else text


def priced_run(expression):
    plan = method(f"return {expression}")
    ran = go(plan, lambda r: "0.5" if r.view.returns.name == "Number" else "said")
    assert ran.error is None, ran.error
    return price(plan, builtin())[0].calls, len(asked(ran))


@settings(max_examples=60)
@given(texts(STRAIGHT + CHOOSING))
def test_no_run_costs_more_than_its_price(expression):
    most, calls = priced_run(expression)
    assert calls <= most


@settings(max_examples=60)
@given(texts(STRAIGHT))
def test_the_price_of_a_recipe_without_choices_is_exact(expression):
    most, calls = priced_run(expression)
    assert calls == most

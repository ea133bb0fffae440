"""Limits: never overdrawn, and a run that reaches one ends with what it has."""

import asyncio
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reasoner.chat import Reply, Usage
from reasoner.errors import BudgetError
from reasoner.runtime.budget import Budget
from reasoner.runtime.run import SystemClock
from reasoner.testing import FakeClock, ScriptedModel, shuffled
from tests.runtime.support import CHAINS, PROMPTS, by_task, go, looks, mirage, recipe

CALLS = st.integers(1, 12)
THREE = by_task(
    split=("one", "two", "three"),
    chains={
        "one": [*looks("migraine"), "Final answer: migraine has headache [T0]."],
        "two": [
            *looks("nausea", "headache"),
            "Final answer: nausea is a symptom of migraine [T3].",
        ],
        "three": [*looks("gout"), "Final answer: nothing is known of gout."],
    },
    tell="Migraine has headache [T0].",
)


class Spending(RuleBasedStateMachine):
    """Calls of parallel parts, each with a budget of its own inside the run's."""

    @initialize(limit=CALLS, inner=CALLS, closing=st.integers(0, 1))
    def begin(self, limit, inner, closing):
        self.clock = FakeClock()
        self.run = Budget(self.clock, {"calls": Decimal(limit)}, closing=closing)
        self.part = Budget(self.clock, {"calls": Decimal(inner)}, outer=self.run)
        self.open = []
        self.settled = 0

    def reserve(self, budget, *, closing):
        before = (self.run.calls, self.part.calls)
        try:
            budget.reserve(closing=closing)
        except BudgetError as error:
            assert (self.run.calls, self.part.calls) == before, "a refused call was taken"
            assert error.limit.startswith("calls: ")
            assert self.run.tripped
        else:
            self.open.append(budget)

    @rule(closing=st.booleans())
    def call_of_the_run(self, closing):
        self.reserve(self.run, closing=closing)

    @rule()
    def call_of_the_part(self):
        self.reserve(self.part, closing=False)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), tokens=st.integers(0, 50))
    def settle(self, data, tokens):
        budget = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        budget.settle(Usage(tokens, 1))
        self.settled += tokens + 1

    @invariant()
    def never_overdrawn(self):
        if hasattr(self, "run"):
            assert self.run.calls <= self.run.limits["calls"]
            assert self.part.calls <= self.part.limits["calls"]
            assert self.part.calls <= self.run.calls
            assert self.run.tokens == self.settled


TestSpending = Spending.TestCase


@given(limit=CALLS, tries=st.integers(0, 30))
def test_the_closing_call_is_kept_back(limit, tries):
    budget = Budget(FakeClock(), {"calls": Decimal(limit)}, closing=1)
    taken = 0
    for _ in range(tries):
        try:
            budget.reserve()
        except BudgetError:
            break
        taken += 1
    assert taken <= max(1, limit - 1)
    if limit > 1:
        budget.reserve(closing=True)
    assert budget.calls <= limit


@pytest.mark.parametrize(
    ("limits", "usage", "named"),
    [
        ({"tokens": Decimal(10)}, Usage(9, 1), "tokens: 10"),
        ({"usd": Decimal("0.5")}, Usage(usd=0.5), "usd: 0.5"),
    ],
)
def test_no_call_starts_once_tokens_or_dollars_are_used_up(limits, usage, named):
    budget = Budget(FakeClock(), limits)
    budget.reserve()
    budget.settle(usage)
    with pytest.raises(BudgetError, match=f"the budget is used up: {named}"):
        budget.reserve(closing=True)
    assert (budget.calls, budget.tripped) == (1, named)


def test_no_call_starts_after_the_last_second():
    clock = FakeClock(100)
    budget = Budget(clock, {"seconds": Decimal("1.5")})
    inner = Budget(clock, {"seconds": Decimal(9)}, outer=budget)
    assert inner.seconds_left() == 1.5
    clock.now += 1.5
    with pytest.raises(BudgetError):
        inner.reserve()
    assert (inner.calls, budget.calls) == (0, 0)
    assert budget.tripped.startswith("seconds")


def test_a_budget_without_limits_never_trips():
    budget = Budget(FakeClock())
    for _ in range(100):
        budget.reserve()
        budget.settle(Usage(10**6, 10**6, 10.0**6))
    assert budget.tripped is None
    assert budget.seconds_left() == float("inf")


def nested(depth):
    budget = Budget(FakeClock())
    parts = [budget]
    for _ in range(depth):
        parts.append(Budget(FakeClock(), outer=parts[-1]))
    return budget, parts[-1]


@pytest.mark.parametrize(
    "depth",
    [
        0,
        1,
        pytest.param(2),
    ],
)
def test_a_trip_is_known_to_every_budget_around(depth):
    run, innermost = nested(depth)
    innermost.trip("calls: 1")
    assert run.tripped == "calls: 1"


# ---- runs --------------------------------------------------------------------------------


def cited(record):
    """Check the citations of a record; return the ids."""
    retrieved = {f"T{t}" for c in record.chains for s in c.searches for t in s.triples}
    ids = {i for c in record.citations for i in c.ids}
    assert ids <= retrieved
    assert {e.id for e in record.evidence} == ids
    for c in record.citations:
        sentence = record.answer[c.start : c.end]
        assert all(re.search(rf"\b{i}\b", sentence) for i in c.ids)
    assert set(re.findall(r"\bT\d+\b", record.answer)) == ids
    return ids


@given(limit=st.integers(1, 12), seed=st.integers(0, 1000))
def test_calls_are_never_overdrawn_and_the_run_ends_with_what_it_has(limit, seed):
    model = ScriptedModel(THREE, delay=shuffled(seed, 0.001))
    ran = go(recipe(CHAINS), model, limits={"calls": limit})
    assert len(model.requests) == ran.record.budget.calls <= limit
    whole = 1 + (2 + 3 + 2) + 1
    assert ran.record.outcome == ("answered" if limit >= whole else "partial")
    assert ran.record.budget.limits == {"calls": limit}
    assert ran.record.answer
    cited(ran.record)
    assert ran.value.partial is (limit < whole)
    if limit < whole:
        assert ran.record.budget.tripped == f"calls: {limit}"
        assert ran.record.stop_reason == f"budget: calls: {limit}"
        assert ran.error is None
    else:
        assert ran.record.budget.tripped is None


def test_the_closing_call_writes_the_answer_of_a_stopped_run():
    # 1 + six turns are let through, which is all but the last of the seven, and the last call.
    ran = go(recipe(CHAINS), THREE, limits={"calls": 8})
    assert ran.record.calls[-1].role == "teller"
    assert ran.record.answer == "Migraine has headache [T0]."
    assert ran.record.outcome == "partial"
    assert {c.status for c in ran.record.chains} == {"completed", "stopped"}
    (stopped,) = [c for c in ran.record.chains if c.status == "stopped"]
    assert stopped.stop_reason == "budget: calls: 8"
    assert stopped.searches


def test_a_chain_that_a_budget_stopped_keeps_its_evidence_for_the_answer():
    ran = go(recipe(CHAINS), by_task(chains=looks("migraine")), limits={"calls": 3})
    assert ran.record.chains[0].status == "stopped"
    assert ran.record.outcome == "partial"


@pytest.mark.parametrize("calls", [1, 2])
def test_before_anything_was_found_the_answer_says_so(calls):
    ran = go(recipe(CHAINS), THREE, limits={"calls": calls})
    assert ran.record.answer == "The budget ended before anything was found."
    assert ran.value.partial


@pytest.mark.parametrize(
    ("limits", "named"), [({"tokens": 60}, "tokens: 60"), ({"usd": "0.4"}, "usd: 0.4")]
)
def test_tokens_and_dollars_end_a_run_with_what_it_has(limits, named):
    model = ScriptedModel(THREE, usage=Usage(10, 5, 0.1))
    ran = go(recipe(CHAINS), model, limits=limits)
    assert (ran.record.outcome, ran.record.budget.tripped) == ("partial", named)
    assert cited(ran.record)
    assert ran.record.budget.tokens == 15 * len(ran.record.calls)
    assert ran.record.budget.usd == pytest.approx(0.1 * len(ran.record.calls))
    assert not any(c.role == "teller" for c in ran.record.calls)


def test_seconds_end_a_run_with_what_it_has():
    clock = FakeClock()

    def script(request):
        clock.now += 1
        return THREE(request)

    ran = go(recipe(CHAINS), script, limits={"seconds": 5}, clock=clock)
    assert ran.record.outcome == "partial"
    assert ran.record.budget.tripped.startswith("seconds")
    assert cited(ran.record)


def test_seconds_end_a_call_that_does_not_end():
    class Deaf(ScriptedModel):
        async def complete(self, request, *, timeout_s):
            self.requests.append(request)
            if request.view.task == "explore":
                await asyncio.Event().wait()
            return Reply(text="1. one")

    model = Deaf(())
    ran = go(recipe(CHAINS), model, limits={"seconds": "0.05"}, clock=SystemClock())
    assert (ran.record.outcome, ran.record.budget.tripped) == ("partial", "seconds")


def test_a_call_that_does_not_end_is_a_failure_that_is_tried_again():
    class Deaf(ScriptedModel):
        async def complete(self, request, *, timeout_s):
            self.requests.append(request)
            await asyncio.Event().wait()

    model = Deaf(())
    plan = recipe(f"{PROMPTS}method m(question: Text) -> Text {{ return ask say(question) by m }}")
    ran = go(plan, model, call_timeout_s=0.002)
    assert len(model.requests) == 4
    assert "no reply within 0.002 s" in str(ran.error)


@given(own=st.none() | CALLS, given_=st.none() | CALLS)
def test_limits_of_recipe_and_caller_hold_both(own, given_):
    text = (
        CHAINS.replace("  param searches", f"  budget(calls: {own})\n  param searches")
        if own
        else CHAINS
    )
    ran = go(recipe(text), THREE, limits={"calls": given_} if given_ else {})
    both = [n for n in (own, given_) if n]
    assert ran.record.budget.limits == ({"calls": min(both)} if both else {})
    assert ran.record.budget.calls <= min([9, *both])


def test_limits_of_several_kinds_are_put_together():
    text = CHAINS.replace("  param searches", "  budget(calls: 4, tokens: 900)\n  param searches")
    ran = go(recipe(text), THREE, limits={"calls": 6, "usd": 2})
    assert ran.record.budget.limits == {"calls": 4, "tokens": 900, "usd": 2}


@given(outer=st.integers(1, 9), inner=st.integers(1, 3), seed=st.integers(0, 99))
def test_nested_budgets_hold_all(outer, inner, seed):
    plan = recipe(f"""{PROMPTS}
    method m(question: Text) -> List[Text] {{
      return each q in ["a", "b", "c"] {{
        budget(calls: {inner}) {{ r = ask say(q) by m  s = ask say(r) by m  ask say(s) by m }}
      }}
    }}""")
    model = ScriptedModel(lambda r: r.messages[-1].content + ".", delay=shuffled(seed, 0.001))
    ran = go(plan, model, limits={"calls": outer})
    assert len(model.requests) <= outer
    for item in range(3):
        assert sum(c.path.startswith(f"each[{item}]") for c in ran.record.calls) <= inner
    assert ran.record.outcome == ("answered" if outer == 9 and inner == 3 else "partial")


def test_a_budget_two_levels_down_makes_the_run_partial():
    plan = recipe(
        f"""{PROMPTS}
    method m(question: Text) -> List[Text] {{
      return budget(calls: 50) {{
        each q in ["a", "b"] {{ budget(calls: 2) {{ each r in [q, "x", "y"] {{ ask say(r) by m }} }} }}
      }}
    }}""".replace("List[Text] {", "List[List[Text]] {")
    )
    ran = go(plan, lambda r: "said")
    assert ran.value  # something is missing from it
    assert ran.record.outcome == "partial"


def test_a_known_reply_costs_nothing():
    # The record of a run without limits counts every call that was paid.
    ran = go(mirage(), THREE)
    assert ran.record.budget.calls == len(ran.record.calls) == 9
    assert not any(c.cached for c in ran.record.calls)

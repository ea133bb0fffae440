"""Dataflow, failure and cancellation, by the order of events and never by seconds."""

import asyncio
import itertools
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api
from reasoner.errors import ModelError, StepError
from reasoner.runtime.journal import read
from reasoner.testing import FakeClock, ScriptedModel, shuffled
from tests.runtime.support import CHAINS, PROMPTS, Staged, by_task, go, looks, recipe, tiny, within


def method(body, returns="List[Text]"):
    return recipe(f"{PROMPTS}method m(question: Text) -> {returns} {{\n{body}\n}}")


def each(policy="", items='["a", "b", "c"]', block="ask say(q) by m"):
    return method(f"return each q in {items} {policy} {{ {block} }}")


# ---- dataflow ----------------------------------------------------------------------------


def test_a_slow_step_holds_up_only_what_needs_it():
    # "slow" ends only after the third step of the other line has ended: levels would hang here.
    model = Staged(after={"slow": ["one''"]})
    ran = go(
        method("""
          slow = ask say("slow") by m
          one = ask say("one") by m
          two = ask say(one) by m
          three = ask say(two) by m
          return [slow, three]
        """),
        model,
    )
    assert ran.value == ("slow'", "one'''")
    assert model.order(("start", "slow"), ("end", "one''"), ("end", "slow"))


def test_a_slow_item_holds_up_no_other_item():
    # Each item is a line of two steps; the first item's first step waits for the last item's end.
    model = Staged(after={"a": ["c'"]})
    ran = go(each(block="r = ask say(q) by m  ask say(r) by m"), model)
    assert ran.value == ("a''", "b''", "c''")


def test_no_step_starts_before_its_inputs():
    model = Staged()
    go(
        method("""
          a = ask say("a") by m
          b = ask say("b") by m
          c = ask say(a) by m
          return each q in [c, b] { ask say(q) by m }
        """),
        model,
    )
    assert model.order(("end", "a"), ("start", "a'"), ("end", "a'"), ("start", "a''"))
    assert model.order(("end", "b"), ("start", "b'"))


def test_a_block_waits_for_what_only_its_inside_needs():
    model = Staged(after={"late": ["other"]})
    plan = method("""
      late = ask say("late") by m
      other = ask say("other") by m
      found = each q in ["x"] { each r in [late, other] { ask say(r) by m } }
      return found
    """, "List[List[Text]]")  # fmt: skip
    assert go(plan, model).value == (("late''", "other''"),)
    assert model.order(("end", "late"), ("start", "late'"))
    assert model.order(("end", "other"), ("start", "other'"))


@given(st.permutations(list("abcdef")))
def test_results_are_in_the_order_of_the_plan(order):
    waits = {later: [earlier] for earlier, later in itertools.pairwise(order)}
    model = Staged(after=waits)
    plan = each(items='["a", "b", "c", "d", "e", "f"]')
    assert go(plan, model).value == tuple(f"{c}'" for c in "abcdef")
    assert [name for what, name in model.log if what == "end"] == list(order)


@given(st.integers(0, 10_000))
def test_nested_each_keeps_every_order(seed):
    block = "each r in [q, question] { ask say(r) by m }"
    plan = method(f'return each q in ["a", "b"] {{ {block} }}', "List[List[Text]]")
    model = ScriptedModel(lambda r: r.messages[-1].content + "!", delay=shuffled(seed, 0.002))
    ran = go(plan, model, "x")
    assert ran.value == (("a!", "x!"), ("b!", "x!"))
    assert [c.path for c in ran.record.calls] == [
        f"each[{i}].each[{j}].say" for i in range(2) for j in range(2)
    ]


def test_more_items_than_the_bound_are_left_out_and_noted():
    plan = method("""
      parts = ask split(question, limit: 4) by m
      return each q in parts up to 2 { ask say(q) by m }
    """)
    ran = go(
        plan, lambda r: "1. a\n2. b\n3. c" if r.view.task == "decompose" else r.view.inputs["x"]
    )
    assert ran.value == ("a", "b")
    assert [(n.kind, n.text) for n in ran.record.notices] == [("truncated", "kept 2, left out 1")]


# ---- failure -----------------------------------------------------------------------------


def test_fail_names_the_step_its_place_and_the_reason():
    ran = go(each(), Staged(fail="b"))
    assert isinstance(ran.error, StepError)
    assert ran.error.step == "each[1].say"
    assert (ran.error.place.line, ran.error.place.column) == (7, 37)
    assert str(ran.error).endswith("test.rsn:7:37: step 'each[1].say' failed: b is broken")
    assert (ran.value, ran.record.outcome, ran.record.answer) == (None, "failed", "")
    assert ran.record.stop_reason == str(ran.error)


def test_the_cause_of_a_failed_step_is_chained_through_a_group():
    assert isinstance(go(each(), Staged(fail="b")).error.__cause__, ModelError)


def test_a_failing_item_cancels_its_siblings():
    model = Staged(after={"b": ["a"]}, fail="b", never="c")
    assert go(each(), model).record.outcome == "failed"  # `go` sees that no task is left
    assert ("cancelled", "c") in model.log
    assert ("end", "a") in model.log


def test_a_failing_step_cancels_its_siblings_and_starts_nothing_more():
    model = Staged(fail=["bad"], never=["slow"])
    plan = method("""
      slow = ask say("slow") by m
      bad = ask say("bad") by m
      next = ask say(slow) by m
      return [next, bad]
    """)
    assert go(plan, model).record.outcome == "failed"
    assert model.log[-1] == ("cancelled", "slow")
    assert ("start", "slow'") not in model.log


def test_skip_leaves_out_what_failed_and_says_so():
    ran = go(each("on_error skip"), Staged(fail="b"))
    assert ran.value == ("a'", "c'")
    assert ran.record.outcome == "answered"
    (notice,) = [n for n in ran.record.notices if n.kind == "skipped"]
    assert notice.path == "each[1]"
    assert "b is broken" in notice.text


def test_default_puts_a_value_in_the_place_of_what_failed():
    ran = go(each('on_error default("none")'), Staged(fail="ac"))
    assert ran.value == ("none", "b'", "none")


@pytest.mark.parametrize(
    ("fail", "outcome"), [("", "answered"), ("b", "answered"), ("bc", "failed")]
)
def test_quorum_is_the_least_number_of_results(fail, outcome):
    ran = go(each("on_error quorum(2)"), Staged(fail=fail))
    assert ran.record.outcome == outcome
    if fail == "bc":
        assert "2 of 3 items failed, 2 are needed; the first: " in str(ran.error)
        assert "step 'each[1].say' failed: b is broken" in str(ran.error)


@pytest.mark.parametrize("policy", ["skip", "quorum(1)"])
@given(order=st.permutations("abc"))
def test_all_failed_names_the_first_by_place_and_not_by_time(policy, order):
    waits = {later: [earlier] for earlier, later in itertools.pairwise(order)}
    ran = go(each(f"on_error {policy}"), Staged(fail="abc", after=waits))
    assert isinstance(ran.error, StepError)
    assert ran.error.step == "each"
    assert ran.error.place.line == 7
    assert "3 of 3 items failed" in ran.error.reason
    assert "the first: " in ran.error.reason
    assert "step 'each[0].say' failed: a is broken" in ran.error.reason
    assert "test.rsn:7:" in ran.error.reason


def test_nothing_to_go_over_is_no_failure():
    plan = method("return each q in [] on_error skip { ask say(question) by m }")
    assert go(plan, Staged()).value == ()


def test_a_failure_inside_an_inner_each_is_the_inner_policys_to_judge():
    plan = method(
        'return each q in ["a", "b"] { each r in [q, "c"] on_error skip { ask say(r) by m } }',
        "List[List[Text]]",
    )
    assert go(plan, Staged(fail="a")).value == (("c'",), ("b'", "c'"))


def test_an_error_that_is_no_ones_business_passes_through_and_leaves_nothing():
    def script(request):
        raise ZeroDivisionError("a bug of the model")

    with pytest.raises(BaseException) as caught:
        go(each("on_error skip"), script)
    assert "a bug of the model" in "".join(
        map(str, [caught.value, *getattr(caught.value, "exceptions", ())])
    )


# ---- budgets as forms --------------------------------------------------------------------


def test_a_budget_form_gives_the_value_of_its_block():
    plan = method('return budget(calls: 5) { a = ask say("a") by m  ask say(a) by m }', "Text")
    assert go(plan, Staged()).value == "a''"


def test_a_budget_form_in_an_item_ends_that_item_only():
    plan = each(block="budget(calls: 1) { r = ask say(q) by m  ask say(r) by m }")
    ran = go(plan, Staged())
    assert ran.record.outcome == "partial"
    assert ran.record.budget.calls == 3


# ---- cancellation ------------------------------------------------------------------------


def cancelled_run(plan, model, moment, runs, question="q"):
    """Cancel a run at a moment and return how many tasks were left."""

    async def work():
        task = asyncio.create_task(
            api.run_plan(
                plan,
                {"question": question},
                api.RunSettings(runs=runs),
                run_id="run",
                context=tiny(),
                models=dict.fromkeys(api.roles(plan), model),
                clock=FakeClock(),
            )
        )
        await moment(task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks()) - 1

    return within(work())


def open_files(folder):
    """Return the files below a folder that this process holds open."""
    found = []
    for fd in Path("/proc/self/fd").iterdir():
        try:
            found.append(fd.readlink())
        except OSError:
            continue
    return [f for f in found if f.is_relative_to(folder)]


def test_cancelling_a_run_stops_everything_and_closes_the_journal(tmp_path):
    model = Staged(never="bc")

    async def when_a_is_done(task):
        await model.ended["a"].wait()
        await model.begun["c"].wait()

    assert cancelled_run(each("on_error skip"), model, when_a_is_done, tmp_path) == 0
    assert {("cancelled", "b"), ("cancelled", "c")} <= set(model.log)
    assert not open_files(tmp_path)
    entries, torn = read(tmp_path / "run" / "journal.jsonl")
    assert torn == 0
    assert [e.value["text"] for e in entries] in ([], ["a'"])


@given(steps=st.integers(0, 60))
def test_cancelling_at_any_moment_leaves_nothing(steps, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cancel")
    chains = ["<search>migraine</search>", "Final answer: migraine [T0]."]
    model = ScriptedModel(by_task(split=("one", "two"), chains=chains))

    async def moment(task):
        for _ in range(steps):
            await asyncio.sleep(0)
        if task.done():  # the run was faster: nothing to cancel
            task.cancel = lambda: None

    async def never_ending(request, **_):
        reply = await ScriptedModel.complete(model, request, timeout_s=1)
        if request.view.task == "answer":
            await asyncio.Event().wait()
        return reply

    model.complete = never_ending
    assert cancelled_run(recipe(CHAINS), model, moment, folder) == 0
    assert model.running == 0
    assert not open_files(folder)
    journal = folder / "run" / "journal.jsonl"
    if journal.exists():
        assert read(journal)[1] == 0


def test_a_second_cancellation_still_closes_the_journal(tmp_path):
    model = Staged(never="abc")

    async def twice(task):
        await model.begun["c"].wait()
        task.cancel()
        await asyncio.sleep(0)

    assert cancelled_run(each(), model, twice, tmp_path) == 0
    assert not open_files(tmp_path)


def test_a_run_without_a_journal_writes_nothing(anywhere):
    go(each(), Staged(), runs=None)
    assert not list(anywhere.iterdir())


def test_settings_of_a_role_reach_the_model():
    plan = method("return ask say(question) by m(temperature: 0.2, max_tokens: 9)", "Text")
    model = ScriptedModel(["hello"])
    go(plan, model)
    assert model.requests[0].settings == {"temperature": Decimal("0.2"), "max_tokens": Decimal(9)}


def test_at_most_as_many_calls_at_once_as_the_model_takes():
    model = ScriptedModel(lambda r: "x", concurrency=2, delay=lambda r: 0.001)
    go(each(items='["a", "b", "c", "d", "e"]'), model)
    assert model.most_running == 2


def test_a_chain_method_asks_its_chains_at_once():
    model = ScriptedModel(
        by_task(split=("one", "two", "three"), chains=[*looks("migraine"), "migraine it is"]),
        delay=lambda r: 0.001,
    )  # fmt: skip
    go(recipe(CHAINS), model)
    assert model.most_running == 3

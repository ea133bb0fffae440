"""Deadlines with one timer behave as `asyncio.timeout` does, whatever mix of lengths they have."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.runtime.deadlines import Deadlines


async def outcome(deadlines, limit, work):
    try:
        async with deadlines.within(limit):
            await asyncio.sleep(work)
    except TimeoutError:
        return "late"
    return "done"


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.01, 0.03, 9.0]), st.sampled_from([0.0, 0.02, 0.05])),
        max_size=12,
    )
)
def test_each_call_ends_as_its_own_deadline_says(calls):
    async def run():
        deadlines = Deadlines()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(outcome(deadlines, *c)) for c in calls]
        deadlines.close()
        return [t.result() for t in tasks]

    for (limit, work), said in zip(calls, asyncio.run(run()), strict=True):
        assert said == ("late" if limit < work else "done") or limit == work


def test_a_cancellation_from_elsewhere_passes_through():
    async def run():
        deadlines = Deadlines()
        task = asyncio.ensure_future(outcome(deadlines, 9, 9))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        deadlines.close()

    asyncio.run(run())


def test_without_a_limit_there_is_no_timer():
    async def run():
        deadlines = Deadlines()
        assert await outcome(deadlines, float("inf"), 0) == "done"
        assert deadlines._timer is None

    asyncio.run(run())

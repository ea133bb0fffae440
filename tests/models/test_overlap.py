"""Acceptance: chains that do not depend on each other overlap."""

import asyncio

import pytest

from tests.models.harness import mirage_script, run_mirage
from tests.models.loopback import SLOW_S

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_four_chains_take_at_most_two_fifths_of_their_calls_one_after_another(server):
    """18 calls in a critical path of 6: decompose, 3 searches and an answer, synthesize."""
    deployment = {"model": "hosted_vllm/slow", "api_base": server.base}

    async def go():
        server.reset(mirage_script)
        await run_mirage(deployment)  # starts LiteLLM up
        server.reset(mirage_script)
        return await run_mirage(deployment)

    record = asyncio.run(go()).record
    assert record.outcome == "answered"
    assert [len(c.searches) for c in record.chains] == [3] * 4
    assert len(record.calls) == server.count() == 18
    assert min(c.seconds for c in record.calls) >= SLOW_S
    assert server.most_running == 4
    ratio = record.budget.seconds / sum(c.seconds for c in record.calls)
    assert ratio <= 0.4

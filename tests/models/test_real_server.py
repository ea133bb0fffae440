"""MIRAGE against a real server whose model has random weights: nonsense in, a record out."""

import asyncio
import time

import pytest

from reasoner.catalog import builtin
from reasoner.chat import Capability
from reasoner.compiler.cost import price
from reasoner.record import AuditRecord
from reasoner.runtime.session import TRANSPORT_RETRIES
from tests.models.harness import mirage, run_mirage

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECONDS = 20
NATIVE = list(Capability)
ROADS = {
    "native": NATIVE,
    "chat": [c for c in NATIVE if c is not Capability.CONTINUE],
    "bare": [],
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("road", ROADS)
def test_whatever_a_model_says_a_run_ends_with_a_record(real, road, seed):
    deployment = {
        "model": "hosted_vllm/random",
        "api_base": real,
        "capabilities": ROADS[road],
        "max_tokens": 24,
    }
    started = time.monotonic()
    outcome = asyncio.run(run_mirage(deployment, seed=seed, seconds=SECONDS))
    assert time.monotonic() - started < SECONDS + 2
    record = AuditRecord.model_validate_json(outcome.record.model_dump_json())
    assert record.outcome in {"answered", "partial", "failed"}
    assert (record.outcome == "failed") == (outcome.error is not None)
    bound, _ = price(mirage(), builtin())
    failed = [n for n in record.notices if n.text.startswith("call failed")]
    assert len(record.calls) <= bound.calls
    assert record.budget.calls == len(record.calls) + len(failed)
    assert len(failed) <= TRANSPORT_RETRIES * bound.calls
    for chain in record.chains:
        model_text = "".join(p["text"] for p in chain.transcript if p["role"] == "model")
        assert len(model_text) <= 24 * 20 * (len(chain.searches) + 2), "text is repeated"


def test_the_same_seed_gives_the_same_run(real):
    deployment = {"model": "hosted_vllm/random", "api_base": real, "max_tokens": 24}
    one, two = (asyncio.run(run_mirage(deployment, seed=3)).record for _ in range(2))
    assert [c.transcript for c in one.chains] == [c.transcript for c in two.chains]
    assert (one.outcome, one.answer) == (two.outcome, two.answer)

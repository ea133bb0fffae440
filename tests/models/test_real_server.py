"""MIRAGE against a real server whose model has random weights: nonsense in, a record out."""

import asyncio
import time

import pytest

from reasoner.catalog import builtin
from reasoner.chat import Capability, Message
from reasoner.compiler.cost import price
from reasoner.models import hosted
from reasoner.record import AuditRecord
from reasoner.runtime.session import TRANSPORT_RETRIES
from tests.models.harness import mirage, request, run_mirage

pytestmark = [
    pytest.mark.server,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SECONDS = 20
MOST_TOKENS, LONGEST_TOKEN = 24, 15
NATIVE = list(Capability)
ROADS = {
    "native": NATIVE,
    "chat": [c for c in NATIVE if c is not Capability.CONTINUE],
    "bare": [],
}


@pytest.mark.parametrize("road", ROADS)
def test_whatever_a_model_says_a_run_ends_with_a_record(real, road):
    deployment = {
        "model": "hosted_vllm/random",
        "api_base": real,
        "capabilities": ROADS[road],
        "max_tokens": MOST_TOKENS,
    }
    searches = 0
    for seed in range(8):
        started = time.monotonic()
        outcome = asyncio.run(run_mirage(deployment, seed=seed, seconds=SECONDS))
        assert time.monotonic() - started < SECONDS + 2
        check(outcome)
        searches += sum(len(c.searches) for c in outcome.record.chains)
    if road != "bare":  # without seeds nobody knows what it says
        assert searches, "none of the seeds reached a tool call: this tests too little"


def check(outcome):
    """The promises that hold for a run whatever its model says."""
    record = AuditRecord.model_validate_json(outcome.record.model_dump_json())
    assert record.outcome in {"answered", "partial", "failed"}
    assert (record.outcome == "failed") == (outcome.error is not None)
    bound, _ = price(mirage(), builtin())
    failed = [n for n in record.notices if n.text.startswith("call failed")]
    assert len(record.calls) <= bound.calls
    assert record.budget.calls == len(record.calls) + len(failed)
    assert len(failed) <= TRANSPORT_RETRIES * bound.calls
    retrieved = {f"T{t}" for c in record.chains for s in c.searches for t in s.triples}
    assert {row.id for row in record.evidence} <= retrieved
    for chain in record.chains:
        said = [p["text"] for p in chain.transcript if p["role"] == "model"]
        assert all(len(text) <= MOST_TOKENS * LONGEST_TOKEN for text in said), "text is repeated"


def test_the_same_seed_gives_the_same_run(real):
    deployment = {"model": "hosted_vllm/random", "api_base": real, "max_tokens": MOST_TOKENS}
    one, two = (asyncio.run(run_mirage(deployment, seed=3)).record for _ in range(2))
    assert [c.transcript for c in one.chains] == [c.transcript for c in two.chains]
    assert (one.outcome, one.answer) == (two.outcome, two.answer)


@pytest.mark.parametrize(
    "so_far", ["one two\n", "<search>migraine</search>\n<result>\n</result>\n"]
)
def test_a_real_continuation_is_new_text_only(real, so_far):
    model = hosted.connect({"m": {"model": "hosted_vllm/random", "api_base": real}})["m"]
    sent = request(
        messages=(Message("user", "Go."), Message("assistant", so_far)),
        settings={"max_tokens": 4},
        continue_last=True,
    )
    reply = asyncio.run(model.complete(sent, timeout_s=5))
    assert reply.text
    assert so_far.strip() not in reply.text

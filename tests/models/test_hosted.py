"""LiteLLM against servers that misbehave: every fault is a reply or a `ModelError`, in time.

The promises: one request for one try, a deadline that holds whatever the server does, the right
advice on whether to try again, and no key in any text.
"""

import asyncio
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reasoner.chat import Capability, Message, Reply
from reasoner.errors import BudgetError, ModelError, UsageError
from reasoner.models import hosted
from reasoner.runtime.session import TRANSPORT_RETRIES
from tests.models.harness import call, connected, mirage_script, request, run_mirage
from tests.models.loopback import BEHAVIOURS, SAID, SLOW_S

pytestmark = [
    pytest.mark.server,
    # litellm keeps its connections open for the next loop, and prints odd replies as warnings
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

PROVIDERS = ["hosted_vllm", "openai"]
TRIES = 1 + TRANSPORT_RETRIES
CANARY = "sk-CANARY-0123456789abcdef"

#: What each fault has to become, and how many requests that takes.
GOOD = ["ok", "slow", "no-usage", "keeps-stop", "ignores-stop", "echoes"]
SHORT = ["length", "null-length", "huge", "surrogate"]
PASSING = [
    "busy", "busy-after", "broken", "overloaded", "tells-key", "html", "empty", "list", "truncated",
    "no-choices", "null", "number", "parts", "odd-usage", "cut", "closed", "reset",
]  # fmt: skip
FINAL = ["refused", "missing", "bad", "long", "filtered"]
ENDLESS = ["hang", "drip"]
HINTS = {
    "refused": "api_key_env",
    "missing": "name of the model",
    "long": "longer than the model can read",
    "filtered": "content filter",
    "html": "OpenAI-compatible",
    "reset": "is the server running",
}


def test_every_behaviour_has_an_expectation():
    listed = [*GOOD, *SHORT, *PASSING, *FINAL, *ENDLESS, "by-seed"]
    assert sorted(listed) == sorted(BEHAVIOURS)


# ---- faults ------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", [*GOOD, *SHORT])
def test_a_usable_reply_costs_one_request(server, provider, fault):
    reply, _, budget = asyncio.run(call(connected(server, fault, provider)))
    assert isinstance(reply, Reply)
    assert (server.count(), budget.calls) == (1, 1)
    assert len(reply.text) <= hosted.MAX_REPLY
    assert reply.text.isprintable()
    assert reply.finish == ("length" if fault in {"length", "null-length", "huge"} else "stop")
    assert reply.usage.estimated == (fault == "no-usage")
    assert reply.usage.completion_tokens > 0
    assert reply.usage.prompt_tokens > 0
    if fault in GOOD:
        assert reply.text == SAID


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_may_pass_is_tried_again_and_every_try_is_counted(server, provider, fault):
    error, session, budget = asyncio.run(call(connected(server, fault, provider)))
    assert isinstance(error, ModelError)
    assert error.retry
    assert server.count() == budget.calls == TRIES
    assert len(session.trace.of("model_error")) == TRIES


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", FINAL)
def test_a_fault_that_stays_is_not_tried_again(server, provider, fault):
    error, _, budget = asyncio.run(call(connected(server, fault, provider)))
    assert isinstance(error, ModelError)
    assert not error.retry
    assert server.count() == budget.calls == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", ENDLESS)
def test_an_endless_reply_ends_at_the_deadline_and_the_server_is_left(server, provider, fault):
    model = connected(server, fault, provider)
    started = time.monotonic()
    error, _, budget = asyncio.run(call(model, timeout_s=0.2))
    assert isinstance(error, ModelError)
    assert error.retry
    assert "no reply within 0.2 s" in str(error)
    assert server.count() == budget.calls == TRIES
    assert 0.2 * TRIES <= time.monotonic() - started < 0.2 * TRIES + 1
    for _ in range(100):
        if server.hangups == TRIES:
            break
        time.sleep(0.01)
    assert (server.hangups, server.running) == (TRIES, 0)


@pytest.mark.parametrize("fault", ENDLESS)
def test_the_budget_of_a_run_ends_an_endless_reply(server, fault):
    started = time.monotonic()
    error, _, _ = asyncio.run(call(connected(server, fault), seconds=0.3))
    assert isinstance(error, BudgetError)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_cancelling_a_call_is_quick_and_hangs_up(server, provider):
    model = connected(server, "hang", provider)

    async def go():
        task = asyncio.ensure_future(model.complete(request(), timeout_s=30))
        while not server.running:  # noqa: ASYNC110 - it counts in another thread
            await asyncio.sleep(0.01)
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    assert asyncio.run(go()) < 0.1
    time.sleep(0.1)
    assert server.hangups == 1


def test_a_server_that_is_not_there_is_named(server):
    name = "hosted_vllm/ok"
    model = hosted.connect({name: {"model": name, "api_base": "http://127.0.0.1:9/v1"}})[name]
    error, _, _ = asyncio.run(call(model))
    assert isinstance(error, ModelError)
    assert "127.0.0.1:9" in str(error)
    assert "is the server running" in str(error)


@pytest.mark.parametrize(("fault", "hint"), HINTS.items())
def test_an_error_is_one_line_of_the_providers_words_and_what_to_do(server, fault, hint):
    error, _, _ = asyncio.run(call(connected(server, fault)))
    text = str(error)
    assert text.startswith(f"hosted_vllm/{fault}: ")
    assert hint in text
    assert "\n" not in text
    assert not re.search(r"litellm|Exception|Traceback|0x[0-9a-f]{6}|\{\"error", text)


# ---- requests ----------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_was_asked_reaches_the_server(server, provider):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    model = connected(server, "ok", provider, capabilities=list(Capability), max_tokens=9)
    sent = request(
        messages=(Message("user", "Go on."), Message("assistant", "So far")),
        schema=schema,
        stop=("</search>",),
        seed=7,
        continue_last=True,
    )
    asyncio.run(model.complete(sent, timeout_s=5))
    body = server.arrivals[0].body
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert body["stop"] == ["</search>"]
    assert body["seed"] == 7
    assert body["max_tokens"] == 9
    assert body["continue_final_message"] is True
    assert body["add_generation_prompt"] is False
    assert [m["role"] for m in body["messages"]] == ["user", "assistant"]


def test_what_a_model_cannot_do_is_not_asked_of_it(server):
    model = connected(server, "ok", capabilities=[])
    asyncio.run(model.complete(request(stop=("x",), seed=7), timeout_s=5))
    assert not {"stop", "seed", "response_format"} & server.arrivals[0].body.keys()


def test_the_recipe_has_the_last_word_on_tokens(server):
    model = connected(server, "ok", max_tokens=9)
    asyncio.run(model.complete(request(settings={"max_tokens": 3}), timeout_s=5))
    assert server.arrivals[0].body["max_tokens"] == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_calls_at_one_time_are_at_one_time(server, provider):
    model, count = connected(server, "slow", provider), 32

    async def go():
        await model.complete(request(), timeout_s=5)  # the first one starts things up
        server.reset()
        started = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(model.complete(request(), timeout_s=20))
        return time.monotonic() - started

    assert asyncio.run(go()) < SLOW_S * count / 4
    assert server.most_running == count


def test_deployments_of_one_model_are_not_mixed_up(server):
    there, nowhere = server.base, "http://127.0.0.1:9/v1"
    model = "hosted_vllm/ok"
    found = hosted.connect(
        {"a": {"model": model, "api_base": there}, "b": {"model": model, "api_base": nowhere}}
    )
    assert found["a"].id != found["b"].id

    async def go():
        for _ in range(8):
            await found["a"].complete(request(), timeout_s=5)

    asyncio.run(go())
    assert server.count() == 8


def test_a_model_lives_longer_than_an_event_loop(server):
    model = connected(server, "ok")
    for _ in range(3):
        assert asyncio.run(model.complete(request(), timeout_s=5)).text == SAID


def test_connecting_leaves_nothing_behind_that_later_calls_pay_for(server):
    import litellm

    connected(server, "ok")
    before = [len(litellm.success_callback), len(litellm._async_success_callback)]
    for _ in range(3):
        connected(server, "ok")
    assert [len(litellm.success_callback), len(litellm._async_success_callback)] == before


# ---- continuing --------------------------------------------------------------------------

SO_FAR = "Let me see. <search>migraine</search>\n<result>\n[T0]\n</result>\n"


@pytest.mark.parametrize("so_far", [SO_FAR, f"<think>Hm.</think>{SO_FAR}"])
@pytest.mark.parametrize("thoughts_too", [True, False])
def test_a_server_that_repeats_what_it_continues_is_seen_through(server, so_far, thoughts_too):
    server.reset(lambda body: "and so on")
    model = connected(server, "echoes")
    sent = request(messages=(Message("user", "Go."), Message("assistant", so_far)))
    if not thoughts_too:
        server.reset(lambda body: f"{SO_FAR}and so on")
        model = connected(server, "ok")
    reply = asyncio.run(model.complete(replace(sent, continue_last=True), timeout_s=5))
    assert reply.text == "and so on"


@pytest.mark.parametrize(
    ("road", "server_kind"),
    [
        *[(r, k) for r in ("native", "chat") for k in ("ok", "keeps-stop", "ignores-stop")],
        ("native", "echoes"),
    ],
)
def test_stop_strings_kept_stripped_or_ignored_give_one_transcript(server, road, server_kind):
    able = set(Capability) if road == "native" else set(Capability) - {Capability.CONTINUE}
    deployment = {
        "model": f"hosted_vllm/{server_kind}",
        "api_base": server.base,
        "capabilities": sorted(able),
    }
    server.reset(mirage_script)
    outcome = asyncio.run(run_mirage(deployment))
    record = outcome.record
    assert record.outcome == "answered"
    assert len(record.chains) == 4
    for chain in record.chains:
        assert chain.status == "completed"
        said = [p["text"] for p in chain.transcript if p["role"] == "model"]
        assert said == [
            "Let me see. <search>migraine</search>",
            "Let me see. <search>ibuprofen</search>",
            "Let me see. <search>headache</search>",
            "Final answer: migraine has headache [T0], which ibuprofen treats [T16].",
        ]
        assert [s.status for s in chain.searches] == ["found"] * 3
        assert "I made this up" not in str(chain.transcript)
    assert server.count() == len(record.calls) == 18


# ---- retries -----------------------------------------------------------------------------


def test_a_retry_draws_another_sample(server):
    reply, _, budget = asyncio.run(call(connected(server, "by-seed")))
    assert isinstance(reply, Reply), "the same seed gives the same failure"
    assert budget.calls == 2


# ---- names, settings and keys ------------------------------------------------------------


@pytest.mark.parametrize("name", ["nosuch/model", "nonsense", "openia/gpt-4o", "hosted-vllm/x"])
def test_an_unknown_provider_is_one_clear_line(name, capfd):
    with pytest.raises(UsageError) as caught:
        hosted.connect({name: {"model": name}})
    text = str(caught.value)
    assert text.startswith(f"unknown model {name!r}: write PROVIDER/NAME")
    assert "\n" not in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"model": "openai/x", "api_key": CANARY},
        {"model": "openai/x", "concurrency": 0},
        {"model": "openai/x", "capabilities": ["telepathy"]},
    ],
)
def test_a_wrong_setting_is_one_clear_line(wrong):
    with pytest.raises(UsageError) as caught:
        hosted.connect({"fast": wrong})
    assert str(caught.value).startswith("model 'fast': ")
    assert "\n" not in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_missing_variable_is_named(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UsageError, match="no variable 'MY_KEY'"):
        hosted.connect({"m": {"model": "openai/x", "api_key_env": "MY_KEY"}})


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-3-haiku-20240307", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.0-flash", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named_and_nothing_is_tried_again(monkeypatch, model, variable):
    for name in list(os.environ):
        if "KEY" in name or "TOKEN" in name:
            monkeypatch.delenv(name)
    error, _, budget = asyncio.run(call(hosted.connect({model: {"model": model}})[model]))
    assert isinstance(error, ModelError)
    assert variable in str(error)
    assert "in the environment" in str(error)
    assert budget.calls == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_key_is_sent_only_where_it_is_meant_to_go_and_shown_nowhere(
    server, provider, ending, monkeypatch, capfd, caplog, tmp_path
):
    other = "other-CANARY-9876543210"
    monkeypatch.setenv("MY_API_KEY", CANARY + ending)
    monkeypatch.setenv("OPENAI_API_KEY", other)
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", other)
    texts = []
    for fault in ["tells-key", "refused", "html", "cut", "long"]:
        server.reset()
        model = connected(server, fault, provider, api_key_env="MY_API_KEY")
        error, session, _ = asyncio.run(call(model))
        texts += [str(error), repr(error), str(session.trace.events)]
        assert {a.authorization for a in server.arrivals} == {f"Bearer {CANARY}"}
    server.reset()
    asyncio.run(call(connected(server, "tells-key", provider)))
    assert {a.authorization for a in server.arrivals} == {"Bearer none"}
    deployment = {
        "model": f"{provider}/tells-key",
        "api_base": server.base,
        "api_key_env": "MY_API_KEY",
    }
    outcome = asyncio.run(run_mirage(deployment, runs=tmp_path))
    assert outcome.record.outcome == "failed"
    texts += [str(outcome.error), outcome.record.model_dump_json()]
    texts += [f.read_text() for f in tmp_path.rglob("*") if f.is_file()]
    texts += [*capfd.readouterr(), caplog.text]
    assert not [t for t in texts if "CANARY" in t]
    assert any("***" in t for t in texts)


# ---- the network -------------------------------------------------------------------------

WATCHED = """
import sys

reached = []


def watch(event, args):
    if event == "socket.getaddrinfo":
        reached.append(args[0])
    elif event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple):
        reached.append(args[1][0])


sys.addaudithook(watch)
import asyncio
from tests.models.harness import call, connected
from tests.models.loopback import fault_server

with fault_server() as server:
    for behaviour in ("ok", "refused", "html", "no-usage"):
        for provider in ("hosted_vllm", "openai"):
            asyncio.run(call(connected(server, behaviour, provider)))
import litellm

assert not litellm.telemetry
assert not litellm.callbacks and not litellm.success_callback and not litellm.failure_callback
print(sorted(set(map(str, reached))))
"""


def test_nothing_but_the_model_is_reached_over_the_network():
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LITELLM")}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED],
        cwd=Path(__file__).parents[2],
        env=clean,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.strip() == "['127.0.0.1']"

"""Everything that one run shares: models, budget, journal, trace; and the one place of model calls."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reasoner.chat import ChatModel, Clock, Reply, Request, Usage
from reasoner.errors import ModelError
from reasoner.op import Catalog, Context
from reasoner.runtime.budget import Budget
from reasoner.runtime.deadlines import Deadlines
from reasoner.runtime.journal import Entry, Journal, digest, key_of
from reasoner.runtime.trace import Trace

#: How often a failed call is sent again if the failure may pass, and the first pause.
TRANSPORT_RETRIES = 3
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0


@dataclass(slots=True, kw_only=True)
class Session:
    """What the steps of one run reach."""

    catalog: Catalog
    context: Context
    models: Mapping[str, ChatModel]
    journal: Journal
    trace: Trace
    clock: Clock
    seed: int = 0
    call_timeout_s: float = 120.0
    retrieved: set[str] = field(default_factory=set)
    finished: Mapping[str, Entry] = field(default_factory=dict)
    deadlines: Deadlines = field(default_factory=Deadlines)
    _gates: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    _settings: dict[object, tuple[str, object]] = field(default_factory=dict)

    async def call(
        self, role: str, request: Request, path: str, budget: Budget, *, closing: bool = False
    ) -> Reply:
        """Make one model call: from the journal if it is there, else paid, recorded and returned.

        Failures that may pass are tried again after a pause; each try counts as a call.

        Raises
        ------
        BudgetError
            If a limit is reached before or during the call.
        ModelError
            If there is no usable reply after all tries.
        """
        model = self.models[role]
        prompt = _conversation(request)
        seed = _seed(self.seed, path, prompt)
        request.seed = seed
        parts = self._parts(model, request, prompt, seed)
        key = key_of(parts)
        if (known := self.finished.get(key)) is not None:
            reply = _reply(known.value)
            self._note(role, path, reply, 0.0, cached=True)
            return reply
        gate = self._gates.get(model.id)
        if gate is None:
            gate = self._gates[model.id] = asyncio.Semaphore(model.concurrency)
        for attempt in range(TRANSPORT_RETRIES + 1):
            # Another seed for another try: a server may fail for one sample only. The key of the
            # journal stays that of the first.
            sent = replace(request, seed=seed + attempt) if attempt else request
            async with gate:
                budget.reserve(closing=closing)
                started = self.clock.monotonic()
                try:
                    reply = await self._send(model, sent, budget)
                except ModelError as error:
                    asked = error.after_s
                    self.trace.add(
                        "model_error", path, role=role, attempt=attempt, error=str(error)
                    )
                    if not error.retry or attempt == TRANSPORT_RETRIES:
                        raise
                else:
                    if not reply.text.isascii():
                        reply = replace(reply, text=_whole(reply.text))
                    budget.settle(reply.usage)
                    await self.journal.append(Entry("call", key, parts, _content(reply)))
                    self._note(role, path, reply, self.clock.monotonic() - started, cached=False)
                    return reply
            pause = max(FIRST_PAUSE_S * 2**attempt, min(asked, LONGEST_PAUSE_S))
            await self.clock.sleep(min(pause, max(0.0, budget.seconds_left())))
        raise AssertionError("the loop returns or raises")

    async def _send(self, model: ChatModel, request: Request, budget: Budget) -> Reply:
        left = budget.seconds_left()
        limit = min(self.call_timeout_s, left)
        try:
            async with self.deadlines.within(limit):
                return await model.complete(request, timeout_s=limit)
        except TimeoutError:
            if limit == left:
                raise budget.trip("seconds") from None
            message = f"{model.id}: no reply within {limit:g} s"
            raise ModelError(message, retry=True) from None

    def _parts(self, model: ChatModel, request: Request, prompt: str, seed: int) -> dict[str, str]:
        return {
            "prompt": prompt,
            "model": model.id,
            "settings": self._settings_of(request),
            "seed": str(seed),
            "graph": self.context.graph.fingerprint,
        }

    def _settings_of(self, request: Request) -> str:
        """Return the hash of what a request says beside its messages; most say the same."""
        key = (frozenset(request.settings.items()), id(request.schema), request.stop)
        known = self._settings.get(key)
        if known is None:
            settings = {k: str(v) for k, v in sorted(request.settings.items())}
            text = json.dumps([settings, request.schema, request.stop], sort_keys=True)
            # The schema is kept, so that its id is not given to another one.
            known = self._settings[key] = (digest(text), request.schema)
        return known[0]

    def _note(self, role: str, path: str, reply: Reply, seconds: float, *, cached: bool) -> None:
        self.trace.add(
            "model_call",
            path,
            role=role,
            model=reply.model,
            usage=reply.usage,
            finish=reply.finish,
            seconds=seconds,
            cached=cached,
        )


def _conversation(request: Request) -> str:
    """Return the hash of the messages of a request, each with its role and its length."""
    sha = hashlib.sha256()
    for message in request.messages:
        content = message.content.encode("utf-8", "surrogatepass")
        sha.update(f"{message.role} {len(content)}\n".encode())
        sha.update(content)
    return sha.hexdigest()


def _content(reply: Reply) -> dict[str, object]:
    """Return a reply as plain data."""
    usage = reply.usage
    return {
        "text": reply.text,
        "finish": reply.finish,
        "model": reply.model,
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "usd": usage.usd,
            "estimated": usage.estimated,
        },
    }


def _whole(text: str) -> str:
    """Return a text without lone surrogates, which no file and no record can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _seed(run: int, path: str, sample: str) -> int:
    """Return the seed of a call: it depends on the run's seed and the place, never on time."""
    text = f"{run}\n{path}\n{sample}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1


def _reply(value: Mapping[str, object]) -> Reply:
    usage = value["usage"]
    assert isinstance(usage, Mapping)  # noqa: S101 - written by `Session.call`
    return Reply(
        text=str(value["text"]),
        finish=str(value["finish"]),
        usage=Usage(**usage),
        model=str(value["model"]),
    )

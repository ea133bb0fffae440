"""Model servers on this machine's loopback: one that misbehaves to order, one that is real.

`FaultServer` speaks the OpenAI protocol and picks its behaviour by the name of the model, so
that a test chooses a fault by choosing a model. `real_server` starts llama.cpp's server on a
model of random weights that is written on the spot: real sampling, real constrained decoding,
nonsense as text.
"""

import asyncio
import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

SLOW_S = 0.2
HUGE = 20_000_000
SAID = "Final answer: ibuprofen treats migraine."

Body = dict[str, Any]
Script = Callable[[Body], str]


@dataclass(frozen=True)
class Arrival:
    """One request as it reached the server."""

    model: str
    body: Body
    authorization: str


@dataclass
class FaultServer:
    """An OpenAI-compatible server in a thread; read its counts only between requests.

    ``script`` makes the text of a reply from the body of its request.
    """

    script: Script = lambda body: SAID
    arrivals: list[Arrival] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    hangups: int = 0
    base: str = ""

    def reset(self, script: Script | None = None) -> None:
        """Forget what happened, and say something else from now on."""
        self.arrivals.clear()
        self.running = self.most_running = self.hangups = 0
        self.script = script or (lambda body: SAID)

    def count(self) -> int:
        """Return how many requests came."""
        return len(self.arrivals)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Count a request and behave as its model's name says."""
        body = await request.json()
        model = body["model"]
        self.arrivals.append(Arrival(model, body, request.headers.get("Authorization", "")))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            return await BEHAVIOURS[model](self, request, body)
        except (asyncio.CancelledError, ConnectionError):  # the client has hung up
            self.hangups += 1
            raise
        finally:
            self.running -= 1


@contextlib.contextmanager
def fault_server() -> Iterator[FaultServer]:
    """Run a `FaultServer` on a free port for as long as the block lasts."""
    server = FaultServer()
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    done = asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=50_000_000)
        app.router.add_post("/v1/chat/completions", server.answer)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await done.wait()
        await runner.cleanup()

    def work() -> None:
        with contextlib.closing(loop):
            loop.run_until_complete(serve())

    thread = threading.Thread(target=work, name="fault-server", daemon=True)
    thread.start()
    if not ready.wait(10):
        raise RuntimeError("the fault server did not start")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(10)


# ---- behaviours --------------------------------------------------------------------------

Behaviour = Callable[[FaultServer, web.Request, Body], Awaitable[web.StreamResponse]]


def completion(body: Body, text: object, finish: str = "stop", **changes: Any) -> Body:
    """Return a reply in OpenAI's form; a change to None leaves a part out."""
    message = {"role": "assistant", "content": text}
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
        **changes,
    }
    return {k: v for k, v in whole.items() if v is not None}


def stopped(text: str, stops: list[str], *, keep: bool) -> str:
    """Return a text up to its first stop string, with or without it."""
    hits = sorted((text.find(s), s) for s in stops if s in text)
    if not hits:
        return text
    at, stop = hits[0]
    return text[: at + len(stop)] if keep else text[:at]


def says(text: object = None, finish: str = "stop", delay: float = 0, **changes: Any) -> Behaviour:
    """Reply well, with the script's text or this one, as a server that leaves stop strings out."""

    async def behave(server: FaultServer, request: web.Request, body: Body) -> web.Response:
        said = server.script(body) if text is None else text
        if isinstance(said, str):
            said = stopped(said, body.get("stop") or [], keep=False)
        await asyncio.sleep(delay)
        return web.json_response(completion(body, said, finish, **changes))

    return behave


async def _keeps_stop(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    text = stopped(server.script(body), body.get("stop") or [], keep=True)
    return web.json_response(completion(body, text))


async def _ignores_stop(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    return web.json_response(completion(body, server.script(body)))


async def _echoes(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    """Go on with a last message of the assistant's by repeating it first, as llama.cpp does."""
    text = stopped(server.script(body), body.get("stop") or [], keep=False)
    last = body["messages"][-1]
    given = last["content"] if last["role"] == "assistant" else ""
    return web.json_response(completion(body, given + text))


async def _by_seed(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    """Fail for the seed that came first, whenever it comes: like constrained decoding that breaks."""
    if body["seed"] == server.arrivals[0].body["seed"]:
        return await fails(500, "does not match the expected format")(server, request, body)
    return await says()(server, request, body)


async def _null(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    return web.json_response(completion(body, None))


async def _null_length(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    return web.json_response(completion(body, None, "length"))


def fails(status: int, message: str, **headers: str) -> Behaviour:
    """Refuse with a status and an error in OpenAI's form."""

    async def behave(server: FaultServer, request: web.Request, body: Body) -> web.Response:
        error = {"message": message, "type": "error", "code": status}
        named = {k.replace("_", "-"): v for k, v in headers.items()}
        return web.json_response({"error": error}, status=status, headers=named)

    return behave


async def _tells_key(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    """Fail like a proxy that quotes the request's headers in its error."""
    message = f"upstream refused: {request.headers.get('Authorization')}"
    return web.json_response({"error": {"message": message, "code": 500}}, status=500)


def sends(data: bytes, kind: str = "application/json") -> Behaviour:
    """Reply 200 with a body that is no completion."""

    async def behave(server: FaultServer, request: web.Request, body: Body) -> web.Response:
        return web.Response(body=data, content_type=kind)

    return behave


async def _truncated(server: FaultServer, request: web.Request, body: Body) -> web.Response:
    whole = json.dumps(completion(body, SAID)).encode()
    return web.Response(body=whole[:-40], content_type="application/json")


async def _hang(server: FaultServer, request: web.Request, body: Body) -> web.StreamResponse:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits so long")


async def _drip(server: FaultServer, request: web.Request, body: Body) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:  # until the client hangs up
        await response.write(b" ")
        await asyncio.sleep(0.02)


async def _cut(server: FaultServer, request: web.Request, body: Body) -> web.StreamResponse:
    """Promise 500 bytes, send some and close."""
    response = web.StreamResponse(
        headers={"Content-Type": "application/json", "Content-Length": "500"}
    )
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl-1", ')
    assert request.transport is not None
    request.transport.close()
    return response


async def _closed(server: FaultServer, request: web.Request, body: Body) -> web.StreamResponse:
    """Close without a word."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def _reset(server: FaultServer, request: web.Request, body: Body) -> web.StreamResponse:
    """Tear the connection down, as a balancer does whose server has died."""
    assert request.transport is not None
    raw = request.transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()
    return web.Response()


LONG_CONTEXT = (
    "This model's maximum context length is 4096 tokens. However, your messages resulted in "
    "9000 tokens."
)
BEHAVIOURS: dict[str, Behaviour] = {
    "ok": says(),
    "slow": says(delay=SLOW_S),
    "busy": fails(429, "Rate limit reached"),
    "busy-after": fails(429, "Rate limit reached", retry_after="1"),
    "broken": fails(500, "boom"),
    "overloaded": fails(503, "overloaded"),
    "refused": fails(401, "Incorrect API key provided"),
    "missing": fails(404, "no such model"),
    "bad": fails(400, "bad parameter"),
    "long": fails(400, LONG_CONTEXT),
    "tells-key": _tells_key,
    "hang": _hang,
    "drip": _drip,
    "huge": says("A" * HUGE),
    "html": sends(b"<html><body>502 Bad Gateway</body></html>", "text/html"),
    "empty": sends(b""),
    "list": sends(b"[]"),
    "truncated": _truncated,
    "no-choices": says(choices=[]),
    "null": _null,
    "null-length": _null_length,
    "filtered": says("", "content_filter"),
    "number": says(42),
    "parts": says([{"type": "text", "text": SAID}]),
    "surrogate": says("Final answer: \ud800 nothing."),
    "no-usage": says(usage=None),
    "odd-usage": says(usage={"prompt_tokens": "many", "completion_tokens": -5}),
    "cut": _cut,
    "closed": _closed,
    "reset": _reset,
    "keeps-stop": _keeps_stop,
    "ignores-stop": _ignores_stop,
    "echoes": _echoes,
    "by-seed": _by_seed,
    "length": says("a reply without an", "length"),
}


# ---- a real server -----------------------------------------------------------------------


@contextlib.contextmanager
def real_server(folder: Path, *, seed: int = 0, most_tokens: int = 32) -> Iterator[str]:
    """Serve a model of random weights from a process of its own; the block gets its address.

    No reply has more than ``most_tokens`` tokens.
    """
    from tests.models import random_llm

    model = folder / f"random-{seed}.gguf"
    random_llm.write(model, seed)
    command = [sys.executable, random_llm.__file__, str(model), str(most_tokens)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address.startswith("http"):
            process.kill()
            raise RuntimeError("the model server did not start")
        try:
            yield f"{address}/v1"
        finally:
            process.terminate()

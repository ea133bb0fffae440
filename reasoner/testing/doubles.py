"""Test doubles that are peers of the real things: a scripted model, a clock, a small graph."""

import asyncio
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reasoner import api
from reasoner.chat import Capability, Reply, Request, Usage
from reasoner.errors import ModelError
from reasoner.op import Context, Similarity
from reasoner.values import Linked

#: What a script gives for a request: a text, an error to raise, or a whole reply.
Scripted = str | Reply | ModelError
Script = Callable[[Request], Scripted] | Sequence[Scripted]


@dataclass
class ScriptedModel:
    """A model that says what a test wants, and remembers what it was asked.

    ``script`` is a function of the request, or replies that are used up in order. ``delay`` gives
    the seconds that a request takes (real ones), to shuffle the order in which calls finish.
    """

    script: Script
    id: str = "scripted"
    capabilities: frozenset[Capability] = frozenset(Capability)
    concurrency: int = 64
    tasks: frozenset[str] | None = None
    delay: Callable[[Request], float] | None = None
    usage: Usage = field(default_factory=lambda: Usage(10, 5))
    requests: list[Request] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    async def complete(self, request: Request, *, timeout_s: float) -> Reply:
        """Return or raise what the script says."""
        del timeout_s
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            if self.delay is not None:
                await asyncio.sleep(self.delay(request))
            else:
                await asyncio.sleep(0)
        finally:
            self.running -= 1
        if callable(self.script):
            said = self.script(request)
        else:
            index = len(self.requests) - 1
            if index >= len(self.script):
                raise ModelError(f"{self.id}: the script has only {len(self.script)} replies")
            said = self.script[index]
        match said:
            case ModelError():
                raise said
            case Reply():
                return said
            case str():
                return Reply(text=said, usage=self.usage, model=self.id)

    @property
    def prompts(self) -> list[str]:
        """What was sent, each call as one text, in the order in which calls started."""
        return ["\n".join(f"{m.role}: {m.content}" for m in r.messages) for r in self.requests]


def shuffled(seed: int, most_s: float = 0.005) -> Callable[[Request], float]:
    """Return delays that look random and depend only on the seed and the request."""

    def delay(request: Request) -> float:
        text = f"{seed}{request.messages[-1].content}{len(request.messages)}"
        key = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        return random.Random(key).random() * most_s  # noqa: S311 - a test's schedule

    return delay


@dataclass
class FakeClock:
    """A clock that moves only when it is told to, or when something sleeps."""

    now: float = 0.0

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        return self.now

    def wall(self) -> float:
        """Return a fixed day."""
        return 1_700_000_000.0 + self.now

    async def sleep(self, seconds: float) -> None:
        """Move on without waiting."""
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class WordEmbedder:
    """Similarity by shared words: no weights, instant, deterministic."""

    id: str = "words"

    async def similarity(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the share of words that two texts have in common (Jaccard)."""
        mine = set(text.casefold().split())
        found = []
        for other in others:
            theirs = set(other.casefold().split())
            found.append(round(len(mine & theirs) / max(1, len(mine | theirs)), 6))
        return found


@dataclass
class LiteralLinker:
    """Links names that are spelt as in the graph, and nothing else."""

    names: Mapping[str, Linked] = field(default_factory=dict)

    async def link(self, mentions: Sequence[str], *, tau: float, sim: Similarity) -> list[Linked]:
        """Link each mention by its folded name."""
        del tau, sim
        from reasoner.values import LinkMethod

        missing = Linked("", None, 0.0, LinkMethod.NONE)
        found = []
        for mention in mentions:
            hit = self.names.get(mention.casefold().strip(), missing)
            found.append(Linked(mention, hit.entity, hit.score, hit.method))
        return found

    async def names_in(self, text: str) -> list[Linked]:
        """Return the names that a text holds, in order of their first places."""
        folded = text.casefold()
        hits = [(folded.find(name), name) for name in self.names if name in folded]
        return [self.names[name] for _, name in sorted(hits)]

    async def nearest(self, text: str, limit: int) -> list[Linked]:
        """Return names by shared words."""
        ranked = await WordEmbedder().similarity(text, list(self.names))
        order = sorted(zip(self.names, ranked, strict=True), key=lambda p: (-p[1], p[0]))
        return [self.names[name] for name, _ in order[:limit]]


def tiny_kg(graph: str = "tiny", cache: Path | None = None) -> Context:
    """Return a context over a bundled graph with doubles that need no weights."""
    from reasoner.values import Entity, EntityId, LinkMethod

    kg = api.open_graph(graph, cache)
    names = {
        name.casefold(): Linked(name, Entity(EntityId(i), name), 1.0, LinkMethod.EXACT)
        for i, name in enumerate(kg.store.names)
    }
    return Context(graph=kg, linker=LiteralLinker(names=names), embedder=WordEmbedder())

"""The frontier: a queue of scored thoughts that is visited best first and grown from what was found."""

import asyncio
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from reasoner import plan as p
from reasoner.errors import BudgetError, RunError, StepError
from reasoner.runtime.calc import number, resolve
from reasoner.runtime.failures import first_of
from reasoner.runtime.scope import Runner, Scope, Values

#: How much a rarely visited branch is preferred under ``select: "ucb"``.
EXPLORATION = 1.0


@dataclass(frozen=True, slots=True)
class Thought:
    """An item of the queue; ``sequence`` counts every item ever pushed."""

    item: object
    score: Decimal
    depth: int
    sequence: int
    parent: int = -1

    @property
    def order(self) -> tuple[Decimal, int, int]:
        """The total order of popping: score descending, then depth, then sequence."""
        return (-self.score, self.depth, self.sequence)


@dataclass(slots=True)
class Frontier:
    """One running frontier."""

    runner: Runner
    step: p.FrontierStep
    values: Values
    scope: Scope
    queue: list[Thought] = field(default_factory=list)
    ever: list[object] = field(default_factory=list)
    results: list[object] = field(default_factory=list)
    visited: list[Thought] = field(default_factory=list)

    async def run(self) -> tuple[object, ...]:
        """Visit and grow until the depth is reached, the queue is empty or nothing is new."""
        items = resolve(self.step.items, self.values)
        assert isinstance(items, tuple | list)  # noqa: S101 - the checker saw to it
        path = self.scope.path(self.step.id)
        await self._push(self._first(items, self.step.bound, path), 0)
        for depth in range(1, self.step.depth + 1):
            batch = self._pop(depth)
            if not batch:
                break
            try:
                await self._visit(batch, depth)
                if depth == self.step.depth or not await self._grow(depth):
                    break
            except BudgetError:
                if not self.results:
                    raise
                break
        return tuple(self.results)

    def _first(self, items: Sequence[object], most: int, place: str) -> Sequence[object]:
        """Return the items within a bound; those beyond it are noted."""
        if len(items) > most:
            dropped = len(items) - most
            self.runner.session.trace.add("truncated", place, kept=most, dropped=dropped)
        return items[:most]

    async def _push(self, items: Sequence[object], depth: int) -> int:
        """Score and queue the items that were never pushed before; return how many."""
        fresh: list[object] = []
        for item in items:
            if await self._novel(item, fresh):
                fresh.append(item)
        first = len(self.ever)
        self.ever += fresh
        scores: list[Decimal] = [Decimal(0)] * len(fresh)
        path = self.scope.path(self.step.id)

        async def score(index: int, item: object) -> None:
            if self.step.score is not None:
                scores[index] = await self._score(self.step.score, item, first + index, path)

        await _together([score(i, item) for i, item in enumerate(fresh)])
        self.queue += [
            Thought(item, s, depth, first + i)
            for i, (item, s) in enumerate(zip(fresh, scores, strict=True))
        ]
        return len(fresh)

    async def _score(self, part: p.Inner, item: object, sequence: int, path: str) -> Decimal:
        """Return a score in [0, 1]; one that is no number counts as 0, with a notice."""
        place = f"{path}.score[{sequence}]"
        trace = self.runner.session.trace
        try:
            given = await self.runner.inner(part, (item,), self.values, self.scope, place)
            return min(Decimal(1), max(Decimal(0), number(given)))
        except StepError:
            if not any(e.path.startswith(place) for e in trace.of("misfit")):
                raise  # not a reply without a number, but a call without a reply
        except RunError as error:
            trace.add("misfit", place, attempt=0, reason=str(error), reply="")
        return Decimal(0)

    async def _novel(self, item: object, fresh: Sequence[object]) -> bool:
        """Say whether an item differs from everything that was ever pushed."""
        known = [*self.ever, *fresh]
        if not isinstance(item, str):
            return item not in known
        folded = " ".join(item.casefold().split())
        texts = [k for k in known if isinstance(k, str)]
        if any(" ".join(k.casefold().split()) == folded for k in texts):
            return False
        if self.step.novelty >= 1 or not texts:
            return True
        likeness = await self.runner.session.context.embedder.similarity(item, texts)
        return max(likeness) < float(self.step.novelty)

    def _pop(self, depth: int) -> list[Thought]:
        """Take the next batch out of the queue, in the total order."""
        queue = self.queue
        if self.step.scope == "level":
            queue = [t for t in queue if t.depth == depth - 1]
        ordered = sorted(queue, key=lambda t: t.order)
        match self.step.select:
            case "all":
                batch = ordered[: self.step.best]
            case "sample":
                batch = self._sampled(ordered, depth)
            case "ucb":
                batch = sorted(ordered, key=self._ucb)[: self.step.best]
            case _:
                batch = ordered[: self.step.best]
        taken = {t.sequence for t in batch}
        left = queue if self.step.scope == "level" else self.queue
        self.queue = [t for t in left if t.sequence not in taken]
        return sorted(batch, key=lambda t: t.order)

    def _sampled(self, ordered: list[Thought], depth: int) -> list[Thought]:
        """Draw without repetition, each with a chance in proportion to its score."""
        source = random.Random(f"{self.step.seed}:{depth}")  # noqa: S311 - a seeded schedule
        pool = list(ordered)
        batch: list[Thought] = []
        while pool and len(batch) < self.step.best:
            shares = [float(t.score) + 1e-9 for t in pool]
            batch.append(pool.pop(source.choices(range(len(pool)), shares)[0]))
        return batch

    def _ucb(self, thought: Thought) -> tuple[float, int, int]:
        """Order by score plus a bonus for depths that were visited less."""
        same = sum(t.depth == thought.depth for t in self.visited)
        bonus = EXPLORATION * math.sqrt(math.log(len(self.visited) + 1) / (same + 1))
        return (-(float(thought.score) + bonus), thought.depth, thought.sequence)

    async def _visit(self, batch: Sequence[Thought], depth: int) -> None:
        """Run the visits of a batch in parallel; results keep the order of popping.

        Raises
        ------
        BudgetError
            If a limit ended one of them; the results of the others are kept.
        """
        path = self.scope.path(self.step.id)
        found: dict[int, object] = {}
        refused: dict[int, BudgetError] = {}

        async def visit(index: int, thought: Thought) -> None:
            place = f"{path}[{thought.sequence}]"
            self.runner.session.trace.add(
                "thought", place, item=str(thought.item), score=str(thought.score), depth=depth
            )
            try:
                found[index] = await self.runner.inner(
                    self.step.visit, (thought.item,), self.values, self.scope, place
                )
            except BudgetError as error:
                refused[index] = error

        await _together([visit(i, t) for i, t in enumerate(batch)])
        self.results += [found[index] for index in sorted(found)]
        self.visited += batch
        if refused:
            raise refused[min(refused)]

    async def _grow(self, depth: int) -> bool:
        """Push what grows from the results so far; say whether there is anything to go on with."""
        if self.step.grow is None:
            return bool(self.queue)
        place = f"{self.scope.path(self.step.id)}.grow[{depth}]"
        grown = await self.runner.inner(
            self.step.grow, (tuple(self.results),), self.values, self.scope, place
        )
        assert isinstance(grown, tuple | list)  # noqa: S101 - the checker saw to it
        fresh = await self._push(self._first(grown, self.step.grown, place), depth)
        return fresh > 0 or (self.step.drain and bool(self.queue))


async def run(
    runner: Runner, step: p.FrontierStep, values: Values, scope: Scope
) -> tuple[object, ...]:
    """Run a frontier; return the results of its visits, in the order of popping."""
    return await Frontier(runner, step, values, scope).run()


async def _together(work: Sequence[object]) -> None:
    """Run coroutines in parallel; the first failure cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)  # type: ignore[arg-type]
    except BaseExceptionGroup as failures:
        failure = first_of(failures)
        raise failure from failure.__cause__

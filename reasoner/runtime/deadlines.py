"""Deadlines of many calls with one timer.

``asyncio.timeout`` makes and cancels a timer for every call, which costs more than the rest of a
step. Here deadlines wait in a heap; one timer is set for the nearest, and calls that ended in
time are dropped when it fires.
"""

import asyncio
import heapq
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass(slots=True, order=True)
class _Entry:
    """A task that has to be done by ``when`` (on the loop's clock)."""

    when: float
    number: int
    task: "asyncio.Task[object] | None" = field(compare=False)
    expired: bool = field(default=False, compare=False)


@dataclass(slots=True)
class Deadlines:
    """The deadlines of one event loop."""

    _heap: list[_Entry] = field(default_factory=list)
    _count: int = 0
    _timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> "Deadline":
        """Return a context that raises `TimeoutError` if its body takes longer."""
        return Deadline(self, seconds)

    def _add(self, seconds: float) -> _Entry:
        loop = asyncio.get_running_loop()
        self._count += 1
        entry = _Entry(loop.time() + seconds, self._count, asyncio.current_task())
        heapq.heappush(self._heap, entry)
        if self._timer is None or entry.when < self._timer.when():
            self._arm(loop)
        return entry

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the timer to the nearest deadline that is still waited for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._heap and self._heap[0].task is None:
            heapq.heappop(self._heap)
        if self._heap:
            self._timer = loop.call_at(self._heap[0].when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._heap and (self._heap[0].task is None or self._heap[0].when <= loop.time()):
            entry = heapq.heappop(self._heap)
            if entry.task is not None:
                entry.expired = True
                entry.task.cancel()
        self._arm(loop)

    def close(self) -> None:
        """Take the timer back: nothing waits any more."""
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


@dataclass(slots=True)
class Deadline:
    """One deadline; as in `asyncio.timeout`, a cancellation from elsewhere passes through."""

    _all: Deadlines
    _seconds: float
    _entry: _Entry | None = None
    _cancelling: int = 0

    async def __aenter__(self) -> Self:
        """Start the clock."""
        if self._seconds != float("inf"):
            self._entry = self._all._add(self._seconds)
            task = self._entry.task
            self._cancelling = task.cancelling() if task is not None else 0
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the clock; turn the cancellation that it caused into a `TimeoutError`."""
        entry = self._entry
        if entry is None:
            return
        task, entry.task = entry.task, None
        if entry.expired and task is not None:
            mine = task.uncancel() <= self._cancelling
            if mine and kind is not None and issubclass(kind, asyncio.CancelledError):
                raise TimeoutError from error

"""What happens in a run, as events that tests, displays and the record read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Event:
    """Something that happened at a place of the expanded plan.

    ``path`` is the step with the index of each ``each`` around it (``chains[2].explore``);
    ``order`` counts the events of one path, so that a sorted trace does not depend on timing.
    """

    kind: str
    path: str
    order: int
    data: Mapping[str, Any]


Listener = Callable[[Event], None]


@dataclass(slots=True)
class Trace:
    """Collects events and passes each on to a listener as it comes."""

    listener: Listener | None = None
    events: list[Event] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, path: str, /, **data: Any) -> None:
        """Note that something happened."""
        order = self._counts.get(path, 0)
        self._counts[path] = order + 1
        event = Event(kind, path, order, data)
        self.events.append(event)
        if self.listener is not None:
            self.listener(event)

    def of(self, kind: str) -> list[Event]:
        """Return the events of one kind, sorted by path and order: independent of timing."""
        return sorted(
            (e for e in self.events if e.kind == kind), key=lambda e: (natural(e.path), e.order)
        )


def natural(path: str) -> tuple[tuple[int, str, int], ...]:
    """Return a sort key under which ``a[10]`` follows ``a[9]``."""
    parts = path.replace("]", "").replace("[", "\0").replace(".", "\0").split("\0")
    return tuple((0, "", int(p)) if p.isdigit() else (1, p, 0) for p in parts)

"""Where a block runs: its place in the expanded plan, and the budget around it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from reasoner.plan import Inner
from reasoner.runtime.budget import Budget
from reasoner.runtime.session import Session

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Scope:
    """A place of the expanded plan."""

    budget: Budget
    prefix: str = ""  # with indices: "chains[2]"
    base: str = ""  # as in the plan: "chains"

    def path(self, step: str) -> str:
        """Return the place of a step, with the index of each repetition around it."""
        return self.prefix + step[len(self.base) :] if self.base else step


class Runner(Protocol):
    """The part of the executor that forms use."""

    session: Session

    async def inner(
        self, inner: Inner, given: Sequence[object], values: Values, scope: Scope, path: str
    ) -> object:
        """Run a block inside a step, with its variables set."""
        ...

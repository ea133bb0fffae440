"""Budgets: limits that are checked before anything is paid, and end a run gracefully."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from reasoner.chat import Clock, Usage
from reasoner.errors import BudgetError


@dataclass(slots=True)
class Budget:
    """Limits of calls, tokens, dollars and seconds for a run or for a part of one.

    A call is reserved before it is made and settled when it has ended, so that parallel calls
    never overdraw the limit of calls. Tokens and dollars are known only afterwards: no call
    starts once they are used up. ``closing`` calls are kept back for the last step of a run,
    so that it can still answer from what is there.

    Invariant: ``calls <= limits["calls"]``.
    """

    clock: Clock
    limits: Mapping[str, Decimal] = field(default_factory=dict)
    closing: int = 0
    outer: "Budget | None" = None
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    started: float = 0.0
    tripped: str | None = None

    def __post_init__(self) -> None:
        """Start the clock."""
        self.started = self.clock.monotonic()

    def reserve(self, *, closing: bool = False) -> None:
        """Take one call out of this budget and the ones around it, or say which limit is reached.

        Raises
        ------
        BudgetError
            If a limit is reached; nothing is taken then.
        """
        budget: Budget | None = self
        while budget is not None:
            budget._refuse_if_used_up(closing=closing)
            budget = budget.outer
        budget = self
        while budget is not None:
            budget.calls += 1
            budget = budget.outer

    def settle(self, usage: Usage) -> None:
        """Note what a call has cost."""
        budget: Budget | None = self
        while budget is not None:
            budget.tokens += usage.prompt_tokens + usage.completion_tokens
            budget.usd += usage.usd
            budget = budget.outer

    def seconds_left(self) -> float:
        """Return how long this budget and those around it still last."""
        own = float("inf")
        if "seconds" in self.limits:
            own = float(self.limits["seconds"]) - (self.clock.monotonic() - self.started)
        return min(own, self.outer.seconds_left() if self.outer else float("inf"))

    def trip(self, limit: str) -> BudgetError:
        """Note that a limit was reached and return the error that says so."""
        budget: Budget | None = self
        while budget is not None:
            budget.tripped = budget.tripped or limit
            budget = budget.outer
        return BudgetError(limit)

    def _refuse_if_used_up(self, *, closing: bool) -> None:
        limit = self.limits.get("calls")
        if limit is not None:
            kept = 0 if closing else min(self.closing, max(0, int(limit) - 1))
            if self.calls >= int(limit) - kept:
                raise self.trip(f"calls: {int(limit)}")
        if "tokens" in self.limits and self.tokens >= self.limits["tokens"]:
            raise self.trip(f"tokens: {self.limits['tokens']}")
        if "usd" in self.limits and self.usd >= float(self.limits["usd"]):
            raise self.trip(f"usd: {self.limits['usd']}")
        if self.seconds_left() <= 0:
            raise self.trip(f"seconds: {self.limits.get('seconds', '')}".rstrip(": "))

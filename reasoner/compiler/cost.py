"""What a plan can cost at most, before it runs: model calls, searches, embedded texts."""

from dataclasses import dataclass
from typing import assert_never

from reasoner import plan as p
from reasoner.op import Catalog


@dataclass(frozen=True, slots=True)
class Cost:
    """Upper bounds of one run."""

    calls: int = 0
    searches: int = 0
    embeddings: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Return the bound of doing both."""
        return Cost(
            self.calls + other.calls,
            self.searches + other.searches,
            self.embeddings + other.embeddings,
        )

    def times(self, count: int) -> "Cost":
        """Return the bound of doing this ``count`` times."""
        return Cost(self.calls * count, self.searches * count, self.embeddings * count)


@dataclass(frozen=True, slots=True)
class Line:
    """The bound of one step, with the formula of its model calls."""

    step: str
    depth: int
    times: int
    cost: Cost
    formula: str


def price(plan: p.Plan, catalog: Catalog) -> tuple[Cost, list[Line]]:
    """Return the bound of a whole plan and of each of its steps, in order."""
    lines: list[Line] = []
    return _block(plan.body, catalog, 0, 1, lines), lines


def _block(block: p.Block, catalog: Catalog, depth: int, times: int, lines: list[Line]) -> Cost:
    total = Cost()
    for step in block.steps:
        total += _step(step, catalog, depth, times, lines)
    return total


def _step(step: p.Step, catalog: Catalog, depth: int, times: int, lines: list[Line]) -> Cost:
    slot = len(lines)
    match step:
        case p.OpStep():
            spec = catalog[step.op]
            cost, formula = Cost(0, spec.searches, spec.embeddings), ""
        case p.AskStep():
            cost, formula = Cost(1 + step.retries), f"1 + {step.retries} retries"
        case p.EachStep():
            inner = _block(step.body, catalog, depth + 1, times * step.bound, lines)
            cost, formula = inner.times(step.bound), f"{step.bound} x {inner.calls}"
        case p.DialogStep():
            cost, formula = _dialog(step, catalog, depth, times, lines)
        case p.BudgetStep():
            cost = _block(step.body, catalog, depth + 1, times, lines)
            formula = str(cost.calls)
            if "calls" in step.limits and int(step.limits["calls"]) < cost.calls:
                cost = Cost(int(step.limits["calls"]), cost.searches, cost.embeddings)
                formula = f"min({formula}, {step.limits['calls']})"
        case _:
            assert_never(step)
    lines.insert(slot, Line(step.id, depth, times, cost, formula))
    return cost


def _dialog(
    step: p.DialogStep, catalog: Catalog, depth: int, times: int, lines: list[Line]
) -> tuple[Cost, str]:
    worst = Cost()
    for handler in step.handlers:
        inner = _block(handler.body, catalog, depth + 1, times * step.searches, lines)
        worst = Cost(
            max(worst.calls, inner.calls),
            max(worst.searches, inner.searches),
            max(worst.embeddings, inner.embeddings),
        )
    cost = Cost(step.turns + 1) + worst.times(step.searches)
    formula = f"{step.turns} turns + 1 final answer"
    if worst.calls:
        formula += f" + {step.searches} x {worst.calls}"
    return cost, formula

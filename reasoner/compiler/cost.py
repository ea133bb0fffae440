"""What a plan can cost at most, before it runs: model calls, searches, embedded texts."""

from collections.abc import Callable
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

    def either(self, other: "Cost") -> "Cost":
        """Return the bound of doing one of both."""
        return Cost(
            max(self.calls, other.calls),
            max(self.searches, other.searches),
            max(self.embeddings, other.embeddings),
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

    def inside(inner: p.Inner | None, count: int = 1) -> Cost:
        if inner is None:
            return Cost()
        return _block(inner.body, catalog, depth + 1, times * count, lines)

    match step:
        case p.OpStep():
            spec = catalog[step.op]
            cost, formula = Cost(0, spec.searches, spec.embeddings), ""
        case p.CalcStep():
            cost, formula = Cost(), ""
        case p.AskStep():
            cost, formula = Cost(1 + step.retries), f"1 + {step.retries} retries"
        case p.EachStep() | p.FoldStep():
            part = inside(step.inner, step.bound)
            cost, formula = part.times(step.bound), f"{step.bound} x {part.calls}"
        case p.DialogStep():
            worst = Cost()
            for handler in step.handlers:
                worst = worst.either(inside(handler.inner, step.searches))
            cost = Cost(step.turns + 1) + worst.times(step.searches)
            formula = f"{step.turns} turns + 1 final answer"
            if worst.calls:
                formula += f" + {step.searches} x {worst.calls}"
        case p.BudgetStep():
            cost = inside(step.inner)
            formula = str(cost.calls)
            if "calls" in step.limits and int(step.limits["calls"]) < cost.calls:
                formula = f"min({formula}, {step.limits['calls']})"
                cost = Cost(int(step.limits["calls"]), cost.searches, cost.embeddings)
        case p.IfStep():
            then, other = inside(step.then), inside(step.otherwise)
            cost, formula = then.either(other), f"max({then.calls}, {other.calls})"
        case p.FirstStep():
            parts = [inside(a) for a in step.alternatives]
            tests = inside(step.accept, len(parts)).times(len(parts))
            cost = sum(parts, tests)
            formula = " + ".join(str(c.calls) for c in parts)
        case p.LoopStep():
            part = inside(step.inner, step.limit) + inside(step.until, step.limit)
            cost, formula = part.times(step.limit), f"{step.limit} x {part.calls}"
        case p.MatrixStep():
            cost, formula = _matrix(step, inside)
        case p.FrontierStep():
            cost, formula = _frontier(step, inside)
        case _:
            assert_never(step)
    lines.insert(slot, Line(step.id, depth, times, cost, formula if cost.calls else ""))
    return cost


_Inside = Callable[[p.Inner | None, int], Cost]


def _matrix(step: p.MatrixStep, inside: _Inside) -> tuple[Cost, str]:
    """Bound a matrix: rows * columns cells, and one column part and one summary a column."""
    rows, columns = step.rows, step.columns
    column, cell = inside(step.column, columns), inside(step.cell, rows * columns)
    summary = inside(step.summary, columns)
    cost = cell.times(rows * columns) + (column + summary).times(columns)
    return cost, f"{rows} x {columns} x {cell.calls} + {columns} x {column.calls + summary.calls}"


def _frontier(step: p.FrontierStep, inside: _Inside) -> tuple[Cost, str]:
    """Bound a frontier: best * depth visits, growth between depths, a score for each item."""
    visits = step.best * step.depth
    rounds = step.depth - 1 if step.grow is not None else 0
    items = step.bound + rounds * step.grown
    score, visit = inside(step.score, items), inside(step.visit, visits)
    grow = inside(step.grow, max(1, rounds))
    cost = score.times(items) + visit.times(visits) + grow.times(rounds)
    return cost, f"{items} x {score.calls} + {visits} x {visit.calls} + {rounds} x {grow.calls}"

"""A recipe over questions: one record and one row of scores for each, then a table."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reasoner import api
from reasoner.errors import ReasonerError, UsageError
from reasoner.evals.dataset import Row
from reasoner.evals.metrics import mean, metric, wilson
from reasoner.plan import Plan
from reasoner.record import AuditRecord


@dataclass(frozen=True, slots=True)
class Result:
    """One question with its scores (None where a metric does not apply) and its record."""

    row: Row
    scores: Mapping[str, float | None]
    record: AuditRecord


async def evaluate(
    plan: Plan,
    rows: Sequence[Row],
    metrics: Sequence[str],
    settings: api.RunSettings,
    *,
    concurrency: int = 8,
    done: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Run a plan on every question, in parallel, and score the answers.

    A failed run scores 0 wherever a metric applies: no question is left out.

    Returns
    -------
    list of Result
        In the order of ``rows``.
    """
    chosen = {name: metric(name) for name in metrics}
    context = api.open_context(
        settings.graph, settings.embedder or api.pinned_embedder(plan), settings.cache
    )
    models = api.connect(settings.models, plan, context)
    gate = asyncio.Semaphore(concurrency)
    results: list[Result | None] = [None] * len(rows)

    async def work(index: int, row: Row) -> None:
        async with gate:
            outcome = await api.run_plan(
                plan, row.inputs, settings, run_id=f"q{row.number}", context=context, models=models
            )
        record = outcome.record
        scores = {name: score(row, record) for name, score in chosen.items()}
        result = results[index] = Result(row, scores, record)
        if done is not None:
            done(result)

    try:
        async with asyncio.TaskGroup() as group:
            for index, row in enumerate(rows):
                group.create_task(work(index, row))
    except* ReasonerError as failures:
        raise failures.exceptions[0] from None
    return [r for r in results if r is not None]


@dataclass(frozen=True, slots=True)
class Cell:
    """The mean of a metric over a group, with its 95% interval (Wilson) and the rows it is over."""

    mean: float
    low: float
    high: float
    n: int


def summarise(
    results: Sequence[Result], metrics: Sequence[str], by: str | None
) -> dict[str, dict[str, Cell]]:
    """Return the table: group -> metric -> cell; the first group is ``all``.

    Raises
    ------
    UsageError
        If a row has no field ``by``.
    """
    groups: dict[str, list[Result]] = {"all": list(results)}
    if by is not None:
        for result in results:
            if by not in result.row.fields:
                raise UsageError(f"line {result.row.number}: no field {by!r} to group by")
            groups.setdefault(f"{by} {result.row.fields[by]}", []).append(result)
    table: dict[str, dict[str, Cell]] = {}
    for group in sorted(groups, key=lambda g: (g != "all", g)):
        cells = {}
        for name in metrics:
            values = [s for r in groups[group] if (s := r.scores[name]) is not None]
            low, high = wilson(sum(values), len(values))
            cells[name] = Cell(mean(values), low, high, len(values))
        table[group] = cells
    return table


def save(results: Sequence[Result], path: Path) -> None:
    """Write one row per question as parquet: scores, candidates, answer and the whole record."""
    frame = pl.DataFrame(
        {
            "line": [r.row.number for r in results],
            "question": [next(iter(r.row.inputs.values()), "") for r in results],
            "gold": [list(r.row.gold) for r in results],
            "outcome": [r.record.outcome for r in results],
            "answer": [r.record.answer for r in results],
            "candidates": [[c.name for c in r.record.candidates] for r in results],
            "calls": [r.record.budget.calls for r in results],
            "tokens": [r.record.budget.tokens for r in results],
            "usd": [r.record.budget.usd for r in results],
            "seconds": [r.record.budget.seconds for r in results],
            "record": [r.record.model_dump_json() for r in results],
            **{name: [r.scores[name] for r in results] for name in results[0].scores},
        }
    )
    try:
        frame.write_parquet(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None

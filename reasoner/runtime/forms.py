"""Forms that repeat or choose: first of, loop, fold, matrix."""

import asyncio
import math
import re
from decimal import Decimal

from reasoner import plan as p
from reasoner.errors import BudgetError, RunError
from reasoner.runtime.calc import is_empty, resolve
from reasoner.runtime.failures import first_of
from reasoner.runtime.scope import Runner, Scope, Values

_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")


async def first(runner: Runner, step: p.FirstStep, values: Values, scope: Scope) -> object:
    """Return the value of the first alternative that passes; of the last if none does."""
    value: object = None
    for number, alternative in enumerate(step.alternatives):
        value = await runner.inner(alternative, (), values, scope, scope.path(alternative.id))
        if step.accept is None:
            passed = not is_empty(value)
        else:
            path = f"{scope.path(step.id)}.accept[{number}]"
            passed = bool(await runner.inner(step.accept, (value,), values, scope, path))
        if passed:
            break
    return value


async def loop(runner: Runner, step: p.LoopStep, values: Values, scope: Scope) -> object:
    """Run rounds until the condition holds or the limit is reached.

    A budget that ends a round gives the state of the last whole one.

    Raises
    ------
    RunError
        If the limit is reached with ``on_limit fail``.
    """
    path = scope.path(step.id)
    state, whole = resolve(step.init, values), 0
    for number in range(step.limit):
        place = f"{path}[{number}]"
        try:
            state = await runner.inner(step.inner, (state,), values, scope, place)
            whole += 1
            done = step.until is not None and await runner.inner(
                step.until, (state,), values, scope, f"{place}.until"
            )
        except BudgetError:
            if whole == 0:
                raise
            return state
        if done:
            return state
    if step.until is None:
        return state
    runner.session.trace.add("loop_limit", path, rounds=step.limit)
    if step.on_limit == "return":
        return state
    if step.on_limit == "fail":
        raise RunError(f"the condition did not hold after {step.limit} rounds")
    return resolve(step.default, values) if step.default is not None else state


async def fold(runner: Runner, step: p.FoldStep, values: Values, scope: Scope) -> object:
    """Pass a state through the items, one after another."""
    path = scope.path(step.id)
    state = resolve(step.init, values)
    items = resolve(step.items, values)
    assert isinstance(items, tuple | list)  # noqa: S101 - the checker saw to it
    for number, item in enumerate(items[: step.bound]):
        try:
            place = f"{path}[{number}]"
            state = await runner.inner(step.inner, (item, state), values, scope, place)
        except BudgetError:
            if number == 0:
                raise
            break
    return state


async def matrix(runner: Runner, step: p.MatrixStep, values: Values, scope: Scope) -> object:
    """Think in a matrix of texts, column by column; return the last summary.

    Matrix of Thought: cell ``(i, j)`` is passed the last ``ceil(alpha * paragraphs)`` paragraphs of
    the cell above it, row 1 the summary of the column before. A weight of 0 passes nothing, so
    those cells do not wait for one another.
    """
    path = scope.path(step.id)
    previous = ""
    for column in range(step.columns):
        place = f"{path}[{column}]"
        try:
            shared = None
            if step.column is not None:
                shared = await runner.inner(
                    step.column, (previous,), values, scope, f"{place}.column"
                )
            cells = await _column(runner, step, values, scope, column, previous, shared)
            summed = await runner.inner(
                step.summary, (previous, tuple(cells), shared), values, scope, f"{place}.summary"
            )
        except BudgetError:
            if column == 0:
                raise
            break
        previous = str(summed)
    return previous


async def _column(
    runner: Runner,
    step: p.MatrixStep,
    values: Values,
    scope: Scope,
    column: int,
    previous: str,
    shared: object,
) -> list[str]:
    """Return the cells of one column, top to bottom."""
    cells = [""] * step.rows
    path = scope.path(step.id)

    async def chain(first_row: int, last_row: int) -> None:
        for row in range(first_row, last_row):
            above = previous
            if row > 0:
                above = tail(cells[row - 1], step.weights[row - 1][column])
            given = (shared, above, row + 1, column + 1)
            place = f"{path}[{column}].cell[{row}]"
            cells[row] = str(await runner.inner(step.cell, given, values, scope, place))

    starts = [0, *(r for r in range(1, step.rows) if step.weights[r - 1][column] == 0)]
    try:
        async with asyncio.TaskGroup() as group:
            for start, end in zip(starts, [*starts[1:], step.rows], strict=True):
                group.create_task(chain(start, end))
    except BaseExceptionGroup as failures:
        failure = first_of(failures)
        raise failure from failure.__cause__
    return cells


def tail(text: str, share: Decimal) -> str:
    r"""Return the last ``ceil(share * n)`` of the n paragraphs of a text, in their order.

    ``share`` is an exact decimal in [0, 1], so that no rounding adds a paragraph.

    Examples
    --------
    >>> from decimal import Decimal
    >>> tail("a\n\nb\n\nc", Decimal("0.34"))
    'b\n\nc'
    """
    parts = [part for part in _BLANK_LINE.split(text.strip()) if part.strip()]
    count = math.ceil(share * len(parts))
    return "\n\n".join(parts[len(parts) - count :]) if count else ""

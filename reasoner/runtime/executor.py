"""Running a plan: every step starts when its inputs exist; results keep the plan's order.

There are no levels: a slow step holds up only what needs its result. Blocks whose steps form a
line run without tasks of their own. A failure has one place where it can surface, the step.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import assert_never

from reasoner import plan as p
from reasoner.errors import BudgetError, JournalError, ReasonerError, StepError
from reasoner.runtime import forms, frontier
from reasoner.runtime.ask import ask
from reasoner.runtime.budget import Budget
from reasoner.runtime.calc import calculate, resolve
from reasoner.runtime.dialog import Dialog, Handled
from reasoner.runtime.failures import first_of
from reasoner.runtime.scope import Scope, Values
from reasoner.runtime.session import Session
from reasoner.values import Chain, Evidence, Findings, Linked, Skipped


@dataclass(frozen=True, slots=True)
class _Order:
    """What a block's steps wait for, found once per block."""

    waits: tuple[frozenset[int], ...]
    wakes: tuple[tuple[int, ...], ...]
    line: bool


@dataclass(slots=True)
class Executor:
    """Runs the blocks of one plan in one session."""

    session: Session
    plan: p.Plan
    values: dict[str, object] = field(default_factory=dict)
    _orders: dict[int, _Order] = field(default_factory=dict)
    _closing: frozenset[str] = frozenset()

    async def run(self, inputs: Values, budget: Budget) -> object:
        """Return the value of the plan; `values` holds the results of its outermost steps."""
        self.values.update(inputs)
        self._closing = frozenset(p.refs(self.plan.body.result))
        return await self._block(self.plan.body, self.values, Scope(budget))

    # ---- blocks --------------------------------------------------------------------------

    async def _block(self, block: p.Block, values: dict[str, object], scope: Scope) -> object:
        """Run a block; ``values`` is filled with the results of its steps."""
        order = self._orders.get(id(block))
        if order is None:
            order = self._orders[id(block)] = _order(block)
        if order.line:
            for step in block.steps:
                values[step.id] = await self._step(step, values, scope)
        else:
            await self._dataflow(block, order, values, scope)
        return resolve(block.result, values)

    async def _dataflow(
        self, block: p.Block, order: _Order, values: dict[str, object], scope: Scope
    ) -> None:
        pending = [len(w) for w in order.waits]

        async def work(index: int, group: asyncio.TaskGroup) -> None:
            step = block.steps[index]
            values[step.id] = await self._step(step, values, scope)
            for later in order.wakes[index]:
                pending[later] -= 1
                if pending[later] == 0:
                    group.create_task(work(later, group))

        try:
            async with asyncio.TaskGroup() as group:
                for index, count in enumerate(pending):
                    if count == 0:
                        group.create_task(work(index, group))
        except BaseExceptionGroup as failures:
            failure = first_of(failures)
            raise failure from failure.__cause__

    # ---- steps ---------------------------------------------------------------------------

    async def _step(self, step: p.Step, values: Values, scope: Scope) -> object:
        """Run one step: the one place where it can fail."""
        try:
            return await self._run(step, values, scope)
        except (StepError, BudgetError, JournalError, asyncio.CancelledError):
            raise
        except ReasonerError as error:
            raise StepError(scope.path(step.id), step.place, str(error)) from error

    async def _run(self, step: p.Step, values: Values, scope: Scope) -> object:
        match step:
            case p.OpStep():
                return await self._operator(step, values)
            case p.AskStep():
                return await self._ask(step, values, scope)
            case p.EachStep():
                return await self._each(step, values, scope)
            case p.DialogStep():
                return await self._dialog(step, values, scope)
            case p.CalcStep():
                return calculate(step.fn, [resolve(a, values) for a in step.args])
            case p.BudgetStep():
                budget = Budget(self.session.clock, step.limits, outer=scope.budget)
                path = scope.path(step.id)
                return await self.inner(step.inner, (), values, Scope(budget, path, step.id), path)
            case p.IfStep():
                chosen = step.then if resolve(step.cond, values) else step.otherwise
                return await self.inner(chosen, (), values, scope, scope.path(chosen.id))
            case p.FirstStep():
                return await forms.first(self, step, values, scope)
            case p.LoopStep():
                return await forms.loop(self, step, values, scope)
            case p.FoldStep():
                return await forms.fold(self, step, values, scope)
            case p.MatrixStep():
                return await forms.matrix(self, step, values, scope)
            case p.FrontierStep():
                return await frontier.run(self, step, values, scope)
            case _:
                assert_never(step)

    async def inner(
        self, inner: p.Inner, given: Sequence[object], values: Values, scope: Scope, path: str
    ) -> object:
        """Run a block inside a step at a place of the expanded plan, with its variables set."""
        mine = {**values, **dict(zip(inner.params, given, strict=True))}
        return await self._block(inner.body, mine, Scope(scope.budget, path, inner.id))

    async def _operator(self, step: p.OpStep, values: Values) -> object:
        spec = self.session.catalog[step.op]
        args = [resolve(a, values) for a in step.args]
        options = {name: resolve(o, values) for name, o in step.options.items()}
        result = await spec.run(self.session.context, *args, **options)
        if isinstance(result, Evidence):
            self.session.retrieved |= result.ids
        return result

    async def _ask(self, step: p.AskStep, values: Values, scope: Scope) -> object:
        limit = resolve(step.limit, values) if step.limit is not None else None
        return await ask(
            self.session,
            step,
            self.plan.prompts[step.prompt],
            {name: resolve(a, values) for name, a in step.args.items()},
            limit=int(limit) if isinstance(limit, Decimal) else None,
            settings=_numbers(step.settings, values),
            path=scope.path(step.id),
            budget=scope.budget,
            closing=step.id in self._closing,
        )

    async def _dialog(self, step: p.DialogStep, values: Values, scope: Scope) -> Chain:
        path = scope.path(step.id)

        async def handle(plan: p.HandlerPlan, args: object, number: int) -> Handled:
            assert isinstance(args, tuple)  # noqa: S101 - `Query.args`
            block = plan.inner
            inner = {**values, **dict(zip(block.params, args, strict=True))}
            within = Scope(scope.budget, f"{path}.search[{number}]", block.id)
            found = await self._block(block.body, inner, within)
            assert isinstance(found, Evidence)  # noqa: S101 - the checker saw to it
            linked = [inner[s.id] for s in block.body.steps if s.id in inner]
            return found, tuple(v for v in linked if isinstance(v, Linked))

        self.session.trace.add("chain_started", path, searches=step.searches)
        dialog = Dialog(
            session=self.session,
            step=step,
            prompt=self.plan.prompts[step.prompt],
            values={name: resolve(a, values) for name, a in step.args.items()},
            settings=_numbers(step.settings, values),
            path=path,
            budget=scope.budget,
            handle=handle,
        )
        chain = await dialog.run()
        self.session.trace.add("chain", path, chain=chain)
        return chain

    async def _each(self, step: p.EachStep, values: Values, scope: Scope) -> object:
        items = resolve(step.items, values)
        assert isinstance(items, tuple | list)  # noqa: S101 - the checker saw to it
        path = scope.path(step.id)
        if len(items) > step.bound:
            self.session.trace.add(
                "truncated", path, kept=step.bound, dropped=len(items) - step.bound
            )
            items = items[: step.bound]
        results: list[object] = [None] * len(items)

        async def work(index: int, item: object) -> None:
            within = Scope(scope.budget, f"{path}[{index}]", step.id)
            mine = {**values, step.inner.params[0]: item}
            results[index] = await self._item(step, index, mine, within)

        try:
            async with asyncio.TaskGroup() as group:
                for index, item in enumerate(items):
                    group.create_task(work(index, item))
        except BaseExceptionGroup as failures:
            failure = first_of(failures)
            raise failure from failure.__cause__
        return self._gather(step, results, path)

    async def _item(
        self, step: p.EachStep, index: int, values: dict[str, object], scope: Scope
    ) -> object:
        """Run the block for one item; what a failure does is the policy's to say."""
        try:
            return await self._block(step.inner.body, values, scope)
        except BudgetError as error:
            return Skipped(index, f"budget: {error.limit}")
        except StepError as error:
            if step.on_error == "fail":
                raise
            self.session.trace.add("item_failed", scope.prefix, reason=str(error))
            if step.on_error == "default" and step.default is not None:
                return resolve(step.default, values)
            return Skipped(index, str(error))

    def _gather(self, step: p.EachStep, results: list[object], path: str) -> tuple[object, ...]:
        kept = tuple(r for r in results if not isinstance(r, Skipped))
        skipped = [r for r in results if isinstance(r, Skipped)]
        for item in skipped:
            self.session.trace.add("skipped", f"{path}[{item.index}]", reason=item.reason)
        budgeted = [r for r in skipped if r.reason.startswith("budget: ")]
        if budgeted and not kept:
            raise BudgetError(budgeted[0].reason.removeprefix("budget: "))
        if skipped and not budgeted and (not kept or len(kept) < step.quorum):
            needed = f", {step.quorum} are needed" if step.quorum else ""
            raise StepError(
                path,
                step.place,
                f"{len(skipped)} of {len(results)} items failed{needed}; the first: "
                f"{skipped[0].reason}",
            )
        return kept


def _numbers(settings: Mapping[str, p.Operand], values: Values) -> dict[str, Decimal]:
    found = {name: resolve(o, values) for name, o in settings.items()}
    return {name: v for name, v in found.items() if isinstance(v, Decimal)}


def _order(block: p.Block) -> _Order:
    places = {step.id: i for i, step in enumerate(block.steps)}
    waits = tuple(
        frozenset(places[n] for n in p.needs(step) if n in places) for step in block.steps
    )
    wakes = tuple(tuple(j for j, w in enumerate(waits) if i in w) for i in range(len(block.steps)))
    line = all(i - 1 in w for i, w in enumerate(waits) if i)
    return _Order(waits, wakes, line)


def best_so_far(values: Values) -> Findings | tuple[Chain, ...] | Evidence | None:
    """Return the most finished of the outermost results: findings, then chains, then evidence."""
    for value in reversed(list(values.values())):
        if isinstance(value, Findings):
            return value
    for value in reversed(list(values.values())):
        if isinstance(value, tuple) and value and all(isinstance(v, Chain) for v in value):
            return value
    for value in reversed(list(values.values())):
        if isinstance(value, Evidence):
            return value
    return None

"""Rewrites of plans: each has a name, can be turned off, and says what it did.

No rewrite merges, moves or drops a model call that the recipe asks for more than once: two equal
questions to a model are two samples. A model call that nothing needs is dropped.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from reasoner import plan as p
from reasoner.errors import UsageError, did_you_mean

#: Takes a plan; returns another one, with a line for each thing that it changed.
Rewrite = Callable[[p.Plan], tuple[p.Plan, list[str]]]


def simplify(plan: p.Plan, without: Collection[str] = ()) -> tuple[p.Plan, list[str]]:
    """Apply every rewrite that is not turned off, in order.

    Raises
    ------
    UsageError
        If ``without`` names no rewrite.
    """
    for name in without:
        if name not in REWRITES:
            hint = did_you_mean(name, REWRITES) or f"there are: {', '.join(REWRITES)}"
            raise UsageError(f"no rewrite {name!r}; {hint}")
    notes: list[str] = []
    for name, rewrite in REWRITES.items():
        if name not in without:
            plan, done = rewrite(plan)
            notes += [f"{name}: {line}" for line in done]
    asked = {s.prompt for s in p.steps(plan.body) if isinstance(s, p.AskStep | p.DialogStep)}
    prompts = {k: v for k, v in plan.prompts.items() if k in asked}
    return replace(plan, prompts=prompts), notes


def merge_equal(plan: p.Plan) -> tuple[p.Plan, list[str]]:
    """Let equal operator calls of one block be one step."""
    notes: list[str] = []

    def merge(block: p.Block) -> p.Block:
        seen: dict[tuple[object, ...], str] = {}
        same: dict[str, str] = {}
        kept: list[p.Step] = []
        for raw in block.steps:
            step = p.renamed(raw, same)
            if isinstance(step, p.OpStep | p.CalcStep):
                key = p.content(step)
                if key in seen:
                    same[step.id] = seen[key]
                    notes.append(f"{step.id} is {seen[key]}")
                    continue
                seen[key] = step.id
            kept.append(step)
        return p.Block(steps=tuple(kept), result=p.renamed_operand(block.result, same))

    return replace(plan, body=p.map_blocks(plan.body, merge)), notes


def hoist_invariant(plan: p.Plan) -> tuple[p.Plan, list[str]]:
    """Move operator calls out of an ``each`` that do not depend on its item."""
    notes: list[str] = []

    def hoist(block: p.Block) -> p.Block:
        steps: list[p.Step] = []
        for step in block.steps:
            # A failure outside the block would not be the item's: it may move only where it is
            # everyone's anyway.
            if isinstance(step, p.EachStep) and step.bound > 1 and step.on_error == "fail":
                outside, inner = _split(step.inner)
                steps += outside
                notes.extend(f"{s.id} before {step.id}" for s in outside)
                steps.append(replace(step, inner=inner))
            else:
                steps.append(step)
        return p.Block(steps=tuple(steps), result=block.result)

    return replace(plan, body=p.map_blocks(plan.body, hoist)), notes


def _split(inner: p.Inner) -> tuple[list[p.Step], p.Inner]:
    """Return the operator steps that need nothing of a block's own, and the block without them."""
    own = {*inner.params, *(s.id for s in inner.body.steps)}
    outside: list[p.Step] = []
    kept: list[p.Step] = []
    for step in inner.body.steps:
        if isinstance(step, p.OpStep) and not p.needs(step) & own:
            outside.append(step)
            own.discard(step.id)
        else:
            kept.append(step)
    return outside, replace(inner, body=replace(inner.body, steps=tuple(kept)))


def drop_dead(plan: p.Plan) -> tuple[p.Plan, list[str]]:
    """Drop steps that nothing needs: no step has side effects."""
    notes: list[str] = []

    def drop(block: p.Block) -> p.Block:
        needed = set(p.refs(block.result))
        kept: list[p.Step] = []
        for step in reversed(block.steps):
            if step.id in needed:
                needed |= p.needs(step)
                kept.append(step)
            else:
                notes.append(step.id)
        return p.Block(steps=tuple(reversed(kept)), result=block.result)

    return replace(plan, body=p.map_blocks(plan.body, drop)), notes


REWRITES: Mapping[str, Rewrite] = {
    "merge_equal": merge_equal,
    "hoist_invariant": hoist_invariant,
    "drop_dead": drop_dead,
}

"""What differs between two plans: steps, prompts, and the rest, each with its old and new value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from difflib import unified_diff

from reasoner import plan as p
from reasoner.compiler.explain import show
from reasoner.errors import printable


@dataclass(frozen=True, slots=True)
class Edit:
    """A value that differs; None on one side where there is none."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class StepEdit:
    """A step that differs: ``change`` is ``added``, ``removed`` or ``changed``."""

    step: str
    change: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class PromptEdit:
    """A prompt that differs: its signature, and its text as a unified diff."""

    prompt: str
    change: str
    edits: tuple[Edit, ...]
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Everything that differs between two plans.

    ``parameters`` explain why steps differ; they are no part of a plan, so plans that differ in
    nothing else are equal.
    """

    equal: bool
    plan: tuple[Edit, ...]
    parameters: tuple[Edit, ...]
    steps: tuple[StepEdit, ...]
    prompts: tuple[PromptEdit, ...]


def difference(
    old: p.Plan, new: p.Plan, settings: tuple[Mapping[str, str], Mapping[str, str]]
) -> Difference:
    """Compare two plans; ``settings`` are the parameters of both, as written."""
    return Difference(
        equal=old.hash == new.hash,
        plan=tuple(_edits(_head(old), _head(new))),
        parameters=tuple(_edits(*settings)),
        steps=tuple(_steps(old, new)),
        prompts=tuple(_prompts(old.prompts, new.prompts)),
    )


def _edits(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Edit]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield Edit(name, old.get(name), new.get(name))


def _head(plan: p.Plan) -> dict[str, str]:
    """Return what a plan says beside its steps and prompts."""
    return {
        "method": plan.method,
        "variant": plan.variant or "none",
        "inputs": ", ".join(f"{name}: {kind}" for name, kind in plan.inputs),
        "returns": str(plan.returns),
        **{f"budget {name}": p.exact(value) for name, value in plan.limits.items()},
        "result": show(plan.body.result),
    }


# ---- steps ---------------------------------------------------------------------------------


def _steps(old: p.Plan, new: p.Plan) -> Iterator[StepEdit]:
    before, after = dict(_facts(old.body, "the method")), dict(_facts(new.body, "the method"))
    for name in _in_order(list(before), list(after)):
        edits = tuple(_edits(before.get(name, {}), after.get(name, {})))
        if name not in after:
            yield StepEdit(name, "removed", edits)
        elif name not in before:
            yield StepEdit(name, "added", edits)
        elif edits:
            yield StepEdit(name, "changed", edits)


def _in_order(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the names of both, removed ones where they stood in the old order."""
    known, order = set(new), list(new)
    for index, name in enumerate(old):
        if name not in known:
            before = next((n for n in reversed(old[:index]) if n in order), None)
            order.insert(0 if before is None else order.index(before) + 1, name)
    return order


def _facts(block: p.Block, place: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each step with what it is, as named texts; blocks inside follow as their own steps."""
    for step in block.steps:
        facts = {"form": _form(step), "in": place}
        for spec in fields(step):
            if spec.name not in {"id", "place", "op", "version"}:
                facts |= _fact(spec.name, getattr(step, spec.name))
        yield step.id, facts
        for inner in p.inners(step):
            yield from _facts(inner.body, inner.id)


def _form(step: p.Step) -> str:
    match step:
        case p.OpStep():
            return f"{step.op} (version {step.version})"
        case _:
            return type(step).__name__.removesuffix("Step").lower()


def _fact(name: str, value: object) -> dict[str, str]:
    """Return a field of a step as texts by name."""
    match value:
        case None:
            return {}
        case p.Const() | p.Ref() | p.Seq() | p.Rec():
            return {name: show(value)}
        case p.Inner():
            return {f"{name}.value": show(value.body.result)}
        case p.HandlerPlan():
            return _fact(f"on {value.tool}({len(value.inner.params)})", value.inner)
        case Decimal():
            return {name: p.exact(value)}
        case Mapping():
            parts = [_fact(f"{name}.{key}", inner) for key, inner in value.items()]
            return {k: v for part in parts for k, v in part.items()}
        case tuple():
            numbered = [_fact(_nth(name, i, x), x) for i, x in enumerate(value, start=1)]
            return {k: v for part in numbered for k, v in part.items()}
        case _:
            return {name: str(value)}


def _nth(name: str, number: int, value: object) -> str:
    return name if isinstance(value, p.HandlerPlan) else f"{name}.{number}"


# ---- prompts -------------------------------------------------------------------------------


def _prompts(
    old: Mapping[str, p.PromptPlan], new: Mapping[str, p.PromptPlan]
) -> Iterator[PromptEdit]:
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        change = "added" if before is None else "removed" if after is None else "changed"
        edits = tuple(_edits(_signature(before), _signature(after)))
        yield PromptEdit(name, change, edits, tuple(_text(before, after)))


def _signature(prompt: p.PromptPlan | None) -> dict[str, str]:
    if prompt is None:
        return {}
    inputs = ", ".join(f"{name}: {kind}" for name, kind in prompt.inputs)
    return {"inputs": inputs, "returns": str(prompt.returns), "task": prompt.task}


def _text(old: p.PromptPlan | None, new: p.PromptPlan | None) -> Iterator[str]:
    before = old.text.split("\n") if old else []
    after = new.text.split("\n") if new else []
    for line in list(unified_diff(before, after, lineterm="", n=2))[2:]:
        yield printable(line)


# ---- for people ----------------------------------------------------------------------------


def report(found: Difference, old: str, new: str) -> str:
    """Return a difference as lines: ``-`` and ``+`` mark what only the old or new plan has."""
    if found.equal:
        return f"{old} and {new} compile to the same plan"
    lines = [f"- {old}", f"+ {new}"]
    for title, edits in (("plan", found.plan), ("parameters", found.parameters)):
        if edits:
            lines += ["", title, *_edit_lines(edits)]
    if found.steps:
        lines += ["", "steps"]
    signs = {"added": "+", "removed": "-", "changed": "~"}
    for step in found.steps:
        lines.append(f"{signs[step.change]} {step.step}{_what(step)}")
        if step.change == "changed":
            lines += _edit_lines(step.edits, "    ")
    for prompt in found.prompts:
        lines += ["", f"prompt {prompt.prompt} ({prompt.change})", *_edit_lines(prompt.edits)]
        lines += [f"  {line}" for line in prompt.text]
    return "\n".join(lines)


def _what(step: StepEdit) -> str:
    if step.change == "changed":
        return ""
    known = {e.name: e.new if step.change == "added" else e.old for e in step.edits}
    given = ", ".join(f"{k}: {v}" for k, v in known.items() if k not in {"form", "in"})
    return printable(f": {known['form']} in {known['in']}" + (f" ({given})" if given else ""))


def _edit_lines(edits: Sequence[Edit], pad: str = "  ") -> list[str]:
    lines = []
    for e in edits:
        old = "(none)" if e.old is None else e.old
        new = "(none)" if e.new is None else e.new
        lines.append(printable(f"{pad}{e.name}: {old} -> {new}"))
    return lines

"""A plan as text, for people."""

from collections.abc import Mapping
from decimal import Decimal
from typing import assert_never

from reasoner import plan as p


def explain(plan: p.Plan) -> str:
    """Return the tree of a plan, one line per step."""
    inputs = ", ".join(f"{name}: {kind}" for name, kind in plan.inputs)
    variant = f" (variant {plan.variant})" if plan.variant else ""
    lines = [f"{plan.method}({inputs}) -> {plan.returns}{variant}", f"plan {plan.hash[:16]}"]
    if plan.limits:
        lines.append(f"budget {_pairs({k: p.Const(value=v) for k, v in plan.limits.items()})}")
    lines += _block(plan.body, 1)
    return "\n".join(lines)


def _block(block: p.Block, depth: int) -> list[str]:
    lines = [line for step in block.steps for line in _step(step, depth)]
    return [*lines, f"{'  ' * depth}= {show(block.result)}"]


def _step(step: p.Step, depth: int) -> list[str]:
    pad = "  " * depth
    match step:
        case p.OpStep():
            args = ", ".join([*map(show, step.args), *_named(step.options)])
            return [f"{pad}{step.id}: {step.op}({args})"]
        case p.AskStep():
            limit = f", at most {show(step.limit)} items" if step.limit else ""
            head = f"{pad}{step.id}: ask {step.prompt}({_pairs(step.args)}) by {step.role}"
            return [f"{head}{limit}, {step.retries} retries"]
        case p.CalcStep():
            return [f"{pad}{step.id}: {_calc(step)}"]
        case p.EachStep():
            head = f"{pad}{step.id}: each {_vars(step.inner)} of {show(step.items)}, at most {step.bound}"
            return [f"{head}, on error {step.on_error}", *_inner(step.inner, depth)]
        case p.DialogStep():
            head = f"{pad}{step.id}: dialog {step.prompt}({_pairs(step.args)}) by {step.role}, "
            lines = [f"{head}{step.searches} searches in {step.turns} turns"]
            for handler in step.handlers:
                lines.append(f"{pad}  on {handler.tool}({_vars(handler.inner)})")
                lines += _inner(handler.inner, depth + 1)
            return lines
        case p.BudgetStep():
            limits = {k: p.Const(value=v) for k, v in step.limits.items()}
            return [f"{pad}{step.id}: budget {_pairs(limits)}", *_inner(step.inner, depth)]
        case p.IfStep():
            return [
                f"{pad}{step.id}: if {show(step.cond)}", *_inner(step.then, depth),
                f"{pad}else", *_inner(step.otherwise, depth),
            ]  # fmt: skip
        case p.FirstStep():
            lines = [f"{pad}{step.id}: first of {len(step.alternatives)}"]
            for inner in step.alternatives:
                lines += [f"{pad}- alternative", *_inner(inner, depth)]
            if step.accept is not None:
                lines += [f"{pad}accept {_vars(step.accept)} if", *_inner(step.accept, depth)]
            return lines
        case p.LoopStep():
            head = f"{pad}{step.id}: loop {_vars(step.inner)} = {show(step.init)}, at most {step.limit} rounds"
            lines = [f"{head}, on limit {step.on_limit}", *_inner(step.inner, depth)]
            if step.until is not None:
                lines += [f"{pad}until", *_inner(step.until, depth)]
            return lines
        case p.FoldStep():
            head = f"{pad}{step.id}: fold {_vars(step.inner)} over {show(step.items)}, at most {step.bound}"
            return [f"{head}, from {show(step.init)}", *_inner(step.inner, depth)]
        case p.MatrixStep():
            lines = [f"{pad}{step.id}: matrix of {step.rows} rows, {step.columns} columns"]
            for number, row in enumerate(step.weights, start=1):
                shares = " ".join(p.exact(v) for v in row)
                lines.append(f"{pad}  weights {number} -> {number + 1}: {shares}")
            for inner in p.inners(step):
                lines += [
                    f"{pad}  {inner.id.rsplit('.', 1)[-1]}({_vars(inner)})",
                    *_inner(inner, depth + 1),
                ]
            return lines
        case p.FrontierStep():
            head = f"{pad}{step.id}: frontier from {show(step.items)}, best {step.best}, depth {step.depth}"
            lines = [f"{head}, {step.scope}, select {step.select}, novelty {p.exact(step.novelty)}"]
            for inner in p.inners(step):
                lines += [
                    f"{pad}  {inner.id.rsplit('.', 1)[-1]}({_vars(inner)})",
                    *_inner(inner, depth + 1),
                ]
            return lines
        case _:
            assert_never(step)


def _inner(inner: p.Inner, depth: int) -> list[str]:
    return _block(inner.body, depth + 1)


def _vars(inner: p.Inner) -> str:
    """Return the names of a block's variables, without those that it does not ask for."""
    names = [n.rsplit(".", 1)[-1] for n in inner.params]
    return ", ".join(n for n in names if not n.endswith("'"))


def _calc(step: p.CalcStep) -> str:
    args = [show(a) for a in step.args]
    if step.fn.startswith("."):
        return f"{args[0]}{step.fn}"
    return f"{step.fn} {args[0]}" if len(args) == 1 else f"{args[0]} {step.fn} {args[1]}"


def _named(options: Mapping[str, p.Operand]) -> list[str]:
    return [f"{name}: {show(value)}" for name, value in options.items()]


def _pairs(options: Mapping[str, p.Operand]) -> str:
    return ", ".join(_named(options))


def show(operand: p.Operand) -> str:
    """Return an operand as it would be written."""
    match operand:
        case p.Ref():
            return operand.id
        case p.Seq():
            return f"[{', '.join(map(show, operand.items))}]"
        case p.Rec():
            return f"{{{_pairs(operand.fields)}}}"
        case p.Const():
            return _constant(operand.value)


def _constant(value: p.Scalar) -> str:
    match value:
        case str() as text:
            return f'"{text}"'
        case bool() as flag:
            return str(flag).lower()
        case None:
            return "none"
        case Decimal() as number:
            return p.exact(number)

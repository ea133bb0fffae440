"""A plan as text, for people."""

from collections.abc import Mapping
from decimal import Decimal

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
        case p.EachStep():
            head = f"{pad}{step.id}: each of {show(step.items)}, at most {step.bound}, "
            return [f"{head}on error {step.on_error}", *_block(step.body, depth + 1)]
        case p.DialogStep():
            head = f"{pad}{step.id}: dialog {step.prompt}({_pairs(step.args)}) by {step.role}, "
            lines = [f"{head}{step.searches} searches in {step.turns} turns"]
            for handler in step.handlers:
                names = ", ".join(n.rsplit(".", 1)[-1] for n in handler.params)
                lines.append(f"{pad}  on {handler.tool}({names})")
                lines += _block(handler.body, depth + 2)
            return lines
        case p.BudgetStep():
            limits = {k: p.Const(value=v) for k, v in step.limits.items()}
            return [f"{pad}{step.id}: budget {_pairs(limits)}", *_block(step.body, depth + 1)]


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

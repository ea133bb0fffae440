"""Prompts and types as written: their signatures, and what can be wrong with them."""

from reasoner import ir
from reasoner.compiler.program import twice
from reasoner.errors import Diagnostic, Severity, unknown
from reasoner.template import Hole, Stray, pieces
from reasoner.types import GENERIC, SIMPLE, UNKNOWN, Type

#: What a prompt wants done. A hosted model reads the text; the builtin engine reads this.
TASKS = {
    "decompose": "split a question into sub-questions",
    "explore": "decode and search in turns, then answer in part",
    "answer": "answer from the evidence that is given",
    "generate": "anything else: only a language model can do it",
}
_SILENT = frozenset({"limit"})  # an input that may steer the runtime without being printed


def read_type(node: ir.TypeExpr, found: list[Diagnostic]) -> Type:
    """Return the type that is written, or `UNKNOWN` after reporting what is wrong."""
    if node.name == "Record":
        return _record(node, found)
    wanted = 1 if node.name in GENERIC else 0
    if node.name not in SIMPLE and node.name not in GENERIC:
        found.append(unknown("type", node.name, [*SIMPLE, *GENERIC, "Record"], node.span, "R205"))
        return UNKNOWN
    if len(node.args) != wanted or node.fields:
        how = f"{node.name}[T]" if wanted else node.name
        found.append(Diagnostic(code="R205", message=f"this type is written {how}", span=node.span))
        return UNKNOWN
    return Type(node.name, tuple(read_type(a, found) for a in node.args))


def _record(node: ir.TypeExpr, found: list[Diagnostic]) -> Type:
    names = [f.name for f in node.fields]
    if not names or node.args or len(set(names)) < len(names):
        message = "a record type is written Record[name: Type, ...], each name once"
        found.append(Diagnostic(code="R205", message=message, span=node.span))
        return UNKNOWN
    return Type("Record", fields=tuple((f.name, read_type(f.type, found)) for f in node.fields))


def signature(prompt: ir.Prompt) -> tuple[tuple[tuple[str, Type], ...], Type]:
    """Return the inputs and the result type of a prompt; unreadable types are `UNKNOWN`."""
    ignored: list[Diagnostic] = []
    inputs = tuple((i.name, read_type(i.type, ignored)) for i in prompt.inputs)
    return inputs, read_type(prompt.returns, ignored)


def task_of(prompt: ir.Prompt) -> str:
    """Return the task that a prompt states, or the one that its signature implies."""
    if prompt.task is not None:
        return prompt.task
    inputs, returns = signature(prompt)
    match returns.name:
        case "Chain":
            return "explore"
        case "Answer":
            return "answer"
        case "List" if returns.item == Type("Text") and "limit" in dict(inputs):
            return "decompose"
        case _:
            return "generate"


def check_prompt(prompt: ir.Prompt, found: list[Diagnostic]) -> None:
    """Report what is wrong with a prompt: its types, its task, and each of its holes."""
    names = [i.name for i in prompt.inputs]
    for index, part in enumerate(prompt.inputs):
        read_type(part.type, found)
        if part.name in names[:index]:
            first = prompt.inputs[names.index(part.name)].span
            found.append(twice("input", part.name, part.span, first))
    read_type(prompt.returns, found)
    if prompt.task is not None and prompt.task not in TASKS:
        found.append(
            unknown("task", prompt.task, TASKS, prompt.task_span or prompt.name_span, "R220")
        )
    used: set[str] = set()
    for piece in pieces(prompt.text.value):
        match piece:
            case Hole(name=name, start=start, end=end):
                used.add(name)
                if name not in names:
                    span = prompt.text.span_of(start, end)
                    found.append(unknown("input for the hole", name, names, span, "R218"))
            case Stray(start=start, end=end):
                found.append(
                    Diagnostic(
                        code="R219",
                        message="a brace that belongs to no hole",
                        span=prompt.text.span_of(start, end),
                        hint="write '{{' or '}}' for a brace itself",
                    )
                )
            case _:
                pass
    for part in prompt.inputs:
        if part.name not in used | _SILENT:
            found.append(
                Diagnostic(
                    code="R412",
                    message=f"the input {part.name!r} stands nowhere in the text",
                    span=part.span,
                    severity=Severity.WARNING,
                )
            )

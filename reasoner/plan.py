"""The compiled recipe: a frozen tree of steps in canonical JSON, named by its content hash.

Places of the source are kept beside the content and do not take part in the hash, so two
notations, comments, key order and layout give one hash. Parameters are already filled in.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from reasoner.source import Place
from reasoner.types import Type

FORMAT = 1
Scalar = str | Decimal | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Const:
    """A value that is known before the run."""

    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """The result of a step, an input of the method, or a variable of an enclosing step."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seq:
    """A list of operands."""

    items: tuple["Operand", ...]


Operand = Const | Ref | Seq


@dataclass(frozen=True, slots=True, kw_only=True)
class OpStep:
    """One operator call."""

    id: str
    op: str
    version: int
    args: tuple[Operand, ...]
    options: Mapping[str, Operand]
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskStep:
    """One typed model call, with at most ``retries`` more when the reply does not fit."""

    id: str
    prompt: str
    role: str
    args: Mapping[str, Operand]
    limit: Operand | None
    retries: int
    settings: Mapping[str, Operand]
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EachStep:
    """A block for every item of a list, in parallel."""

    id: str
    var: str
    items: Operand
    bound: int
    on_error: str
    default: Operand | None
    quorum: int
    body: "Block"
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerPlan:
    """What a dialog does when the model asks for a tool with this many arguments."""

    tool: str
    params: tuple[str, ...]
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogStep:
    """Search while decoding."""

    id: str
    prompt: str
    role: str
    args: Mapping[str, Operand]
    searches: int
    turns: int
    settings: Mapping[str, Operand]
    handlers: tuple[HandlerPlan, ...]
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStep:
    """A block inside limits; keys among ``calls``, ``tokens``, ``usd``, ``seconds``."""

    id: str
    limits: Mapping[str, Decimal]
    body: "Block"
    place: Place | None = field(default=None, compare=False)


Step = OpStep | AskStep | EachStep | DialogStep | BudgetStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Steps and the operand that is the block's value. Steps start when their inputs exist."""

    steps: tuple[Step, ...]
    result: Operand


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPlan:
    """A typed template. ``text`` holds ``{name}`` where an input goes."""

    name: str
    inputs: tuple[tuple[str, Type], ...]
    returns: Type
    task: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A method with its parameters filled in, ready to be priced and run."""

    method: str
    variant: str | None
    inputs: tuple[tuple[str, Type], ...]
    returns: Type
    prompts: Mapping[str, PromptPlan]
    limits: Mapping[str, Decimal]
    body: Block
    format: int = FORMAT

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def canonical(self) -> str:
        """Return the plan as canonical JSON: sorted keys, no blanks, no places."""
        return json.dumps(encode(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def encode(value: Any) -> Any:
    """Return plan content as plain JSON data; each node carries its class as ``form``."""
    match value:
        case bool() | None | str() | int():
            return value
        case Decimal():
            return {"form": "Number", "value": exact(value)}
        case Type():
            return str(value)
        case tuple() | list():
            return [encode(v) for v in value]
        case Mapping():
            return {k: encode(v) for k, v in value.items()}
        case _ if is_dataclass(value):
            content = {
                f.name: encode(getattr(value, f.name)) for f in fields(value) if f.name != "place"
            }
            return {"form": type(value).__name__, **content}
        case _:
            raise TypeError(f"{type(value).__name__} has no place in a plan")


def exact(number: Decimal) -> str:
    """Return a number in its shortest plain form, so that equal numbers look equal.

    Examples
    --------
    >>> exact(Decimal("0.70")), exact(Decimal("1e2"))
    ('0.7', '100')
    """
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in {"-0", ""} else plain


def bodies(step: Step) -> tuple[Block, ...]:
    """Return the blocks inside a step."""
    match step:
        case EachStep() | BudgetStep():
            return (step.body,)
        case DialogStep():
            return tuple(h.body for h in step.handlers)
        case OpStep() | AskStep():
            return ()


def steps(block: Block) -> Iterator[Step]:
    """Yield every step of a block and of the blocks inside it, in order."""
    for step in block.steps:
        yield step
        for body in bodies(step):
            yield from steps(body)


def operands(step: Step) -> Iterator[Operand]:
    """Yield the operands that a step itself waits for, not those of the blocks inside it."""
    match step:
        case OpStep():
            yield from step.args
            yield from step.options.values()
        case AskStep():
            yield from step.args.values()
            yield from step.settings.values()
            if step.limit is not None:
                yield step.limit
        case EachStep():
            yield step.items
            if step.default is not None:
                yield step.default
        case DialogStep():
            yield from step.args.values()
            yield from step.settings.values()
        case BudgetStep():
            return


def refs(operand: Operand) -> Iterator[str]:
    """Yield the ids that an operand refers to."""
    match operand:
        case Ref():
            yield operand.id
        case Seq():
            for item in operand.items:
                yield from refs(item)
        case Const():
            return


def needs(step: Step) -> frozenset[str]:
    """Return every id from outside that a step, or a block inside it, refers to."""
    found = {r for o in operands(step) for r in refs(o)}
    for body in bodies(step):
        found |= block_needs(body)
    match step:
        case EachStep():
            found.discard(step.var)
        case DialogStep():
            found -= {p for h in step.handlers for p in h.params}
        case _:
            pass
    return frozenset(found)


def block_needs(block: Block) -> frozenset[str]:
    """Return every id from outside that a block refers to."""
    found = {r for s in block.steps for r in needs(s)} | set(refs(block.result))
    return frozenset(found - {s.id for s in block.steps})

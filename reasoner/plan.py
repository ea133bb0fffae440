"""The compiled recipe: a frozen tree of steps in canonical JSON, named by its content hash.

Places of the source are kept beside the content and do not take part in the hash, so two
notations, comments, key order and layout give one hash. Parameters are already filled in.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rec:
    """A record of operands, by field name."""

    fields: Mapping[str, "Operand"]


Operand = Const | Ref | Seq | Rec


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A block inside a step, with the ids of the variables that the step sets for it."""

    id: str
    params: tuple[str, ...]
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalcStep:
    """Arithmetic, comparison, logic, or a field of a value; ``fn`` is the sign or ``.name``."""

    id: str
    fn: str
    args: tuple[Operand, ...]
    place: Place | None = field(default=None, compare=False)


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
    items: Operand
    bound: int
    on_error: str
    default: Operand | None
    quorum: int
    inner: Inner
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerPlan:
    """What a dialog does when the model asks for a tool with this many arguments."""

    tool: str
    inner: Inner


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
    inner: Inner
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IfStep:
    """One of two blocks."""

    id: str
    cond: Operand
    then: Inner
    otherwise: Inner
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """Alternatives in order; ``accept`` has the alternative's value as its variable."""

    id: str
    alternatives: tuple[Inner, ...]
    accept: Inner | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStep:
    """Rounds with a state; ``until`` has the new state as its variable."""

    id: str
    init: Operand
    limit: int
    inner: Inner
    until: Inner | None
    on_limit: str
    default: Operand | None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldStep:
    """One item after another with a state; the variables are (item, state)."""

    id: str
    items: Operand
    bound: int
    init: Operand
    inner: Inner
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixStep:
    """A matrix of texts: ``weights[i][j]`` is what cell (i + 1, j) is passed of the cell above.

    ``column(previous)`` is evaluated once for each column, ``cell(shared, above, row, column)``
    for each cell, ``summary(previous, cells, shared)`` closes a column.
    """

    id: str
    rows: int
    columns: int
    weights: tuple[tuple[Decimal, ...], ...]
    column: Inner | None
    cell: Inner
    summary: Inner
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierStep:
    """A scored queue: ``score(item)``, ``visit(item)``, ``grow(results)``."""

    id: str
    items: Operand
    best: int
    depth: int
    grown: int
    bound: int
    novelty: Decimal
    scope: str
    select: str
    seed: int
    drain: bool
    score: Inner | None
    visit: Inner
    grow: Inner | None
    place: Place | None = field(default=None, compare=False)


Step = (
    OpStep | CalcStep | AskStep | EachStep | DialogStep | BudgetStep
    | IfStep | FirstStep | LoopStep | FoldStep | MatrixStep | FrontierStep
)  # fmt: skip


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


def inners(step: Step) -> Iterator[Inner]:
    """Yield the blocks inside a step, in the order in which they are written."""
    match step:
        case EachStep() | BudgetStep() | FoldStep():
            yield step.inner
        case DialogStep():
            yield from (h.inner for h in step.handlers)
        case IfStep():
            yield from (step.then, step.otherwise)
        case FirstStep():
            yield from step.alternatives
            if step.accept is not None:
                yield step.accept
        case LoopStep():
            yield step.inner
            if step.until is not None:
                yield step.until
        case MatrixStep():
            yield from (i for i in (step.column, step.cell, step.summary) if i is not None)
        case FrontierStep():
            yield from (i for i in (step.score, step.visit, step.grow) if i is not None)
        case OpStep() | CalcStep() | AskStep():
            return


def steps(block: Block) -> Iterator[Step]:
    """Yield every step of a block and of the blocks inside it, in order."""
    for step in block.steps:
        yield step
        for inner in inners(step):
            yield from steps(inner.body)


def operands(step: Step) -> Iterator[Operand]:
    """Yield the operands that a step itself waits for, not those of the blocks inside it."""
    found: list[Operand | None] = []
    match step:
        case OpStep():
            found = [*step.args, *step.options.values()]
        case CalcStep():
            found = [*step.args]
        case AskStep():
            found = [*step.args.values(), *step.settings.values(), step.limit]
        case EachStep():
            found = [step.items, step.default]
        case DialogStep():
            found = [*step.args.values(), *step.settings.values()]
        case IfStep():
            found = [step.cond]
        case LoopStep():
            found = [step.init, step.default]
        case FoldStep():
            found = [step.items, step.init]
        case FrontierStep():
            found = [step.items]
        case BudgetStep() | FirstStep() | MatrixStep():
            pass
    yield from (o for o in found if o is not None)


def refs(operand: Operand) -> Iterator[str]:
    """Yield the ids that an operand refers to."""
    match operand:
        case Ref():
            yield operand.id
        case Seq():
            for item in operand.items:
                yield from refs(item)
        case Rec():
            for item in operand.fields.values():
                yield from refs(item)
        case Const():
            return


def needs(step: Step) -> frozenset[str]:
    """Return every id from outside that a step, or a block inside it, refers to."""
    found = {r for o in operands(step) for r in refs(o)}
    for inner in inners(step):
        found |= block_needs(inner.body) - set(inner.params)
    return frozenset(found)


def block_needs(block: Block) -> frozenset[str]:
    """Return every id from outside that a block refers to."""
    found = {r for s in block.steps for r in needs(s)} | set(refs(block.result))
    return frozenset(found - {s.id for s in block.steps})


def map_blocks(block: Block, change: Callable[[Block], Block]) -> Block:
    """Return a block with ``change`` applied to it and to every block inside it, inner first."""

    def inside(inner: Inner) -> Inner:
        return replace(inner, body=map_blocks(inner.body, change))

    steps = []
    for step in block.steps:
        edits: dict[str, Any] = {}
        for spec in fields(step):
            value = getattr(step, spec.name)
            if isinstance(value, Inner):
                edits[spec.name] = inside(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Inner):
                edits[spec.name] = tuple(inside(v) for v in value)
            elif isinstance(value, tuple) and value and isinstance(value[0], HandlerPlan):
                edits[spec.name] = tuple(replace(h, inner=inside(h.inner)) for h in value)
        steps.append(replace(step, **edits) if edits else step)
    return change(Block(steps=tuple(steps), result=block.result))


def renamed_operand(operand: Operand, names: Mapping[str, str]) -> Operand:
    """Return an operand with other ids for some of those that it refers to."""
    match operand:
        case Ref():
            return Ref(id=names.get(operand.id, operand.id))
        case Seq():
            return Seq(items=tuple(renamed_operand(i, names) for i in operand.items))
        case Rec():
            return Rec(fields={k: renamed_operand(v, names) for k, v in operand.fields.items()})
        case Const():
            return operand


def renamed(step: Step, names: Mapping[str, str]) -> Step:
    """Return a step with other ids for some of those that it, or a block inside it, refers to."""
    if not names:
        return step

    def change(value: Any) -> Any:
        match value:
            case Const() | Ref() | Seq() | Rec():
                return renamed_operand(value, names)
            case Mapping():
                return {k: change(v) for k, v in value.items()}
            case Inner():
                return replace(value, body=change(value.body))
            case HandlerPlan():
                return replace(value, inner=change(value.inner))
            case Block():
                steps = tuple(renamed(s, names) for s in value.steps)
                return Block(steps=steps, result=renamed_operand(value.result, names))
            case tuple():
                return tuple(change(v) for v in value)
            case _:
                return value

    edits = {f.name: change(getattr(step, f.name)) for f in fields(step) if f.name != "id"}
    return replace(step, **edits)


def content(step: Step) -> tuple[object, ...]:
    """Return what a step computes, without its id and place: equal for steps that do the same."""
    document = encode(step)
    del document["id"]
    return (json.dumps(document, sort_keys=True),)

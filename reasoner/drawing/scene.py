"""A plan as boxes and arrows, whatever they are drawn with.

Every arrow joins two shapes of one block. A value from outside a block that is used inside it is an
arrow to the box around that block, so each block can be laid out alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from reasoner import plan as p
from reasoner.compiler.explain import show
from reasoner.errors import printable

#: Texts longer than this are shortened where they are drawn.
LONGEST = 58
#: Rows and columns of a matrix that are drawn at most.
MOST_CELLS = 12


@dataclass(frozen=True, slots=True)
class Arrow:
    """The shape with the key ``target`` needs what ``source`` gives."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A matrix: ``weights[i][j]`` stands on the arrow into cell (i + 2, j + 1), "" for no arrow.

    ``shared`` says that each column begins with a part of its own; ``chained`` and ``fed`` say that
    a summary, or that part, is given the summary before it. ``note`` says what is not drawn.
    """

    rows: int
    columns: int
    weights: tuple[tuple[str, ...], ...]
    shared: bool
    chained: bool
    fed: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A step, a variable or a result; ``step`` is the full id of a step, and empty otherwise."""

    key: str
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    step: str = ""
    tip: str = ""
    groups: tuple["Group", ...] = ()
    grid: Grid | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A block: its shapes in order, and the arrows between them."""

    title: str
    shapes: tuple[Shape, ...]
    arrows: tuple[Arrow, ...]


def scene(plan: p.Plan) -> Group:
    """Return what is to be drawn of a plan."""
    variant = f" (variant {plan.variant})" if plan.variant else ""
    title = f"{plan.method} -> {plan.returns}{variant}"
    inputs = {name: f"{name}: {kind}" for name, kind in plan.inputs}
    return _group(title, "", inputs, plan.body)


def _group(title: str, path: str, variables: Mapping[str, str], body: p.Block) -> Group:
    shapes = [Shape(key=key, kind="input", title=text) for key, text in variables.items()]
    shapes += [_shape(step, path) for step in body.steps]
    known = {s.key for s in shapes}
    arrows = [Arrow(r, s.id) for s in body.steps for r in sorted(p.needs(s) & known)]
    given = sorted(set(p.refs(body.result)) & known)
    end = f"{path}="
    single = isinstance(body.result, p.Ref) and bool(given)
    text = "result" if single else brief(body.result)
    shapes.append(Shape(key=end, kind="result", title=shorten(text)))
    arrows += [Arrow(r, end) for r in given]
    return Group(title=shorten(title), shapes=tuple(shapes), arrows=tuple(arrows))


def _shape(step: p.Step, path: str) -> Shape:
    kind, lines = describe(step)
    tip = f"{step.id} ({step.place})" if step.place else step.id
    return Shape(
        key=step.id,
        kind=kind,
        title=shorten(_short(step.id, path)),
        lines=tuple(shorten(line) for line in lines),
        step=step.id,
        tip=printable(tip),
        groups=tuple(_inner(name, inner, step.id) for name, inner in _blocks(step)),
        grid=_grid(step) if isinstance(step, p.MatrixStep) else None,
    )


def _inner(name: str, inner: p.Inner, step: str) -> Group:
    variables = {key: _last(key) for key in inner.params if not _unasked(key)}
    path = f"{inner.id}." if inner.id.startswith(step) else f"{step}."
    return _group(name, path, variables, inner.body)


def _blocks(step: p.Step) -> list[tuple[str, p.Inner]]:
    """Return the blocks inside a step, each with what it is."""
    match step:
        case p.EachStep() | p.FoldStep():
            return [("for each item", step.inner)]
        case p.DialogStep():
            return [(f"on {h.tool}({_variables(h.inner)})", h.inner) for h in step.handlers]
        case p.BudgetStep():
            return [("inside the budget", step.inner)]
        case p.IfStep():
            return [("then", step.then), ("else", step.otherwise)]
        case p.FirstStep():
            found = [(f"alternative {n}", a) for n, a in enumerate(step.alternatives, start=1)]
            return found if step.accept is None else [*found, ("accept if", step.accept)]
        case p.LoopStep():
            rounds = [("each round", step.inner)]
            return rounds if step.until is None else [*rounds, ("until", step.until)]
        case p.MatrixStep() | p.FrontierStep():
            return [(f"{_last(i.id)}({_variables(i)})", i) for i in p.inners(step)]
        case p.OpStep() | p.CalcStep() | p.AskStep():
            return []
        case _:
            assert_never(step)


def describe(step: p.Step) -> tuple[str, Sequence[str]]:
    """Return the kind of a step, and what it does in a few short lines."""
    match step:
        case p.OpStep():
            return "operator", [f"{step.op}({_call(step.args, step.options)})"]
        case p.CalcStep():
            return "calc", [_calc(step)]
        case p.AskStep():
            limit = f", at most {brief(step.limit)} items" if step.limit else ""
            first = f"ask {step.prompt}({_call((), step.args)})"
            return "model", [first, f"by {step.role}, {step.retries} retries{limit}"]
        case p.EachStep():
            first = f"each {_variables(step.inner)} of {brief(step.items)}"
            return "each", [first, f"at most {step.bound}, on error {step.on_error}"]
        case p.DialogStep():
            first = f"dialog {step.prompt}({_call((), step.args)})"
            bounds = f"{step.searches} searches in {step.turns} turns"
            return "model", [first, f"by {step.role}, {bounds}"]
        case p.BudgetStep():
            return "budget", [f"budget {k}: {p.exact(v)}" for k, v in step.limits.items()]
        case p.IfStep():
            return "choice", [f"if {brief(step.cond)}"]
        case p.FirstStep():
            return "choice", [f"first of {len(step.alternatives)}"]
        case p.LoopStep():
            first = f"loop {_variables(step.inner)} = {brief(step.init)}"
            return "each", [first, f"at most {step.limit} rounds, then {step.on_limit}"]
        case p.FoldStep():
            first = f"fold {_variables(step.inner)} over {brief(step.items)}"
            return "each", [first, f"from {brief(step.init)}, at most {step.bound}"]
        case p.MatrixStep():
            return "matrix", [f"matrix of {step.rows} rows, {step.columns} columns"]
        case p.FrontierStep():
            first = f"frontier from {brief(step.items)}"
            bounds = f"best {step.best}, depth {step.depth}"
            return "each", [first, f"{bounds}, {step.scope}, select {step.select}"]
        case _:
            assert_never(step)


def _grid(step: p.MatrixStep) -> Grid:
    rows, columns = min(step.rows, MOST_CELLS), min(step.columns, MOST_CELLS)
    hidden = "" if (rows, columns) == (step.rows, step.columns) else f"first {rows} x {columns}"
    return Grid(
        rows=rows,
        columns=columns,
        weights=tuple(
            tuple(p.exact(w) if w else "" for w in row[:columns])
            for row in step.weights[: rows - 1]
        ),
        shared=step.column is not None,
        chained=_asks(step.summary, "previous"),
        fed=step.column is not None and _asks(step.column, "previous"),
        note=hidden,
    )


# ---- names and values ----------------------------------------------------------------------


def brief(operand: p.Operand) -> str:
    """Return an operand with the last part of each id only: the arrows say where it is from."""
    match operand:
        case p.Ref():
            return _last(operand.id)
        case p.Seq():
            return f"[{', '.join(map(brief, operand.items))}]"
        case p.Rec():
            return f"{{{_call((), operand.fields)}}}"
        case p.Const():
            return show(operand)


def shorten(text: str) -> str:
    """Return a text on one line, cut where it gets too long to be drawn.

    Examples
    --------
    >>> shorten("a" * 40 + " " + "b" * 40)[-3:]
    'bb…'
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _short(id_: str, path: str) -> str:
    return id_.removeprefix(path) or id_


def _last(id_: str) -> str:
    return id_.rsplit(".", 1)[-1]


def _unasked(id_: str) -> bool:
    """Say whether a block does not ask for this variable (see ``explain``)."""
    return "'" in _last(id_)


def _asks(inner: p.Inner, name: str) -> bool:
    return any(_last(key).partition("#")[0] == name for key in inner.params)


def _variables(inner: p.Inner) -> str:
    return ", ".join(_last(key) for key in inner.params if not _unasked(key))


def _call(args: Sequence[p.Operand], named: Mapping[str, p.Operand]) -> str:
    return ", ".join([*map(brief, args), *(f"{k}: {brief(v)}" for k, v in named.items())])


def _calc(step: p.CalcStep) -> str:
    args = [brief(a) for a in step.args]
    if step.fn.startswith("."):
        return f"{args[0]}{step.fn}"
    return f"{step.fn} {args[0]}" if len(args) == 1 else f"{args[0]} {step.fn} {args[1]}"

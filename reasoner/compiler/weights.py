"""Weights of a matrix as expressions, to an exact table (Matrix of Thought, section 3.3).

A matrix of m rows and n columns has m - 1 transitions in each column. The internal table is
``(m - 1) x n``: entry ``[i][j]`` is the share of the paragraphs of cell ``i`` that cell ``i + 1``
of the same column is passed. Everything is an exact decimal.

======================  ===========================================================================
``0.2``                 the same share everywhere, as ``constant(0.2)``
``vertical(s)``         ``start + s * (i - 1)``, growing down a column
``horizontal(s)``       ``start + s * (j - 1)``, growing from column to column
``vertical(s) + horizontal(s)``  both; they start once, at the ``start`` that is given, else at the first ``s``
``uniform(seed)``       drawn from [0, 1], two digits
``gaussian(seed)``      drawn from N(0, 1), put to [0, 1] by its least and greatest value
``[[...], ...]``        written out: ``(m - 1) x n``, or ``(m - 1) x (n - 1)`` as in the paper
======================  ===========================================================================

``start`` is ``s`` unless given (``vertical(0.1, start: 0)``). A table of the paper's shape belongs to
columns 2 to n, and column 1 gets 0; with ``table([[...]], align: "first")`` it belongs to columns 1 to
n - 1, and column n gets 0. Values are cut to [0, 1].
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from reasoner import ir
from reasoner.errors import Diagnostic, unknown

Table = tuple[tuple[Decimal, ...], ...]
SCHEDULES = ("constant", "vertical", "horizontal", "uniform", "gaussian", "table")
_OPTIONS = {"vertical": ("start",), "horizontal": ("start",), "table": ("align",)}
_DIGITS = Decimal("0.01")
MOST_SEED = 1_000_000


@dataclass(frozen=True, slots=True)
class _Slope:
    """``start + down * (i - 1) + right * (j - 1)``; ``stated`` says that the recipe gives ``start``."""

    start: Decimal
    down: Decimal | None = None
    right: Decimal | None = None
    stated: bool = False


class WeightsError(Exception):
    """The weights cannot be read; holds the finding."""

    def __init__(self, finding: Diagnostic) -> None:
        self.finding = finding
        super().__init__(finding.message)


def table(node: ir.Expr, constants: Mapping[str, ir.Literal], rows: int, columns: int) -> Table:
    """Return the table of weights, ``rows - 1`` lists of ``columns`` values in [0, 1].

    Raises
    ------
    WeightsError
        If the expression is none of the above, or a table has another shape.
    """
    found = _read(node, constants, rows, columns)
    if not isinstance(found, _Slope):
        return found
    if found.down is found.right is None and not 0 <= found.start <= 1:
        raise _wrong(node, "a weight lies between 0 and 1")
    down, right = found.down or Decimal(0), found.right or Decimal(0)
    return tuple(
        tuple(
            min(Decimal(1), max(Decimal(0), found.start + down * i + right * j))
            for j in range(columns)
        )
        for i in range(rows - 1)
    )


def _read(
    node: ir.Expr, constants: Mapping[str, ir.Literal], rows: int, columns: int
) -> _Slope | Table:
    match node:
        case ir.Literal(value=Decimal() as share):
            return _Slope(share)
        case ir.Name(name=name) if name in constants:
            return _read(constants[name], constants, rows, columns)
        case ir.ListOf():
            return _written(node, constants, rows, columns, "last")
        case ir.Binary(sign="+"):
            left = _read(node.left, constants, rows, columns)
            right = _read(node.right, constants, rows, columns)
            return _sum(node, left, right)
        case ir.Call():
            return _schedule(node, constants, rows, columns)
        case _:
            raise _wrong(node, "expected weights")


def _sum(node: ir.Binary, left: _Slope | Table, right: _Slope | Table) -> _Slope:
    """Return ``vertical(s) + horizontal(s)``, in either order; anything else has no clear start."""
    if isinstance(left, _Slope) and isinstance(right, _Slope):
        down = [s.down for s in (left, right) if s.down is not None]
        across = [s.right for s in (left, right) if s.right is not None]
        if len(down) == len(across) == 1:
            stated = [s.start for s in (left, right) if s.stated]
            if len(set(stated)) > 1:
                raise _wrong(node, "these weights start at two values; give 'start' once")
            return _Slope([*stated, left.start][0], down[0], across[0], stated=bool(stated))
    raise _wrong(node, "a sum of weights is one vertical(...) and one horizontal(...)")


def _schedule(
    node: ir.Call, constants: Mapping[str, ir.Literal], rows: int, columns: int
) -> _Slope | Table:
    if node.name not in SCHEDULES:
        raise WeightsError(
            unknown("schedule of weights", node.name, SCHEDULES, node.name_span, "R320")
        )
    given = [a.value for a in node.args if a.name is None]
    named = {a.name: a.value for a in node.args if a.name is not None}
    for argument in node.args:
        if argument.name is not None and argument.name not in _OPTIONS.get(node.name, ()):
            where = argument.name_span or argument.span
            names = _OPTIONS.get(node.name, ())
            raise WeightsError(
                unknown(f"option of {node.name}", argument.name, names, where, "R320")
            )
    if len(given) != 1:
        raise _wrong(node, f"{node.name} takes one value")
    if node.name == "table":
        align = named.get("align")
        side = align.value if isinstance(align, ir.Literal) else "last"
        if side not in {"first", "last"} or not isinstance(given[0], ir.ListOf):
            raise _wrong(node, 'a table is written table([[...]], align: "first") or "last"')
        return _written(given[0], constants, rows, columns, str(side))
    number = _number(given[0], constants)
    stated = "start" in named
    start = _number(named["start"], constants) if stated else number
    match node.name:
        case "constant":
            return _Slope(number)
        case "vertical":
            return _Slope(start, down=number, stated=stated)
        case "horizontal":
            return _Slope(start, right=number, stated=stated)
        case other:
            if not 0 <= number <= MOST_SEED or number % 1:
                raise _wrong(given[0], f"a seed is a whole number from 0 to {MOST_SEED:,}")
            return _drawn(other, int(number), rows, columns)


def _drawn(kind: str, seed: int, rows: int, columns: int) -> Table:
    source = random.Random(seed)  # noqa: S311 - a schedule, not a secret
    draw = source.random if kind == "uniform" else (lambda: source.gauss(0, 1))
    values = [[draw() for _ in range(columns)] for _ in range(rows - 1)]
    flat = [v for row in values for v in row]
    low, high = (0.0, 1.0) if kind == "uniform" else (min(flat, default=0), max(flat, default=1))
    width = high - low
    return tuple(
        tuple(Decimal(str((v - low) / width if width else 0.5)).quantize(_DIGITS) for v in row)
        for row in values
    )


def _written(
    node: ir.ListOf, constants: Mapping[str, ir.Literal], rows: int, columns: int, align: str
) -> Table:
    lines = [i.items if isinstance(i, ir.ListOf) else () for i in node.items]
    shape = {len(line) for line in lines}
    if len(lines) != rows - 1 or (shape - {columns} and shape - {columns - 1}):
        legal = f"{rows - 1} x {columns}, or {rows - 1} x {columns - 1} as in the paper"
        got = f"{len(lines)} x {'/'.join(map(str, sorted(shape)))}"
        raise _wrong(node, f"a table for {rows} rows and {columns} columns is {legal}, not {got}")
    values = [[_number(v, constants) for v in line] for line in lines]
    for row, line in zip(values, lines, strict=True):
        for value, item in zip(row, line, strict=True):
            if not 0 <= value <= 1:
                raise _wrong(item, "a weight lies between 0 and 1")
    if shape == {columns}:
        return tuple(map(tuple, values))
    zero = [Decimal(0)]
    return tuple(tuple(zero + v if align == "last" else v + zero) for v in values)


def _number(node: ir.Expr, constants: Mapping[str, ir.Literal]) -> Decimal:
    if isinstance(node, ir.Name) and node.name in constants:
        node = constants[node.name]
    if isinstance(node, ir.Literal) and isinstance(node.value, Decimal):
        return node.value
    raise _wrong(node, "expected a number that is known before the run")


def _wrong(node: ir.Node, message: str) -> WeightsError:
    hint = f"weights are a number, a table, or one of {', '.join(SCHEDULES[:-1])}"
    return WeightsError(Diagnostic(code="R320", message=message, span=node.span, hint=hint))

"""A scene as SVG: plain shapes and text, no scripts, nothing loaded from elsewhere."""

from collections.abc import Iterator, Sequence
from unicodedata import east_asian_width
from xml.sax.saxutils import escape, quoteattr

from reasoner import plan as p
from reasoner.drawing.layers import Layout, Size, arrange
from reasoner.drawing.scene import Grid, Group, Shape, scene

_CHAR, _LINE, _PAD = 7.3, 17.0, 10.0
_GAP = 18.0
_WIDEST = 1500.0
_CELL, _CELL_H, _CELL_X, _CELL_Y = 64.0, 26.0, 46.0, 34.0
_FILLS = {
    "input": ("#eef2f7", "#64748b"),
    "result": ("#eef2f7", "#64748b"),
    "operator": ("#e8f5e9", "#2e7d32"),
    "calc": ("#f5f5f5", "#757575"),
    "model": ("#fff3e0", "#e65100"),
    "each": ("#f3f8ff", "#1d4ed8"),
    "choice": ("#faf5ff", "#7c3aed"),
    "budget": ("#fef2f2", "#b91c1c"),
    "matrix": ("#fffdf2", "#a16207"),
}
_FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_HEAD = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#475569"/></marker></defs>'
)


def svg(plan: p.Plan) -> str:
    """Return a plan as an SVG document."""
    top = scene(plan)
    body = _Block(top)
    title = f"{top.title}, plan {plan.hash[:16]}"
    width = max(body.size.width, _wide(title)) + 2 * _GAP
    height = body.size.height + _LINE + 3 * _GAP
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}" font-size="12">',
        f"<title>{escape(title)}</title>",
        _HEAD,
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(_GAP, _GAP + 12, title, bold=True),
        *body.draw(_GAP + max(0.0, _wide(title) - body.size.width) / 2, _LINE + 2 * _GAP),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


class _Block:
    """The shapes of a block, laid out."""

    def __init__(self, group: Group) -> None:
        self.boxes = {s.key: _Box(s) for s in group.shapes}
        sizes = {key: box.size for key, box in self.boxes.items()}
        self.layout: Layout = arrange(sizes, [(a.source, a.target) for a in group.arrows])
        self.size = self.layout.size

    def draw(self, x: float, y: float) -> Iterator[str]:
        """Yield the elements of the block with its upper left corner at a place."""
        for key, box in self.boxes.items():
            left, top = self.layout.places[key]
            yield from box.draw(x + left, y + top)
        for points in self.layout.routes.values():
            yield _arrow([(x + a, y + b) for a, b in points])


class _Box:
    """One shape with its text and the blocks inside it, laid out in rows."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.grid = None if shape.grid is None else _Matrix(shape.grid)
        self.inner = [(g.title, _Block(g)) for g in shape.groups]
        texts = (shape.title, *shape.lines)
        width = max(_wide(t) for t in texts) + 2 * _PAD
        height = _LINE * len(texts) + _PAD
        self.head = height
        if self.grid is not None:
            width = max(width, self.grid.size.width + 2 * _GAP)
            height += self.grid.size.height + _GAP
        self.places: list[tuple[float, float]] = []
        x, row = _GAP, 0.0
        for title, block in self.inner:
            size = _framed(title, block)
            if x > _GAP and x + size.width > _WIDEST:
                x, height, row = _GAP, height + row + _GAP, 0.0
            self.places.append((x, height))
            x, row = x + size.width + _GAP, max(row, size.height)
            width = max(width, x)
        self.size = Size(width, height + row + (_GAP if self.inner else 0.0))

    def draw(self, x: float, y: float) -> Iterator[str]:
        """Yield the elements of the box with its upper left corner at a place."""
        shape, size = self.shape, self.size
        fill, line = _FILLS[shape.kind]
        mark = f" data-step={quoteattr(shape.step)}" if shape.step else ""
        round_ = size.height / 2 if shape.kind in {"input", "result"} else 6
        yield f"<g{mark}>"
        if shape.tip:
            yield f"<title>{escape(shape.tip)}</title>"
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{size.width:.1f}" height="{size.height:.1f}" '
            f'rx="{round_:.0f}" fill="{fill}" stroke="{line}"/>'
        )
        solid = not self.inner and self.grid is None
        for number, text in enumerate((shape.title, *shape.lines)):
            at = x + size.width / 2 if solid else x + _PAD
            bold = number == 0 and bool(shape.step)
            yield _text(at, y + _PAD + 6 + _LINE * number, text, bold=bold, middle=solid)
        if self.grid is not None:
            yield from self.grid.draw(x + _GAP, y + self.head)
        for (title, block), (left, top) in zip(self.inner, self.places, strict=True):
            yield from _frame(title, block, x + left, y + top)
        yield "</g>"


def _framed(title: str, block: _Block) -> Size:
    width = max(block.size.width, _wide(title)) + 2 * _PAD
    return Size(width, block.size.height + _LINE + 2 * _PAD)


def _frame(title: str, block: _Block, x: float, y: float) -> Iterator[str]:
    size = _framed(title, block)
    yield (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{size.width:.1f}" height="{size.height:.1f}" rx="4" '
        'fill="#ffffff" stroke="#94a3b8" stroke-dasharray="4 3"/>'
    )
    yield _text(x + _PAD, y + 14, title, color="#475569")
    left = x + (size.width - block.size.width) / 2
    yield from block.draw(left, y + _LINE + _PAD / 2)


class _Matrix:
    """Rows and columns of cells, the weights on the arrows, the summaries below."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.top = _CELL_H + _CELL_Y if grid.shared else 0.0
        self.bottom = self.top + grid.rows * (_CELL_H + _CELL_Y)
        note = _LINE if grid.note else 0.0
        width = grid.columns * (_CELL + _CELL_X) - _CELL_X + 2 * _PAD
        self.size = Size(max(width, _wide(grid.note)), self.bottom + _CELL_H + note + _PAD)

    def draw(self, x: float, y: float) -> Iterator[str]:
        """Yield the elements of the matrix with its upper left corner at a place."""
        grid = self.grid
        x, y = x + _PAD, y + _PAD
        for j in range(grid.columns):
            yield from self.column(j, x + j * (_CELL + _CELL_X), y)
        if grid.note:
            yield _text(x, y + self.bottom + _CELL_H + 14, grid.note, color="#475569")

    def column(self, j: int, left: float, y: float) -> Iterator[str]:
        """Yield one column: its cells, the arrows between them, and its summary."""
        grid, middle, first = self.grid, left + _CELL / 2, y + self.top
        if grid.shared:
            yield _cell(left, y, f"column {j + 1}", "#f8fafc")
        low = first + (grid.rows - 1) * (_CELL_H + _CELL_Y) + _CELL_H
        yield (
            f'<rect x="{left - 6:.1f}" y="{first - 6:.1f}" width="{_CELL + 12:.1f}" '
            f'height="{low - first + 12:.1f}" rx="4" fill="none" stroke="#d6c48a"/>'
        )
        if grid.shared:
            yield _arrow([(middle, y + _CELL_H), (middle, first - 6)])
        for i in range(grid.rows):
            top = first + i * (_CELL_H + _CELL_Y)
            yield _cell(left, top, f"{i + 1},{j + 1}", "#fef9c3")
            weight = grid.weights[i][j] if i < len(grid.weights) else ""
            if weight:
                yield _arrow([(middle, top + _CELL_H), (middle, top + _CELL_H + _CELL_Y)])
                yield _text(middle + 5, top + _CELL_H + _CELL_Y / 2 + 3, weight, color="#92400e")
        end = y + self.bottom
        yield _arrow([(middle, low + 6), (middle, end)])
        yield _cell(left, end, f"summary {j + 1}"[:9], "#fde68a")
        if j and grid.chained:
            yield _arrow([(left - _CELL_X, end + _CELL_H / 2), (left, end + _CELL_H / 2)])
        if j and grid.fed:
            lane = left - _CELL_X / 2
            points = [(left - _CELL_X, end + 6), (lane, end + 6), (lane, y + 13), (left, y + 13)]
            yield _arrow(points, bent=False)


# ---- elements ------------------------------------------------------------------------------


def _cell(x: float, y: float, text: str, fill: str) -> str:
    label = _text(x + _CELL / 2, y + 17, text, middle=True, small=True)
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL:.1f}" height="{_CELL_H:.1f}" rx="3" '
        f'fill="{fill}" stroke="#a16207"/>{label}'
    )


def _text(
    x: float, y: float, text: str, *, bold: bool = False, middle: bool = False,
    small: bool = False, color: str = "#0f172a",
) -> str:  # fmt: skip
    style = f' fill="{color}"'
    style += ' font-weight="bold"' if bold else ""
    style += ' text-anchor="middle"' if middle else ""
    style += ' font-size="11"' if small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}>{escape(text)}</text>'


def _arrow(points: Sequence[tuple[float, float]], *, bent: bool = True) -> str:
    (x, y), *rest = points
    path = [f"M{x:.1f},{y:.1f}"]
    for a, b in rest:
        half = (y + b) / 2
        curve = f"C{x:.1f},{half:.1f} {a:.1f},{half:.1f} {a:.1f},{b:.1f}"
        path.append(f"L{a:.1f},{b:.1f}" if not bent or x == a or y == b else curve)
        x, y = a, b
    return (
        f'<path d="{" ".join(path)}" fill="none" stroke="#475569" stroke-width="1.2" '
        'marker-end="url(#tip)"/>'
    )


def _wide(text: str) -> float:
    """Return the width of a text in a font whose letters are equally wide."""
    return _CHAR * sum(2 if east_asian_width(c) in "WF" else 1 for c in text)

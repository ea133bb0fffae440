"""A scene as a Mermaid flowchart: text that many wikis and editors draw."""

from itertools import count

from reasoner import plan as p
from reasoner.drawing.scene import Arrow, Grid, Group, Shape, scene

_STYLES = {
    "input": "fill:#eef2f7,stroke:#64748b",
    "result": "fill:#eef2f7,stroke:#64748b",
    "operator": "fill:#e8f5e9,stroke:#2e7d32",
    "calc": "fill:#f5f5f5,stroke:#757575",
    "model": "fill:#fff3e0,stroke:#e65100",
    "each": "fill:#f3f8ff,stroke:#1d4ed8",
    "choice": "fill:#faf5ff,stroke:#7c3aed",
    "budget": "fill:#fef2f2,stroke:#b91c1c",
    "matrix": "fill:#fffdf2,stroke:#a16207",
}


def mermaid(plan: p.Plan) -> str:
    """Return a plan as Mermaid text."""
    writer = _Writer()
    top = scene(plan)
    writer.lines.append(f"%% {_plain(top.title)}, plan {plan.hash[:16]}")
    writer.lines.append("flowchart TB")
    writer.group(top, 1)
    for kind, style in _STYLES.items():
        if members := [name for name, k in writer.kinds if k == kind]:
            writer.lines.append(f"  classDef {kind} {style},color:#111")
            writer.lines.append(f"  class {','.join(members)} {kind}")
    return "\n".join(writer.lines) + "\n"


def _text(text: str) -> str:
    """Return a label with everything that Mermaid or HTML would read as more than text escaped."""
    safe = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "#": "#35;", "&": "#amp;", "`": "#96;"}
    return "".join(safe.get(c, c) for c in text)


def _plain(text: str) -> str:
    return text.replace("%", "").replace("{", "(").replace("}", ")")


class _Writer:
    """Gives each shape a short name and writes nested subgraphs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.kinds: list[tuple[str, str]] = []
        self.numbers = count(1)

    def name(self, kind: str) -> str:
        """Return a new name, and note what kind of thing it names."""
        name = f"n{next(self.numbers)}"
        self.kinds.append((name, kind))
        return name

    def group(self, group: Group, depth: int) -> None:
        """Write the shapes and arrows of a block."""
        names = {s.key: self.shape(s, depth) for s in group.shapes}
        for arrow in group.arrows:
            self.arrow(names, arrow, depth)

    def arrow(self, names: dict[str, str], arrow: Arrow, depth: int) -> None:
        """Write one arrow."""
        self.put(depth, f"{names[arrow.source]} --> {names[arrow.target]}")

    def put(self, depth: int, line: str) -> None:
        """Write one line."""
        self.lines.append("  " * depth + line)

    def shape(self, shape: Shape, depth: int) -> str:
        """Write one shape with what is inside; return its name."""
        name = self.name(shape.kind)
        label = "<br/>".join(_text(t) for t in (shape.title, *shape.lines))
        if not shape.groups and shape.grid is None:
            left, right = ('(["', '"])') if shape.kind in {"input", "result"} else ('["', '"]')
            self.put(depth, f"{name}{left}{label}{right}")
            return name
        self.put(depth, f'subgraph {name}["{label}"]')
        if shape.grid is not None:
            self.grid(shape.grid, name, depth + 1)
        for number, group in enumerate(shape.groups, start=1):
            self.put(depth + 1, f'subgraph {name}_{number}["{_text(group.title)}"]')
            self.group(group, depth + 2)
            self.put(depth + 1, "end")
        self.put(depth, "end")
        return name

    def grid(self, grid: Grid, name: str, depth: int) -> None:
        """Write the cells of a matrix, column by column, with the weights on the arrows."""
        for j in range(1, grid.columns + 1):
            self.put(depth, f'subgraph {name}_c{j}["column {j}"]')
            for i in range(1, grid.rows + 1):
                self.put(depth + 1, f'{name}_{i}x{j}["{i},{j}"]')
            for i, row in enumerate(grid.weights, start=1):
                if row[j - 1]:
                    self.put(depth + 1, f"{name}_{i}x{j} -->|{row[j - 1]}| {name}_{i + 1}x{j}")
            self.put(depth, "end")
            self.put(depth, f'{name}_s{j}(["summary {j}"])')
            self.put(depth, f"{name}_c{j} --> {name}_s{j}")
            if j > 1 and grid.chained:
                self.put(depth, f"{name}_s{j - 1} --> {name}_s{j}")
            if j > 1 and grid.fed:
                self.put(depth, f"{name}_s{j - 1} --> {name}_c{j}")
        if grid.note:
            self.put(depth, f'{name}_more["{_text(grid.note)}"]')

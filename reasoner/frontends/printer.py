"""The tree to the text notation, in its one canonical layout."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from reasoner import ir
from reasoner.frontends import literals
from reasoner.frontends.expressions import Expressions
from reasoner.frontends.layout import (
    Aligned,
    Doc,
    Force,
    Hard,
    IfBroken,
    Line,
    Nest,
    Row,
    Siblings,
    Trailing,
    group,
    join,
    render,
)
from reasoner.frontends.trivia import Key, Trivia, key

_Definition = ir.Use | ir.Prompt | ir.Method
_Member = ir.Param | ir.Statement | ir.Variant


def print_module(module: ir.Module, trivia: Trivia | None = None, *, ordered: bool = False) -> str:
    """Return a module in the text notation.

    Parameters
    ----------
    module
        The tree.
    trivia
        The comments and empty lines that go with it; they are taken out of it.
    ordered
        Keep the order of the text that the module was read from, where the tree has none.
    """
    doc = _Printer(trivia or Trivia(), ordered=ordered).module(module)
    return "\n".join(render(doc)).strip("\n") + "\n"


class _Printer:
    """Makes documents of definitions."""

    def __init__(self, trivia: Trivia, *, ordered: bool) -> None:
        self.trivia, self.ordered = trivia, ordered
        self.expressions = Expressions(trivia)

    def module(self, module: ir.Module) -> Doc:
        """Return the file: its definitions, with an empty line between all but uses."""
        nodes: list[_Definition] = [*module.uses, *module.prompts, *module.methods]
        if self.ordered:
            nodes.sort(key=lambda n: n.span.start)
        opening = [self.remark(r.text, r.blank) for r in self.trivia.opening.pop(key(module), ())]
        rows = list(opening)
        before: _Definition | None = None
        for node in nodes:
            own = self.rows(key(node), self.definition(node))
            if before is not None and not (isinstance(before, ir.Use) and isinstance(node, ir.Use)):
                own[0] = _below_blank(own[0])
            rows += own
            before = node
        closing = self.trivia.closing.pop(key(module), ())
        return _stacked([*rows, *(self.remark(r.text, r.blank) for r in closing)])

    def definition(self, node: _Definition) -> Doc:
        """Return a definition."""
        match node:
            case ir.Use(names=names, path=path):
                listed = join((",", Line()), [n.name for n in names])
                return group("use ", Nest((listed, Line(), "from ", literals.quoted(path))))
            case ir.Prompt():
                return self.prompt(node)
            case ir.Method():
                return self.method(node)
            case _:
                assert_never(node)

    def prompt(self, node: ir.Prompt) -> Doc:
        """Return a prompt; a text of several lines stands between triple quotes."""
        task = "" if node.task is None else f" as {node.task}"
        text = node.text.value
        head = ("prompt ", node.name, self.inputs(node), " -> ", type_name(node.returns), task, " ")
        block = literals.paragraph(text) if literals.in_lines(text) else literals.quoted(text)
        if "\n" in text:
            return head, "{", Nest((Hard(), block)), Hard(), "}"
        return group(head, "{", Nest((Line(), literals.quoted(text))), Line(), "}")

    def method(self, node: ir.Method) -> Doc:
        """Return a method: limits, parameters, steps and variants."""
        head = ("method ", node.name, self.inputs(node), " -> ", type_name(node.returns), " {")
        opening = tuple(Trailing(r.text) for r in self.trivia.opening.pop(key(node), ()))
        rows = [Row(self.doc(node))] if node.doc or _looks_like_doc(node.body) else []
        rows += self.members(node)
        closing = self.trivia.closing.pop(key(node), ())
        rows += [self.remark(r.text, r.blank) for r in closing]
        if not rows and not opening:
            return head, "}"
        return head, opening, Nest((Hard(), _stacked(rows))), Hard(), "}"

    def doc(self, node: ir.Method) -> Doc:
        """Return the text that says what a method does."""
        if "\n" in node.doc and literals.in_lines(node.doc):
            return literals.paragraph(node.doc)
        return literals.quoted(node.doc)

    def inputs(self, node: ir.Prompt | ir.Method) -> Doc:
        """Return ``(a: Text, b: Number)``."""
        where = key(node, "inputs")
        opening = tuple(Trailing(r.text) for r in self.trivia.opening.pop(where, ()))
        rows: list[Row] = []
        last = len(node.inputs) - 1
        for number, item in enumerate(node.inputs):
            comma: Doc = "," if number < last else IfBroken(",")
            rows += self.rows(key(item), (f"{item.name}: {type_name(item.type)}", comma))
        closing = self.trivia.closing.pop(where, ())
        rows += [self.remark(r.text, r.blank) for r in closing]
        if not rows and not opening:
            return "()"
        inner: list[Doc] = []
        for row in rows:
            inner += [Line() if inner else Line(""), row.doc, row.tail]
        return group("(", opening, Nest(tuple(inner)), Line(""), ")")

    # ---- members of methods --------------------------------------------------------------

    def members(self, node: ir.Method) -> list[Row]:
        """Return what is inside a method, with an empty line between its sections."""
        found: list[tuple[int, int, list[Row]]] = []
        if node.limits:
            rows = self.rows(
                key(node, "limits"), ("budget", self.expressions.arguments(node.limits))
            )
            found.append((min(a.span.start for a in node.limits), 0, rows))
        found += [(p.span.start, 0, self.rows(key(p), self.param(p))) for p in node.params]
        found += [(s.span.start, 1, self.rows(key(s), self.step(s))) for s in node.body.body]
        found += [(v.span.start, 2, self.rows(key(v), self.variant(v))) for v in node.variants]
        if self.ordered:
            found.sort(key=lambda f: f[0])
        return _sections(found)

    def param(self, node: ir.Param) -> Doc:
        """Return ``param name = value``."""
        return Aligned(
            "param", ("param ", node.name, " "), ("= ", self.expressions.expr(node.value))
        )

    def step(self, node: ir.Statement) -> Doc:
        """Return a step of a method or a variant, where a value is always returned."""
        return self.expressions.statement(node, first=False, last=False)

    def variant(self, node: ir.Variant) -> Doc:
        """Return a variant, on one line if it fits."""
        rows: list[Row] = []
        for change in node.changes:
            match change:
                case ir.Param():
                    rows += self.rows(key(change), self.param(change))
                case ir.Bind() | ir.Return():
                    rows += self.rows(key(change), self.step(change))
                case _:
                    assert_never(change)
        body = self.expressions.enclosed(key(node), rows, Line("  "))
        crowded = any(isinstance(inner, ir.Block) for inner in ir.walk(node))
        force: Doc = Force() if crowded else ""
        return Aligned("variant", ("variant ", node.name, " "), group(force, body))

    # ---- rows ----------------------------------------------------------------------------

    def rows(self, where: Key, doc: Doc) -> list[Row]:
        """Return a document with the comments before and behind it."""
        return self.expressions.rows(where, doc)

    def remark(self, text: str, blank: bool) -> Row:  # noqa: FBT001 - what a remark consists of
        """Return a comment on a line of its own."""
        return self.expressions.remark(text, blank=blank)


def type_name(node: ir.TypeExpr) -> str:
    """Return a type as it is written."""
    parts = [type_name(a) for a in node.args]
    parts += [f"{f.name}: {type_name(f.type)}" for f in node.fields]
    return f"{node.name}[{', '.join(parts)}]" if parts else node.name


def _looks_like_doc(body: ir.Block) -> bool:
    """Say whether the first step would be taken for the text that says what a method does."""
    match body.body:
        case (ir.Return(value=ir.Literal(value=str())), _, *_):
            return True
        case _:
            return False


def _below_blank(row: Row) -> Row:
    return replace(row, blank=True)


def _sections(found: Sequence[tuple[int, int, list[Row]]]) -> list[Row]:
    """Return rows with an empty line where the kind changes; variants are alike."""
    rows: list[Row] = []
    variants: list[Row] = []
    before: int | None = None
    for _, kind, own in found:
        first = own[0] if before in {None, kind} else _below_blank(own[0])
        if kind == 2:
            variants += [first, *own[1:]]
        else:
            rows += [*_together(variants), first, *own[1:]]
            variants = []
        before = kind
    return [*rows, *_together(variants)]


def _together(rows: list[Row]) -> list[Row]:
    if not rows:
        return []
    return [Row(Siblings(tuple(rows)), "", rows[0].blank)]


def _stacked(rows: Sequence[Row]) -> Doc:
    """Return rows, each on lines of its own."""
    docs: list[Doc] = []
    for row in rows:
        if docs:
            docs.append(Hard(row.blank))
        docs += [row.doc, row.tail]
    return tuple(docs)

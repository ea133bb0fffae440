"""Expressions of the tree to documents: parentheses only where they are needed."""

from collections.abc import Sequence
from decimal import Decimal
from typing import assert_never

from reasoner import ir
from reasoner.frontends import literals
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
    leading,
)
from reasoner.frontends.trivia import Key, Trivia, key

_LOWEST, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGNED, _POSTFIX = range(9)
_ATOM = _POSTFIX
_LEVELS = {
    "or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT,
}  # fmt: skip
#: Words that go on with the expression before them where they are not behind ``return``.
_CLAUSES = frozenset({"accept", "by", "from", "limit", "on_error", "on_limit", "until", "up"})


class Expressions:
    """Makes documents of expressions and blocks; each comment is taken where it is printed.

    ``leaf`` is for the leaves of YAML: one line if need be, and ``name=value`` in calls.
    """

    def __init__(self, trivia: Trivia, *, leaf: bool = False) -> None:
        self.trivia, self.leaf = trivia, leaf

    # ---- expressions ---------------------------------------------------------------------

    def expr(self, node: ir.Expr, level: int = _LOWEST) -> Doc:
        """Return an expression where operators bind as tightly as ``level``."""
        doc = self.bare(node)
        if _level(node) >= level:
            return doc
        return group("(", Nest((Line(""), doc)), Line(""), ")")

    def bare(self, node: ir.Expr) -> Doc:
        """Return an expression without parentheses around it."""
        match node:
            case ir.Literal():
                return literals.literal(node, lines=not self.leaf)
            case ir.Name(name=name):
                return name
            case ir.ListOf(items=items):
                return self.bracketed("[", [self.expr(i) for i in items], "]")
            case ir.RecordOf(items=items):
                return self.bracketed("{", [self.argument(i, ": ") for i in items], "}")
            case ir.Field(value=value, name=name):
                return self.expr(value, _POSTFIX), ".", name
            case ir.Unary(sign="not", value=value):
                return "not ", self.expr(value, _NOT)
            case ir.Unary(sign=sign, value=value):
                return sign, self.expr(value, _SIGNED)
            case ir.Binary():
                return self.binary(node)
            case ir.Call(name=name, args=args):
                return name, self.arguments(args)
            case ir.Ask() | ir.Dialog() | ir.Matrix() | ir.Frontier() | ir.First():
                return self.form(node)
            case ir.Each() | ir.Budget() | ir.If() | ir.Loop() | ir.Fold():
                return self.form(node)
            case _:
                assert_never(node)

    def binary(self, node: ir.Binary) -> Doc:
        """Return a chain of operators of one level; it is broken before each of them."""
        level = _level(node)
        rest: list[Doc] = []
        left: ir.Expr = node
        while isinstance(left, ir.Binary) and _level(left) == level:
            rest.append((Line(), left.sign, " ", self.expr(left.right, level + 1)))
            left = left.left
            if level == _COMPARE:  # these make no chains
                return group(self.expr(left, _SUM), Nest(tuple(rest)))
        return group(self.expr(left, level), Nest(tuple(reversed(rest))))

    def argument(self, node: ir.Argument, sign: str) -> Doc:
        """Return an argument."""
        value = self.expr(node.value)
        return value if node.name is None else (node.name, sign, value)

    def arguments(self, nodes: Sequence[ir.Argument]) -> Doc:
        """Return arguments in parentheses; one that has brackets of its own is not indented."""
        docs = [self.argument(a, "=" if self.leaf else ": ") for a in nodes]
        if len(nodes) == 1 and nodes[0].name is None and _is_enclosed(nodes[0].value):
            return "(", docs[0], ")"
        return self.bracketed("(", docs, ")")

    def bracketed(self, opening: str, docs: Sequence[Doc], closing: str) -> Doc:
        """Return a list between brackets, with a comma behind the last where it is broken."""
        if not docs:
            return opening + closing
        inner = join((",", Line()), docs)
        return group(opening, Nest((Line(""), inner)), IfBroken(","), Line(""), closing)

    # ---- forms ---------------------------------------------------------------------------

    def form(self, node: ir.Form) -> Doc:
        """Return a form."""
        match node:
            case ir.Ask(call=call, role=role, options=options):
                settings = self.arguments(options) if options else ""
                return "ask ", self.expr(call), " by ", role, settings
            case ir.Each(var=var, items=items, body=body):
                clauses: list[Doc] = ["each ", var, " in ", self.expr(items)]
                if node.limit is not None:
                    clauses += [Line(), "up to ", self.expr(node.limit)]
                if node.on_error is not None:
                    clauses += [Line(), "on_error ", self.policy(node.on_error)]
                return self.headed(clauses, body)
            case ir.Dialog():
                return self.dialog(node)
            case ir.Budget(limits=limits, body=body):
                return self.headed(["budget", self.arguments(limits)], body)
            case ir.If():
                return group(*self.branches(node))
            case ir.First():
                return self.first(node)
            case ir.Loop(var=var, init=init, body=body):
                clauses = ["loop ", var, " = ", self.expr(init), Line()]
                clauses += ["up to ", self.expr(node.limit)]
                if node.until is not None:
                    clauses += [Line(), "until ", self.expr(node.until)]
                if node.on_limit is not None:
                    clauses += [Line(), "on_limit ", self.policy(node.on_limit)]
                return self.headed(clauses, body)
            case ir.Fold(var=var, items=items, body=body):
                clauses = ["fold ", var, " in ", self.expr(items), Line()]
                clauses += ["from ", node.state, " = ", self.expr(node.init)]
                return self.headed(clauses, body)
            case ir.Matrix(options=options, parts=parts):
                settings = join((",", Line()), [self.setting(o, " ") for o in options])
                head = group("matrix ", Nest(settings))
                return head, " ", self.parts(node, parts, "")
            case ir.Frontier(items=items, options=options, parts=parts):
                docs = [self.expr(items), *(self.setting(o, ": ") for o in options)]
                head = group("frontier from ", Nest(join((",", Line()), docs)))
                return head, " ", self.parts(node, parts, "")
            case _:
                assert_never(node)

    def headed(self, clauses: Sequence[Doc], body: ir.Block) -> Doc:
        """Return the head of a form and its block."""
        return group(group(Nest(tuple(clauses))), " ", self.braces(body))

    def setting(self, node: ir.Argument, sign: str) -> Doc:
        """Return an option of a form."""
        return node.name or "", sign, self.expr(node.value)

    def policy(self, node: ir.OnError) -> Doc:
        """Return ``skip`` or ``default(v)``."""
        if node.value is None:
            return node.policy
        return node.policy, "(", self.expr(node.value), ")"

    def call_by(self, call: ir.Call, role: str, options: Sequence[ir.Argument]) -> Doc:
        """Return ``prompt(a) by role(option: b)``."""
        return self.expr(call), " by ", role, self.arguments(options) if options else ""

    def dialog(self, node: ir.Dialog) -> Doc:
        """Return a dialog; options without a name can only stand behind the role."""
        unnamed = [n for n, o in enumerate(node.options) if o.name is None]
        cut = len(node.options) if self.leaf else max(unnamed, default=-1) + 1
        head = self.call_by(node.call, node.role, node.options[:cut])
        rest = tuple((",", Line(), self.setting(o, ": ")) for o in node.options[cut:])
        return group("dialog ", head, Nest(rest)), " ", self.parts(node, node.handlers, "on ")

    def branches(self, node: ir.If) -> tuple[Doc, ...]:
        """Return ``if a { } else if b { } else { }``."""
        docs: list[Doc] = ["if ", self.expr(node.cond), " ", self.braces(node.then)]
        if (other := node.otherwise) is None:
            return tuple(docs)
        match other.body:
            case (ir.Return(value=ir.If() as inner) as value,) if not self.noted(other, value):
                return (*docs, " else ", *self.branches(inner))
            case _:
                return (*docs, " else ", self.braces(other))

    def first(self, node: ir.First) -> Doc:
        """Return ``first x of { a; b } accept c``."""
        rows = []
        last = len(node.alternatives) - 1
        for number, block in enumerate(node.alternatives):
            match block.body:
                case (ir.Return(value=inner) as value,) if not self.noted_inside(block, value):
                    end: Doc = ";" if number < last else IfBroken(";")
                    rows += self.rows(key(block), (self.expr(inner), end))
                case _:
                    rows += self.rows(key(block), group(self.braces(block)))
        var = "" if node.var is None else f"{node.var} "
        body = self.enclosed(key(node), rows, Line())
        accept: Doc = ""
        if node.accept is not None:
            accept = (" accept ", self.expr(node.accept))
        own = {id(node) for node in node.alternatives}
        crowded = any(isinstance(n, ir.Block) and id(n) not in own for n in ir.walk(node))
        force: Doc = Force() if crowded and not self.leaf else ""
        return group("first ", var, "of ", force, body), accept

    def parts(self, node: ir.Node, handlers: Sequence[ir.Handler], word: str) -> Doc:
        """Return the parts of a form between braces."""
        rows = []
        for part in handlers:
            head = f"{word}{part.tool}({', '.join(part.params)})"
            doc = Aligned("part", (head, " "), group(self.braces(part.body)))
            rows += self.rows(key(part), doc)
        if self.leaf:
            return self.enclosed(key(node), rows, Line())
        return self.listed(key(node), rows)

    # ---- blocks --------------------------------------------------------------------------

    def braces(self, block: ir.Block) -> Doc:
        """Return a block; it stands on one line only if it has one step and holds no block."""
        rows: list[Row] = []
        for number, statement in enumerate(block.body):
            last = number == len(block.body) - 1
            doc = self.statement(statement, first=number == 0, last=last)
            rows += self.rows(key(statement), doc)
        body = self.enclosed(key(block), rows, Line("  "))
        crowded = len(block.body) > 1 or any(
            isinstance(inner, ir.Block) for inner in ir.walk(block) if inner is not block
        )
        return (Force(), body) if crowded and not self.leaf else body

    def statement(self, node: ir.Statement, *, first: bool, last: bool) -> Doc:
        """Return a step; the value of a block needs no ``return`` where nothing glues to it."""
        match node:
            case ir.Bind(name=name, value=value):
                return Aligned("bind", (name, " "), ("= ", self.expr(value)))
            case ir.Return(value=value):
                doc = self.expr(value)
                start = leading(doc)
                glued = not first and (start[:1] in {"(", "-"} or start in _CLAUSES)
                return doc if last and not glued else ("return ", doc)
            case _:
                assert_never(node)

    # ---- rows ----------------------------------------------------------------------------

    def noted(self, block: ir.Block, value: ir.Return) -> bool:
        """Say whether there are comments that need the braces of a block."""
        return self.trivia.touches(key(block), key(value))

    def noted_inside(self, block: ir.Block, value: ir.Return) -> bool:
        """Say the same of a block that may itself have a comment before or behind it."""
        inside = (self.trivia.opening, self.trivia.closing)
        return self.trivia.touches(key(value)) or any(t.get(key(block)) for t in inside)

    def rows(self, where: Key, doc: Doc) -> list[Row]:
        """Return a document with the comments before and behind it."""
        blank = where in self.trivia.blank
        rows = [self.remark(r.text, blank=r.blank) for r in self.trivia.before.pop(where, ())]
        tail: Doc = tuple(Trailing(r.text) for r in self.trivia.after.pop(where, ()))
        return [*rows, Row(doc, tail, blank)]

    def remark(self, text: str, *, blank: bool) -> Row:
        """Return a comment on a line of its own."""
        return Row((Force(), text), blank=blank, remark=True)

    def enclosed(self, where: Key, rows: list[Row], separator: Line) -> Doc:
        """Return rows between braces, on one line or each on its own."""
        opening, rows = self.edges(where, rows)
        if not rows and not opening:
            return "{}"
        inner: list[Doc] = [Line()]
        for number, row in enumerate(rows):
            if number:
                inner.append(Hard(blank=True) if row.blank else separator)
            inner += [row.doc, row.tail]
        return "{", opening, Nest(tuple(inner)), Line(), "}"

    def listed(self, where: Key, rows: list[Row]) -> Doc:
        """Return rows between braces, each on its own line and all alike."""
        opening, rows = self.edges(where, rows)
        if not rows and not opening:
            return "{}"
        return "{", opening, Nest((Hard(), Siblings(tuple(rows)))), Hard(), "}"

    def edges(self, where: Key, rows: list[Row]) -> tuple[Doc, list[Row]]:
        """Return the comment behind an opening brace, and the rows with those at the end."""
        opening: Doc = tuple(Trailing(r.text) for r in self.trivia.opening.pop(where, ()))
        closing = [self.remark(r.text, blank=r.blank) for r in self.trivia.closing.pop(where, ())]
        return opening, [*rows, *closing]


def _is_enclosed(node: ir.Expr) -> bool:
    """Say whether an expression ends with the bracket that holds what can be broken in it."""
    match node:
        case ir.ListOf() | ir.RecordOf() | ir.Call() | ir.Each() | ir.Dialog() | ir.Budget():
            return True
        case ir.If() | ir.Loop() | ir.Fold() | ir.Matrix() | ir.Frontier():
            return True
        case ir.Literal() | ir.Name() | ir.Field() | ir.Unary() | ir.Binary() | ir.Ask():
            return False
        case ir.First(accept=accept):
            return accept is None
        case _:
            assert_never(node)


def _level(node: ir.Expr) -> int:
    """Return how tightly an expression holds together."""
    match node:
        case ir.Binary(sign=sign):
            return _LEVELS.get(sign, _COMPARE)
        case ir.Unary(sign=sign):
            return _NOT if sign == "not" else _SIGNED
        case ir.Literal(value=Decimal() as value):
            return _SIGNED if value.is_signed() else _ATOM
        case ir.First(accept=accept):  # what follows would belong to the condition
            return _ATOM if accept is None else _LOWEST
        case _:
            return _ATOM

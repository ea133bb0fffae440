"""The text notation: trees of the parser to nodes of the recipe."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn, cast

from lark import Tree
from lark.lexer import Token

from reasoner import ir
from reasoner.errors import Diagnostic, RecipeError
from reasoner.frontends.grammar import MAX_CHARS, MAX_DEPTH, parse
from reasoner.frontends.text import stripped, unquote
from reasoner.source import Source, Span

#: Numbers beyond ten to this power are no settings.
MAX_EXPONENT = 30
_Parts = list[Tree[Token] | Token]


def parse_module(source: Source) -> ir.Module:
    """Parse a file of the text notation.

    Raises
    ------
    RecipeError
        With the syntax error, if there is one.
    """
    if len(source.text) > MAX_CHARS:
        message = f"the recipe has more than {MAX_CHARS:,} characters"
        raise RecipeError([Diagnostic(code="R103", message=message, span=Span(source, 0, 0))])
    offsets = range(len(source.text))
    module = Builder(source, offsets).module(parse(source.text, "module", source, offsets))
    if not (module.uses or module.prompts or module.methods):
        message = "the recipe is empty"
        last = len(source.text.rstrip())
        raise RecipeError([Diagnostic(code="R104", message=message, span=Span(source, 0, last))])
    return module


class Builder:
    """Builds nodes whose spans point into ``source`` through ``offsets``."""

    def __init__(self, source: Source, offsets: Sequence[int]) -> None:
        self.source, self.offsets = source, offsets
        self.depth = 0

    # ---- places --------------------------------------------------------------------------

    def span(self, part: Tree[Token] | Token) -> Span:
        """Return where a tree or a token stands in the source."""
        if isinstance(part, Token):
            start, end = part.start_pos or 0, part.end_pos or 0
        elif part.meta.empty:
            start = end = 0
        else:
            start, end = part.meta.start_pos, part.meta.end_pos
        if not self.offsets:
            return Span(self.source, 0, 0)
        first = self.offsets[min(start, len(self.offsets) - 1)]
        last = self.offsets[min(max(end - 1, start), len(self.offsets) - 1)] + 1
        return Span(self.source, first, max(first, last))

    # ---- definitions ---------------------------------------------------------------------

    def module(self, tree: Tree[Token]) -> ir.Module:
        """Return the file."""
        items = [cast("Tree[Token]", c) for c in tree.children]
        return ir.Module(
            uses=tuple(self.use(t) for t in items if t.data == "use"),
            prompts=tuple(self.prompt(t) for t in items if t.data == "prompt"),
            methods=tuple(self.method(t) for t in items if t.data == "method"),
            span=self.span(tree),
        )

    def use(self, tree: Tree[Token]) -> ir.Use:
        """Return ``use a, b from "path"``."""
        *names, path = cast("list[Token]", tree.children)
        return ir.Use(
            names=tuple(ir.Name(name=str(n), span=self.span(n)) for n in names),
            path=self.text(path).value,
            path_span=self.span(path),
            span=self.span(tree),
        )

    def prompt(self, tree: Tree[Token]) -> ir.Prompt:
        """Return a prompt definition."""
        name, inputs, returns, *rest = tree.children
        *task, text = cast("list[Token]", rest)
        return ir.Prompt(
            name=str(name),
            name_span=self.span(name),
            inputs=self.inputs(cast("Tree[Token]", inputs)),
            returns=self.type(cast("Tree[Token]", returns)),
            task=str(task[0]) if task else None,
            task_span=self.span(task[0]) if task else None,
            text=stripped(self.text(text)),
            span=self.span(tree),
        )

    def method(self, tree: Tree[Token]) -> ir.Method:
        """Return a method definition."""
        name, inputs, returns, *members = tree.children
        trees = cast("list[Tree[Token]]", members)
        body = [self.statement(t) for t in trees if t.data == "statement"]
        doc = ""
        if len(body) > 1 and _is_text(body[0]):
            first = cast("ir.Return", body.pop(0))
            doc = str(cast("ir.Literal", first.value).value).strip()
        span = self.span(tree)
        limits = [a for t in trees if t.data == "limits" for a in self.arguments(t.children[0])]
        return ir.Method(
            name=str(name),
            name_span=self.span(name),
            doc=doc,
            inputs=self.inputs(cast("Tree[Token]", inputs)),
            returns=self.type(cast("Tree[Token]", returns)),
            params=tuple(self.param(t) for t in trees if t.data == "param"),
            limits=tuple(limits),
            body=ir.Block(body=tuple(body), span=span),
            variants=tuple(self.variant(t) for t in trees if t.data == "variant"),
            span=span,
        )

    def inputs(self, tree: Tree[Token]) -> tuple[ir.Input, ...]:
        """Return ``(a: Text, b: Number)``."""
        return tuple(self.input(part) for part in tree.children)

    def input(self, tree: Any) -> ir.Input:
        """Return ``a: Text``."""
        name, kind = tree.children
        return ir.Input(name=str(name), type=self.type(kind), span=self.span(tree))

    def type(self, tree: Tree[Token]) -> ir.TypeExpr:
        """Return a type as written."""
        name, *args = cast("list[Any]", tree.children)
        return ir.TypeExpr(
            name=str(name),
            args=tuple(self.type(a) for a in args if a.data == "type"),
            fields=tuple(self.input(a) for a in args if a.data == "input"),
            span=self.span(tree),
        )

    def param(self, tree: Tree[Token]) -> ir.Param:
        """Return ``param name = value``."""
        name, value = tree.children
        return ir.Param(
            name=str(name),
            name_span=self.span(name),
            value=self.expr(value),
            span=self.span(tree),
        )

    def variant(self, tree: Tree[Token]) -> ir.Variant:
        """Return ``variant name { ... }``."""
        name, *members = cast("list[Any]", tree.children)
        changes = [self.param(m) if m.data == "param" else self.statement(m) for m in members]
        return ir.Variant(name=str(name), changes=tuple(changes), span=self.span(tree))

    # ---- statements and expressions ------------------------------------------------------

    def block(self, tree: Any) -> ir.Block:
        """Return ``{ ... }``."""
        body = tuple(self.statement(t) for t in tree.children)
        return ir.Block(body=body, span=self.span(tree))

    def statement(self, tree: Any) -> ir.Statement:
        """Return a binding or a returned value."""
        (inner,) = tree.children
        if inner.data != "bind":
            return ir.Return(value=self.expr(inner.children[-1]), span=self.span(inner))
        name, value = inner.children
        return ir.Bind(
            name=str(name),
            name_span=self.span(name),
            value=self.expr(value),
            span=self.span(inner),
        )

    def expr(self, tree: Any) -> ir.Expr:
        """Return an expression."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                message = f"expressions are nested more than {MAX_DEPTH} deep"
                self.fail("R102", message, tree, "bind the inner parts to names")
            return self.any_expr(tree)
        finally:
            self.depth -= 1

    def fail(self, code: str, message: str, part: Tree[Token] | Token, hint: str = "") -> NoReturn:
        """Report what the grammar lets through but no recipe can mean."""
        found = Diagnostic(code=code, message=message, span=self.span(part), hint=hint)
        raise RecipeError([found])

    def any_expr(self, tree: Any) -> ir.Expr:
        """Return an expression of any form."""
        span = self.span(tree)
        match tree.data:
            case "literal":
                return self.literal(tree.children[0])
            case "name":
                return ir.Name(name=str(tree.children[0]), span=span)
            case "record":
                items = [
                    self.named(c.children[0], c.children[1], self.span(c)) for c in tree.children
                ]
                return ir.RecordOf(items=tuple(items), span=span)
            case "field":
                value, name = tree.children
                return ir.Field(
                    value=self.expr(value), name=str(name), name_span=self.span(name), span=span
                )
            case "or_" | "and_" | "compare" | "arithmetic":
                return self.binary(tree)
            case "not_" | "negative":
                return self.unary(tree)
            case "list":
                return ir.ListOf(items=tuple(self.expr(c) for c in tree.children), span=span)
            case "call":
                return self.call(tree)
            case "ask":
                call, role, role_span, options = self.call_by(tree.children[0])
                return ir.Ask(call=call, role=role, role_span=role_span, options=options, span=span)
            case "each":
                return self.each(tree)
            case "dialog":
                return self.dialog(tree)
            case "budget":
                arguments, block = tree.children
                limits = self.arguments(arguments)
                return ir.Budget(limits=limits, body=self.block(block), span=span)
            case "if":
                return self.if_(tree)
            case "first":
                return self.first(tree)
            case "loop":
                return self.loop(tree)
            case "fold":
                return self.fold(tree)
            case "matrix":
                return self.matrix(tree)
            case "frontier":
                return self.frontier(tree)
            case other:
                raise AssertionError(f"the grammar has a rule that is not built: {other}")

    def literal(self, token: Token) -> ir.Literal:
        """Return a literal value."""
        value: str | Decimal | bool | None
        match token.type:
            case "STRING":
                value = self.text(token).value
            case "NUMBER":
                value = self.number(token)
            case "NONE":
                value = None
            case _:
                value = token.type == "TRUE"
        return ir.Literal(value=value, span=self.span(token))

    def text(self, token: Token) -> ir.Text:
        """Return the value of a quoted text."""
        start = token.start_pos or 0
        return unquote(str(token), self.offsets[start : token.end_pos], self.span(token))

    def call(self, tree: Any) -> ir.Call:
        """Return ``name(arguments)``."""
        name, arguments = tree.children
        return ir.Call(
            name=str(name),
            name_span=self.span(name),
            args=self.arguments(arguments),
            span=self.span(tree),
        )

    def number(self, token: Token) -> Decimal:
        """Return an exact number of a size that a recipe can mean."""
        try:
            number = Decimal(str(token))
        except InvalidOperation:
            number = Decimal("Infinity")
        if not number.is_finite() or (number and abs(number.adjusted()) > MAX_EXPONENT):
            self.fail("R106", "this number is too large or too small", token)
        return number

    def arguments(self, tree: Any) -> tuple[ir.Argument, ...]:
        """Return ``(a, name: b)``."""
        return tuple(self.argument(t) for t in tree.children)

    def argument(self, tree: Any) -> ir.Argument:
        """Return one argument."""
        span = self.span(tree)
        if tree.data == "argument":
            return ir.Argument(name=None, value=self.expr(tree.children[0]), span=span)
        name, value = tree.children
        return self.named(name, value, span)

    def named(self, name: Token, value: Any, span: Span) -> ir.Argument:
        """Return ``name: value``."""
        return ir.Argument(
            name=str(name), name_span=self.span(name), value=self.expr(value), span=span
        )

    def call_by(self, tree: Any) -> tuple[ir.Call, str, Span, tuple[ir.Argument, ...]]:
        """Return the parts of ``prompt(a) by role(option: b)``."""
        call, role = tree.children
        name, *arguments = role.children
        options = self.arguments(arguments[0]) if arguments else ()
        return self.call(call), str(name), self.span(name), options

    def each(self, tree: Any) -> ir.Each:
        """Return ``each x in xs { ... }``."""
        head, *clauses, block = tree.children
        name, items = head.children
        limit: ir.Expr | None = None
        on_error: ir.OnError | None = None
        for clause in clauses:
            if clause.data == "each_limit":
                limit = self.expr(clause.children[0])
            else:
                on_error = self.policy(clause.children[0])
        return ir.Each(
            var=str(name),
            var_span=self.span(name),
            items=self.expr(items),
            limit=limit,
            on_error=on_error,
            body=self.block(block),
            span=self.span(tree),
        )

    def policy(self, tree: Any) -> ir.OnError:
        """Return ``skip`` or ``default(v)``."""
        name, *value = tree.children
        inner = self.expr(value[0]) if value else None
        return ir.OnError(policy=str(name), value=inner, span=self.span(tree))

    def dialog(self, tree: Any) -> ir.Dialog:
        """Return ``dialog p(a) by role, searches: n { on tool(a) { ... } }``."""
        head, *rest = tree.children
        call, role, role_span, settings = self.call_by(head)
        options, handlers = self.headed(rest)
        return ir.Dialog(
            call=call,
            role=role,
            role_span=role_span,
            options=(*settings, *options),
            handlers=tuple(self.handler(h) for h in handlers),
            span=self.span(tree),
        )

    def headed(self, parts: Any) -> tuple[tuple[ir.Argument, ...], list[Any]]:
        """Split ``name: value, name: value`` from the trees that follow them."""
        options: list[ir.Argument] = []
        rest: list[Any] = []
        pending: Token | None = None
        for part in parts:
            if isinstance(part, Token):
                pending = part
            elif pending is not None:
                span = self.span(pending).to(self.span(part))
                options.append(self.named(pending, part, span))
                pending = None
            else:
                rest.append(part)
        return tuple(options), rest

    def handler(self, tree: Any) -> ir.Handler:
        """Return ``on tool(a, b) { ... }`` or ``part(a) { ... }``."""
        signature, block = tree.children
        tool, params, spans = self.signature(signature)
        return ir.Handler(
            tool=tool,
            params=params,
            param_spans=spans,
            body=self.block(block),
            span=self.span(signature),
        )

    def binary(self, tree: Any) -> ir.Expr:
        """Return ``a + b`` and the like."""
        if tree.data in {"or_", "and_"}:
            (left, right), sign = tree.children, tree.data[:-1]
        else:
            left, sign, right = tree.children
        return ir.Binary(
            sign=str(sign), left=self.expr(left), right=self.expr(right), span=self.span(tree)
        )

    def unary(self, tree: Any) -> ir.Expr:
        """Return ``not a`` or ``-a``; a negative number is a literal."""
        value = self.expr(tree.children[-1])
        span = self.span(tree)
        if tree.data == "not_":
            return ir.Unary(sign="not", value=value, span=span)
        if isinstance(value, ir.Literal) and isinstance(value.value, Decimal):
            number = value.value.copy_negate() if value.value else value.value  # exact, and no -0
            return ir.Literal(value=number, span=span)
        return ir.Unary(sign="-", value=value, span=span)

    def if_(self, tree: Any) -> ir.If:
        """Return ``if cond { } else { }``."""
        cond, then, *rest = tree.children
        otherwise: ir.Block | None = None
        if rest and rest[0].data == "if":
            inner = self.if_(rest[0])
            value = ir.Return(value=inner, span=inner.span)
            otherwise = ir.Block(body=(value,), span=inner.span)
        elif rest:
            otherwise = self.block(rest[0])
        return ir.If(
            cond=self.expr(cond), then=self.block(then), otherwise=otherwise, span=self.span(tree)
        )

    def first(self, tree: Any) -> ir.First:
        """Return ``first x of { a; b } accept cond``."""
        parts = list(tree.children)
        var = str(parts.pop(0)) if parts and isinstance(parts[0], Token) else None
        accept = None
        if parts and parts[-1].data == "accept":
            accept = self.expr(parts.pop().children[0])
        return ir.First(
            var=var,
            alternatives=tuple(self.body(p.children[0]) for p in parts),
            accept=accept,
            span=self.span(tree),
        )

    def body(self, tree: Any) -> ir.Block:
        """Return a block, or an expression as the block that it is the value of."""
        if tree.data == "block":
            return self.block(tree)
        value = self.expr(tree)
        return ir.Block(body=(ir.Return(value=value, span=value.span),), span=value.span)

    def loop(self, tree: Any) -> ir.Loop:
        """Return ``loop s = init up to n until cond { ... }``."""
        state, limit, *clauses, block = tree.children
        name, init = state.children
        found = {c.data: c.children[0] for c in clauses}
        return ir.Loop(
            var=str(name),
            var_span=self.span(name),
            init=self.expr(init),
            limit=self.expr(limit),
            until=self.expr(found["until"]) if "until" in found else None,
            on_limit=self.policy(found["on_limit"]) if "on_limit" in found else None,
            body=self.block(block),
            span=self.span(tree),
        )

    def fold(self, tree: Any) -> ir.Fold:
        """Return ``fold x in xs from s = init { ... }``."""
        head, state, block = tree.children
        var, items = head.children
        name, init = state.children
        return ir.Fold(
            var=str(var),
            var_span=self.span(var),
            items=self.expr(items),
            state=str(name),
            state_span=self.span(name),
            init=self.expr(init),
            body=self.block(block),
            span=self.span(tree),
        )

    def matrix(self, tree: Any) -> ir.Matrix:
        """Return ``matrix rows m, columns n { cell(...) { } }``."""
        options, parts = self.headed(tree.children)
        handlers = tuple(self.handler(p) for p in parts)
        return ir.Matrix(options=options, parts=handlers, span=self.span(tree))

    def frontier(self, tree: Any) -> ir.Frontier:
        """Return ``frontier from xs, best: k { score(t) { } }``."""
        items, *rest = tree.children
        options, parts = self.headed(rest)
        return ir.Frontier(
            items=self.expr(items),
            options=options,
            parts=tuple(self.handler(p) for p in parts),
            span=self.span(tree),
        )

    def signature(self, tree: Any) -> tuple[str, tuple[str, ...], tuple[Span, ...]]:
        """Return the parts of ``tool(a, b)``."""
        tool, *params = tree.children
        return str(tool), tuple(map(str, params)), tuple(map(self.span, params))


def _is_text(statement: ir.Statement) -> bool:
    match statement:
        case ir.Return(value=ir.Literal(value=str())):
            return True
        case _:
            return False

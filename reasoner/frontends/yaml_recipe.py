"""The YAML notation: nodes with marks to the same tree as the text notation.

Leaves are expressions of the language, parsed by the same grammar, with spans into the file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from reasoner import ir
from reasoner.errors import Diagnostic, RecipeError, unknown
from reasoner.frontends import yaml_nodes as y
from reasoner.frontends.grammar import RESERVED, parse
from reasoner.frontends.rsn import Builder
from reasoner.frontends.text import align, stripped
from reasoner.source import Source, Span

#: The keys of each kind of mapping; the JSON Schema of the notation is made from them too.
FILE_KEYS = (
    "method", "doc", "use", "inputs", "returns", "params", "budget", "steps", "variants", "prompts",
    "methods",
)  # fmt: skip
PROMPT_KEYS = ("inputs", "returns", "task", "text")
METHOD_KEYS = ("doc", "inputs", "returns", "params", "budget", "steps")
FORM_KEYS: dict[str, tuple[str, ...]] = {
    "each": ("each", "limit", "up_to", "on_error", "do"),
    "dialog": ("dialog", "on"),
    "budget": ("budget", "do"),
    "if": ("if", "then", "else"),
    "first": ("first", "as", "accept"),
    "loop": ("loop", "up_to", "until", "on_limit", "do"),
    "fold": ("fold", "from", "do"),
    "matrix": ("matrix",),
    "frontier": ("frontier",),
}


def parse_module(source: Source) -> ir.Module:
    """Parse a file of the YAML notation.

    Raises
    ------
    RecipeError
        With every finding about the shape of the file, or the first syntax error of a leaf.
    """
    return parse_leaves(source)[0]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar that is an expression, the rule that reads it, and where its characters stand."""

    node: y.Scalar
    start: str
    offsets: Sequence[int]


def parse_leaves(source: Source) -> tuple[ir.Module, list[Leaf]]:
    """Parse a file as `parse_module` does, and return its leaves too."""
    root = y.load(source)
    if root is None:
        raise RecipeError(
            [Diagnostic(code="R104", message="the recipe is empty", span=Span(source, 0, 0))]
        )
    reader = _Reader(source)
    return reader.module(root), reader.leaves


class _Reader:
    """Reads YAML nodes as recipe nodes; the first wrong shape ends the reading."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: list[Diagnostic] = []
        self.leaves: list[Leaf] = []

    # ---- the file ------------------------------------------------------------------------

    def module(self, root: y.YamlNode) -> ir.Module:
        top = self.mapping(root, "a recipe", FILE_KEYS)
        uses = tuple(self.use(k, v) for k, v in self.pairs(top.get("use")))
        prompts = tuple(self.prompt(k, v) for k, v in self.pairs(top.get("prompts")))
        methods = (self.method(top),) if top.get("method") is not None else ()
        helpers = tuple(self.helper(k, v) for k, v in self.pairs(top.get("methods")))
        if not methods and not prompts and not helpers:
            self.fail("R120", "the file defines neither a method nor prompts", top.span,
                      "start with 'method: name'")  # fmt: skip
        for key, _ in top.pairs:
            if not methods and key.value not in {"prompts", "use", "doc", "methods"}:
                self.fail("R120", f"{key.value!r} needs a 'method: name' in this file", key.span)
        if self.found:  # what YAML cut in two is wrong in two places of one line: the first tells
            lines = {(d.span.line, d.code): d for d in reversed(self.found)}
            raise RecipeError([*lines.values()])
        return ir.Module(uses=uses, prompts=prompts, methods=(*methods, *helpers), span=top.span)

    def use(self, path: y.Scalar, names: y.YamlNode) -> ir.Use:
        items = names.items if isinstance(names, y.Sequence) else (names,)
        found = [self.word(item, "a name") for item in items]
        return ir.Use(
            names=tuple(ir.Name(name=n.value, span=n.span) for n in found),
            path=path.value,
            path_span=path.span,
            span=path.span.to(names.span),
        )

    def prompt(self, name: y.Scalar, node: y.YamlNode) -> ir.Prompt:
        body = self.mapping(node, "a prompt", PROMPT_KEYS)
        text = self.scalar(self.need(body, "text", name.span), "the text of a prompt")
        task = body.get("task")
        return ir.Prompt(
            name=self.word(name, "a name").value,
            name_span=name.span,
            inputs=self.inputs(body.get("inputs")),
            returns=self.type(self.need(body, "returns", name.span)),
            task=None if task is None else self.word(task, "a task").value,
            task_span=None if task is None else task.span,
            text=self.text(text),
            span=name.span.to(node.span),
        )

    def method(self, top: y.Mapping) -> ir.Method:
        name = self.word(self.need(top, "method", top.span), "a name")
        variants = tuple(self.variant(k, v) for k, v in self.pairs(top.get("variants")))
        return self.described(name, top, variants)

    def helper(self, name: y.Scalar, node: y.YamlNode) -> ir.Method:
        return self.described(
            self.word(name, "a name"), self.mapping(node, "a method", METHOD_KEYS), ()
        )

    def described(
        self, name: y.Scalar, top: y.Mapping, variants: tuple[ir.Variant, ...]
    ) -> ir.Method:
        doc = top.get("doc")
        return ir.Method(
            name=name.value,
            name_span=name.span,
            doc="" if doc is None else self.scalar(doc, "a text").value.strip(),
            inputs=self.inputs(top.get("inputs")),
            returns=self.type(self.need(top, "returns", name.span)),
            params=tuple(self.param(k, v) for k, v in self.pairs(top.get("params"))),
            limits=self.named(top.get("budget")),
            body=self.block(self.need(top, "steps", name.span)),
            variants=variants,
            span=top.span,
        )

    def inputs(self, node: y.YamlNode | None) -> tuple[ir.Input, ...]:
        return tuple(
            ir.Input(name=self.word(k, "a name").value, type=self.type(v), span=k.span)
            for k, v in self.pairs(node)
        )

    def type(self, node: y.YamlNode) -> ir.TypeExpr:
        if isinstance(node, y.Sequence):
            self.fail(
                "R121", "a type is one word", node.span, 'put List[...] in quotes: "List[Text]"'
            )
        tree, build = self.leaf(self.scalar(node, "a type"), "type")
        return build.type(tree)

    def param(self, key: y.Scalar, value: y.YamlNode) -> ir.Param:
        return ir.Param(
            name=self.word(key, "a name").value,
            name_span=key.span,
            value=self.value(value),
            span=key.span.to(value.span),
        )

    def variant(self, key: y.Scalar, node: y.YamlNode) -> ir.Variant:
        items = node.items if isinstance(node, y.Sequence) else (node,)
        changes: list[ir.Param | ir.Statement] = []
        for item in items:
            if isinstance(item, y.Mapping) and (settings := item.get("params")) is not None:
                self.mapping(item, "a change of parameters", ("params",))
                changes += [self.param(k, v) for k, v in self.pairs(settings)]
            else:
                changes.append(self.statement(item))
        name = self.word(key, "a name").value
        return ir.Variant(name=name, changes=tuple(changes), span=key.span.to(node.span))

    # ---- steps ---------------------------------------------------------------------------

    def block(self, node: y.YamlNode) -> ir.Block:
        items = node.items if isinstance(node, y.Sequence) else (node,)
        body = []
        for item in items:
            try:
                body.append(self.statement(item))
            except RecipeError as error:  # the steps after it are read, to report all at once
                self.found += error.diagnostics
        return ir.Block(body=tuple(body), span=node.span)

    def statement(self, node: y.YamlNode) -> ir.Statement:
        match node:
            case y.Scalar():
                return ir.Return(value=self.expr(node), span=node.span)
            case y.Mapping(pairs=pairs) if any(k.value in FORM_KEYS for k, _ in pairs):
                return ir.Return(value=self.form(node), span=node.span)
            case y.Mapping(pairs=((key, value),)):
                if key.value == "return":
                    return ir.Return(value=self.value(value), span=node.span)
                return ir.Bind(
                    name=self.word(key, "a name").value,
                    name_span=key.span,
                    value=self.value(value),
                    span=node.span,
                )
            case y.Mapping(pairs=(_, (second, _), *_)):
                self.fail(
                    "R122", "a step binds one name", second.span, "start a new step with '- '"
                )
            case _:
                self.fail("R122", "expected a step: 'name: expression'", node.span)

    def value(self, node: y.YamlNode) -> ir.Expr:
        match node:
            case y.Scalar():
                return self.expr(node)
            case y.Mapping():
                return self.form(node)
            case y.Sequence(items=items):
                return ir.ListOf(items=tuple(self.value(i) for i in items), span=node.span)

    def form(self, node: y.Mapping) -> ir.Expr:
        keys = [k for k, _ in node.pairs]
        form = next((k.value for k in keys if k.value in FORM_KEYS), None)
        if form is not None and form not in {"dialog", "matrix", "frontier"}:
            self.mapping(node, f"the form {form!r}", FORM_KEYS[form])
        match form:
            case "each":
                return self.each(node)
            case "dialog":
                return self.dialog(node)
            case "if":
                return self.if_(node)
            case "first":
                return self.first(node)
            case "loop":
                return self.loop(node)
            case "fold":
                return self.fold(node)
            case "matrix":
                options, parts = self.headed(node, ("matrix",))
                return ir.Matrix(options=options, parts=parts, span=node.span)
            case "frontier":
                options, parts = self.headed(node, ("frontier",))
                items = self.value(self.need(node, "frontier", node.span))
                return ir.Frontier(items=items, options=options, parts=parts, span=node.span)
            case "budget":
                return ir.Budget(
                    limits=self.named(node.get("budget")),
                    body=self.block(self.need(node, "do", node.span)),
                    span=node.span,
                )
            case _:
                where = keys[0].span if keys else node.span
                found = unknown("form", keys[0].value if keys else "", FORM_KEYS, where, "R123")
                raise RecipeError([found])

    def headed(
        self, node: y.Mapping, own: Sequence[str]
    ) -> tuple[tuple[ir.Argument, ...], tuple[ir.Handler, ...]]:
        """Split the keys of a form into its options and its parts, which are written ``part(a)``."""
        options, parts = [], []
        for key, value in node.pairs:
            if "(" in key.value:
                parts.append(self.handler(key, value))
            elif key.value not in own:
                options.append(self.option(key, value))
        return tuple(options), tuple(parts)

    def option(self, key: y.Scalar, value: y.YamlNode) -> ir.Argument:
        return ir.Argument(
            name=self.word(key, "an option").value,
            name_span=key.span,
            value=self.value(value),
            span=key.span.to(value.span),
        )

    def if_(self, node: y.Mapping) -> ir.If:
        otherwise = node.get("else")
        return ir.If(
            cond=self.value(self.need(node, "if", node.span)),
            then=self.block(self.need(node, "then", node.span)),
            otherwise=None if otherwise is None else self.block(otherwise),
            span=node.span,
        )

    def first(self, node: y.Mapping) -> ir.First:
        items = self.need(node, "first", node.span)
        if not isinstance(items, y.Sequence):
            self.fail("R121", "expected a list of alternatives", items.span)
        var, accept = node.get("as"), node.get("accept")
        return ir.First(
            var=None if var is None else self.word(var, "a name").value,
            alternatives=tuple(self.block(i) for i in items.items),
            accept=None if accept is None else self.value(accept),
            span=node.span,
        )

    def state(self, node: y.YamlNode) -> tuple[Any, Any, Builder]:
        """Return the parts of ``name = value``."""
        tree, build = self.leaf(self.scalar(node, "'name = value'"), "state")
        name, init = tree.children
        return name, init, build

    def loop(self, node: y.Mapping) -> ir.Loop:
        name, init, build = self.state(self.need(node, "loop", node.span))
        until = node.get("until")
        return ir.Loop(
            var=str(name),
            var_span=build.span(name),
            init=build.expr(init),
            limit=self.value(self.need(node, "up_to", node.span)),
            until=None if until is None else self.value(until),
            on_limit=self.policy(node.get("on_limit")),
            body=self.block(self.need(node, "do", node.span)),
            span=node.span,
        )

    def policy(self, node: y.YamlNode | None) -> ir.OnError | None:
        if node is None:
            return None
        parsed, build = self.leaf(self.scalar(node, "a policy"), "policy")
        return build.policy(parsed)

    def fold(self, node: y.Mapping) -> ir.Fold:
        head = self.scalar(self.need(node, "fold", node.span), "'x in xs'")
        tree, build = self.leaf(head, "each_head")
        var, items = tree.children
        name, init, state = self.state(self.need(node, "from", node.span))
        return ir.Fold(
            var=str(var),
            var_span=build.span(var),
            items=build.expr(items),
            state=str(name),
            state_span=state.span(name),
            init=state.expr(init),
            body=self.block(self.need(node, "do", node.span)),
            span=node.span,
        )

    def each(self, node: y.Mapping) -> ir.Each:
        head = self.scalar(self.need(node, "each", node.span), "'x in xs'")
        tree, build = self.leaf(head, "each_head")
        name, items = tree.children
        limit, up_to = node.get("limit"), node.get("up_to")
        if limit is not None and up_to is not None:
            self.fail("R125", "'limit' and 'up_to' say the same: give one of them", up_to.span)
        limit = limit or up_to
        return ir.Each(
            var=str(name),
            var_span=build.span(name),
            items=build.expr(items),
            limit=None if limit is None else self.value(limit),
            on_error=self.policy(node.get("on_error")),
            body=self.block(self.need(node, "do", node.span)),
            span=node.span,
        )

    def dialog(self, node: y.Mapping) -> ir.Dialog:
        head = self.scalar(self.need(node, "dialog", node.span), "'prompt(a) by role'")
        tree, build = self.leaf(head, "call_by")
        call, role, role_span, settings = build.call_by(tree)
        own = FORM_KEYS["dialog"]
        options = [self.option(k, v) for k, v in node.pairs if k.value not in own]
        handlers = [self.handler(k, v) for k, v in self.pairs(node.get("on"))]
        return ir.Dialog(
            call=call,
            role=role,
            role_span=role_span,
            options=(*settings, *options),
            handlers=tuple(handlers),
            span=node.span,
        )

    def handler(self, key: y.Scalar, body: y.YamlNode) -> ir.Handler:
        tree, build = self.leaf(key, "signature")
        tool, params, spans = build.signature(tree)
        return ir.Handler(
            tool=tool, params=params, param_spans=spans, body=self.block(body), span=key.span
        )

    # ---- leaves --------------------------------------------------------------------------

    def expr(self, node: y.Scalar) -> ir.Expr:
        if not node.value.strip():
            self.fail("R124", "an expression is missing here", node.span)
        tree, build = self.leaf(node, "expr")
        return build.expr(tree)

    def leaf(self, node: y.Scalar, start: str) -> tuple[Any, Builder]:
        offsets = self.offsets(node)
        self.leaves.append(Leaf(node, start, offsets))
        return parse(node.value, start, self.source, offsets), Builder(self.source, offsets)

    def text(self, node: y.Scalar) -> ir.Text:
        # YAML has taken the indentation off: what is left of it belongs to the text
        offsets = tuple(self.offsets(node))
        return stripped(ir.Text(value=node.value, offsets=offsets, span=node.span))

    def offsets(self, node: y.Scalar) -> Sequence[int]:
        return align(node.value, self.source.text, node.span.start, node.span.end)

    def named(self, node: y.YamlNode | None) -> tuple[ir.Argument, ...]:
        return tuple(self.option(k, v) for k, v in self.pairs(node))

    # ---- shapes --------------------------------------------------------------------------

    def pairs(self, node: y.YamlNode | None) -> Iterator[tuple[y.Scalar, y.YamlNode]]:
        match node:
            case None:
                return
            case y.Mapping(pairs=pairs):
                yield from pairs
            case y.Scalar(value="", quoted=False):
                return
            case _:
                self.fail("R121", "expected 'key: value' pairs here", node.span)

    def mapping(self, node: y.YamlNode, what: str, keys: Sequence[str]) -> y.Mapping:
        if not isinstance(node, y.Mapping):
            self.fail("R121", f"expected {what}: 'key: value' pairs", node.span)
        wrong = [
            unknown("key", k.value, keys, k.span, "R125")
            for k, _ in node.pairs
            if k.value not in keys
        ]
        if wrong:
            raise RecipeError(wrong)
        return node

    def scalar(self, node: y.YamlNode, what: str) -> y.Scalar:
        if not isinstance(node, y.Scalar):
            self.fail("R121", f"expected {what} here", node.span)
        return node

    def word(self, node: y.YamlNode, what: str) -> y.Scalar:
        scalar = self.scalar(node, what)
        if not scalar.value.isascii() or not scalar.value.isidentifier():
            self.fail("R126", f"{scalar.value!r} is not {what}", node.span,
                      "names are letters, digits and '_', and do not start with a digit")  # fmt: skip
        if scalar.value in RESERVED:
            self.fail("R126", f"{scalar.value!r} is a word of the language, not a name", node.span)
        return scalar

    def need(self, node: y.Mapping, key: str, where: Span) -> y.YamlNode:
        found = node.get(key)
        if found is None:
            self.fail("R127", f"the key {key!r} is missing", where)
        return found

    def fail(self, code: str, message: str, span: Span, hint: str = "") -> NoReturn:
        raise RecipeError([Diagnostic(code=code, message=message, span=span, hint=hint)])

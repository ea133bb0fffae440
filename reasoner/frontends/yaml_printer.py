"""The tree to the YAML notation: every step a list item, every leaf an expression."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, takewhile
from typing import assert_never

from reasoner import ir
from reasoner.frontends.expressions import Expressions
from reasoner.frontends.layout import WIDTH, Doc, flat, render
from reasoner.frontends.printer import type_name
from reasoner.frontends.trivia import Remark, Trivia, key

_Lines = list[str]
#: Stands between a line and the comment behind it until all lines are there.
_COMMENT = "\0"
_STEP = 2
#: What a plain scalar cannot hold: line ends, controls, a comment's or a value's beginning.
_NOT_PLAIN = re.compile("[^\\S ]|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]| #|:(?: |$)|^ | $")
_NOT_IN_BRACKETS = re.compile(r"^[?:]|[\[\]{},]|:$")
_BEGINS_ELSE = re.compile(r"""[\[\]{},#&*!|>'"%@`]|[-?:](?: |$)|---|\.\.\.|$""")
_UNPRINTED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def print_module(module: ir.Module, trivia: Trivia | None = None) -> str:
    """Return a module in the YAML notation; its comments are taken out of ``trivia``."""
    lines = _Printer(trivia or Trivia()).module(module)
    return "\n".join(_aligned(lines)).strip("\n") + "\n"


def scalar(text: str, *, inside: bool = False) -> str:
    r"""Return a scalar on one line, in quotes only where YAML needs them.

    ``inside`` is for scalars between the brackets of ``[a, b]`` and ``{a: b}``.

    Examples
    --------
    >>> scalar("f(a, b)"), scalar("f(a, b)", inside=True), scalar('"x"'), scalar("[a]")
    ('f(a, b)', '"f(a, b)"', '\'"x"\'', '"[a]"')
    """
    odd = _NOT_PLAIN.search(text) or _UNPRINTED.search(text)
    if not odd and not _BEGINS_ELSE.match(text) and not (inside and _NOT_IN_BRACKETS.search(text)):
        return text
    if "\n" in text or "\t" in text or _UNPRINTED.search(text):
        return '"' + "".join(map(_escaped, text)) + '"'
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char == "\n":
        return "\\n"
    if char == " " or not (char.isspace() or _UNPRINTED.match(char)):
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class _Printer:
    """Makes lines; those of a part are indented by whoever puts it into a whole."""

    def __init__(self, trivia: Trivia) -> None:
        self.trivia = trivia
        self.leaves = Expressions(Trivia(), leaf=True)

    # ---- the file ------------------------------------------------------------------------

    def module(self, module: ir.Module) -> _Lines:
        """Return the file: its first method, then prompts and further methods."""
        header = self.trivia.opening.pop(key(module), [])
        lines = _remarks(header)
        main, helpers = module.methods[:1], module.methods[1:]
        if header and module.uses + module.prompts + main:
            nodes = sorted((*module.uses, *module.prompts, *main), key=lambda n: n.span.start)
            lines += [""] if key(nodes[0]) in self.trivia.blank else []
        for method in main:
            lines += _remarks(self.trivia.before.pop(key(method), ()))
            lines += [f"method: {method.name}"]
            lines += self.described(method, self.uses(module.uses))
            lines += _remarks(self.trivia.after.pop(key(method), ()))
        if not main:
            lines += self.uses(module.uses)
        lines += self.section("prompts", module.prompts, self.prompt)
        lines += self.section("methods", helpers, self.helper)
        return [*lines, *_remarks(self.trivia.closing.pop(key(module), ()))]

    def section(
        self, name: str, nodes: Sequence[ir.Prompt | ir.Method], make: Callable[..., _Lines]
    ) -> _Lines:
        """Return definitions below a key, with an empty line between them."""
        lines: _Lines = []
        for node in nodes:
            rows = _without_first_blank(self.noted(node, [f"{node.name}:", *_in(make(node))]))
            lines += ["", *rows] if lines else rows
        return [f"{name}:", *_in(lines)] if lines else []

    def uses(self, nodes: Sequence[ir.Use]) -> _Lines:
        """Return what a file uses; names from one file are listed together."""
        names: dict[str, list[str]] = {}
        remarks: dict[str, list[Remark]] = {}
        for node in nodes:
            names.setdefault(node.path, []).extend(n.name for n in node.names)
            texts = self.trivia.below(node)
            remarks.setdefault(node.path, []).extend(Remark(text) for text in texts)
        entries = [f"{scalar(p, inside=True)}: [{', '.join(n)}]" for p, n in names.items()]
        line = f"use: {{{', '.join(entries)}}}"
        if len(entries) == 1 and len(line) <= WIDTH and not any(remarks.values()):
            return [line]
        lines: _Lines = []
        for path, entry in zip(names, entries, strict=True):
            lines += [*_remarks(remarks[path]), entry]
        return ["use:", *_in(lines)] if lines else []

    def prompt(self, node: ir.Prompt) -> _Lines:
        """Return the keys of a prompt."""
        lines = [*self.inputs(node, 4), f"returns: {scalar(type_name(node.returns))}"]
        if node.task is not None:
            lines.append(f"task: {node.task}")
        return [*lines, *_text("text", node.text.value)]

    def helper(self, node: ir.Method) -> _Lines:
        """Return the keys of a method that the first one uses."""
        return self.described(node, [])

    def described(self, node: ir.Method, uses: _Lines) -> _Lines:
        """Return what a method consists of, without its name."""
        lines = _remarks(self.trivia.opening.pop(key(node), ()))
        if node.doc:
            lines += _text("doc", node.doc)
        lines += [*uses, *self.inputs(node, 0), f"returns: {scalar(type_name(node.returns))}"]
        params: _Lines = []
        for param in node.params:
            params += self.noted(param, self.entry(param.name, param.value, _STEP))
        if params:
            lines += ["params:", *_in(_without_first_blank(params))]
        if node.limits:
            lines += _remarks(self.trivia.before.pop(key(node, "limits"), ()))
            lines += self.pairs("budget", node.limits, 0)
            lines += _remarks(self.trivia.after.pop(key(node, "limits"), ()))
        lines += self.steps("steps", node.body, 0, returns=True)
        variants: _Lines = []
        for variant in node.variants:
            variants += self.noted(variant, self.variant(variant))
        if variants:
            lines += ["variants:", *_in(_without_first_blank(variants))]
        return [*lines, *_in(_remarks(self.trivia.closing.pop(key(node), ())))]

    def inputs(self, node: ir.Prompt | ir.Method, at: int) -> _Lines:
        """Return the inputs of a definition, on one line if they fit and have no comments."""
        where = key(node, "inputs")
        noted = self.trivia.touches(where, *map(key, node.inputs))
        pairs = [f"{i.name}: {scalar(type_name(i.type), inside=True)}" for i in node.inputs]
        line = f"inputs: {{{', '.join(pairs)}}}"
        if not noted and at + len(line) <= WIDTH:
            return [line] if pairs else []
        lines = _remarks(self.trivia.opening.pop(where, ()))
        for item in node.inputs:
            lines += self.noted(item, [f"{item.name}: {scalar(type_name(item.type))}"])
        closing = _remarks(self.trivia.closing.pop(where, ()))
        if not node.inputs:
            return [*lines, *closing]
        return ["inputs:", *_in(_without_first_blank([*lines, *closing]))]

    def variant(self, node: ir.Variant) -> _Lines:
        """Return a variant: on one line if its changes are short."""
        inside = [key(inner) for inner in ir.walk(node) if inner is not node]
        edges = self.trivia.opening.get(key(node)) or self.trivia.closing.get(key(node))
        if not edges and not self.trivia.touches(*inside):
            changes = [self.short(change) for change in node.changes]
            line = f"{node.name}: [{', '.join(filter(None, changes))}]"
            if None not in changes and len(line) + _STEP <= WIDTH:
                return [line]
        lines = _remarks(self.trivia.opening.pop(key(node), ()))
        for change in node.changes:
            match change:
                case ir.Param(name=name, value=value):
                    own = ["params:", *_in(self.entry(name, value, 4 * _STEP))]
                case ir.Bind() | ir.Return():
                    own = self.statement(change, 3 * _STEP, returns=True)
                case _:
                    assert_never(change)
            lines += self.noted(change, _item(own))
        lines += _remarks(self.trivia.closing.pop(key(node), ()))
        return [f"{node.name}:", *_in(_without_first_blank(lines))]

    def short(self, node: ir.Param | ir.Statement) -> str | None:
        """Return a change between braces, or None if it needs lines of its own."""
        if _is_structured(node.value):
            return None
        value = scalar(flat(self.leaves.expr(node.value)), inside=True)
        match node:
            case ir.Param(name=name):
                return f"{{params: {{{name}: {value}}}}}"
            case ir.Bind(name=name):
                return f"{{{name}: {value}}}"
            case ir.Return():
                return f"{{return: {value}}}"
            case _:
                assert_never(node)

    # ---- steps ---------------------------------------------------------------------------

    def steps(self, name: str, block: ir.Block, at: int, *, returns: bool = False) -> _Lines:
        """Return a block below a key; a block that is one value needs no list."""
        match block.body:
            case (ir.Return(value=value) as only,) if not returns and not self.trivia.touches(
                key(block), key(only)
            ):
                return self.entry(name, value, at)
            case ():
                inner = [*self.trivia.opening.pop(key(block), ())]
                inner += self.trivia.closing.pop(key(block), ())
                return [*_remarks(inner), f"{name}: []"]
            case _:
                return [f"{name}:", *_in(self.sequence(block, at + _STEP, returns=returns))]

    def sequence(self, block: ir.Block, at: int, *, returns: bool = False) -> _Lines:
        """Return the steps of a block as a list."""
        lines = _remarks(self.trivia.opening.pop(key(block), ()))
        for statement in block.body:
            own = self.statement(statement, at + _STEP, returns=returns)
            lines += self.noted(statement, _item(own))
        lines += _remarks(self.trivia.closing.pop(key(block), ()))
        return _without_first_blank(lines)

    def statement(self, node: ir.Statement, at: int, *, returns: bool) -> _Lines:
        """Return a step without the dash before it."""
        match node:
            case ir.Bind(name=name, value=value):
                return self.entry(name, value, at)
            case ir.Return(value=value) if returns:
                return self.entry("return", value, at)
            case ir.Return(value=value):
                return self.value(value, at)
            case _:
                assert_never(node)

    def value(self, node: ir.Expr, at: int) -> _Lines:
        """Return an expression: a form as a mapping, anything else as a leaf."""
        return self.form(node, at) if _is_structured(node) else self.leaf("", node, at)

    def entry(self, name: str, node: ir.Expr, at: int) -> _Lines:
        """Return ``name: expression``."""
        if _is_structured(node):
            return [f"{name}:", *_in(self.form(node, at + _STEP))]
        return self.leaf(f"{name}: ", node, at)

    def leaf(self, head: str, node: ir.Expr, at: int) -> _Lines:
        """Return a leaf; one that is too long for a line is a block of lines."""
        return self.leaf_of(head, self.leaves.expr(node), at)

    def leaf_of(self, head: str, doc: Doc, at: int) -> _Lines:
        """Return what a document is as a leaf."""
        line = head + scalar(flat(doc))
        if at + len(line) <= WIDTH:
            return [line]
        rows = render(doc, WIDTH - at - _STEP)
        return [line] if len(rows) == 1 else [f"{head}|", *_in(rows)]

    # ---- forms ---------------------------------------------------------------------------

    def form(self, node: ir.Expr, at: int) -> _Lines:
        """Return a form as a mapping of its parts."""
        match node:
            case ir.Each(var=var, items=items, body=body):
                lines = self.leaf_of("each: ", (f"{var} in ", self.leaves.expr(items)), at)
                if node.limit is not None:
                    lines += self.entry("up_to", node.limit, at)
                lines += self.policy("on_error", node.on_error, at)
                return [*lines, *self.steps("do", body, at)]
            case ir.Dialog():
                return self.dialog(node, at)
            case ir.Budget(limits=limits, body=body):
                return [*self.pairs("budget", limits, at), *self.steps("do", body, at)]
            case ir.If(cond=cond, then=then, otherwise=otherwise):
                lines = [*self.entry("if", cond, at), *self.steps("then", then, at)]
                return lines if otherwise is None else [*lines, *self.steps("else", otherwise, at)]
            case ir.First():
                return self.first(node, at)
            case ir.Loop(body=body):
                state = (f"{node.var} = ", self.leaves.expr(node.init))
                lines = [*self.leaf_of("loop: ", state, at), *self.entry("up_to", node.limit, at)]
                if node.until is not None:
                    lines += self.entry("until", node.until, at)
                lines += self.policy("on_limit", node.on_limit, at)
                return [*lines, *self.steps("do", body, at)]
            case ir.Fold(var=var, items=items, body=body):
                state = (f"{node.state} = ", self.leaves.expr(node.init))
                lines = self.leaf_of("fold: ", (f"{var} in ", self.leaves.expr(items)), at)
                return [*lines, *self.leaf_of("from: ", state, at), *self.steps("do", body, at)]
            case ir.Matrix(options=options, parts=parts):
                return ["matrix:", *self.settings(options, at), *self.parts(node, parts, at)]
            case ir.Frontier(items=items, options=options, parts=parts):
                lines = [*self.entry("frontier", items, at), *self.settings(options, at)]
                return [*lines, *self.parts(node, parts, at)]
            case _:
                raise AssertionError(f"{type(node).__name__} is a leaf")

    def dialog(self, node: ir.Dialog, at: int) -> _Lines:
        """Return a dialog; options without a name can only stand behind the role."""
        unnamed = [n for n, o in enumerate(node.options) if o.name is None]
        cut = max(unnamed, default=-1) + 1
        head = self.leaves.call_by(node.call, node.role, node.options[:cut])
        lines = [*self.leaf_of("dialog: ", head, at), *self.settings(node.options[cut:], at)]
        parts = self.parts(node, node.handlers, at + _STEP)
        return [*lines, "on:", *_in(parts)] if parts else lines

    def first(self, node: ir.First, at: int) -> _Lines:
        """Return alternatives as a list."""
        lines = _remarks(self.trivia.opening.pop(key(node), ()))
        for block in node.alternatives:
            inside = [t.get(key(block)) for t in (self.trivia.opening, self.trivia.closing)]
            match block.body:
                case (ir.Return(value=value) as only,) if not any(inside) and not (
                    self.trivia.touches(key(only))
                ):
                    own = self.value(value, at + 2 * _STEP)
                case ():
                    own = ["[]"]
                case _:
                    own = self.sequence(block, at + 2 * _STEP)
            lines += self.noted(block, _item(own))
        lines += _remarks(self.trivia.closing.pop(key(node), ()))
        own = _without_first_blank(lines)
        lines = ["first:", *_in(own)] if node.alternatives else [*own, "first: []"]
        if node.var is not None:
            lines.append(f"as: {node.var}")
        return lines if node.accept is None else [*lines, *self.entry("accept", node.accept, at)]

    def policy(self, name: str, node: ir.OnError | None, at: int) -> _Lines:
        """Return what a failed item does."""
        return [] if node is None else self.leaf_of(f"{name}: ", self.leaves.policy(node), at)

    def settings(self, nodes: Sequence[ir.Argument], at: int) -> _Lines:
        """Return the options of a form."""
        return [line for o in nodes for line in self.entry(o.name or "", o.value, at)]

    def pairs(self, name: str, nodes: Sequence[ir.Argument], at: int) -> _Lines:
        """Return options below a key, on one line if they fit."""
        if not any(_is_structured(o.value) for o in nodes):
            values = [scalar(flat(self.leaves.expr(o.value)), inside=True) for o in nodes]
            pairs = [f"{o.name}: {v}" for o, v in zip(nodes, values, strict=True)]
            line = f"{name}: {{{', '.join(pairs)}}}"
            if at + len(line) <= WIDTH:
                return [line]
        return [f"{name}:", *_in(self.settings(nodes, at + _STEP))]

    def parts(self, node: ir.Node, handlers: Sequence[ir.Handler], at: int) -> _Lines:
        """Return the parts of a form: ``tool(a, b): block``."""
        lines = _remarks(self.trivia.opening.pop(key(node), ()))
        for part in handlers:
            own = self.steps(_signature(part), part.body, at)
            lines += self.noted(part, own)
        lines += _remarks(self.trivia.closing.pop(key(node), ()))
        return _without_first_blank(lines)

    # ---- comments ------------------------------------------------------------------------

    def noted(self, node: ir.Node, lines: _Lines) -> _Lines:
        """Return the lines of a node with its comments; those inside its leaves stand above."""
        before = list(self.trivia.before.pop(key(node), ()))
        after = list(self.trivia.after.pop(key(node), ()))
        blank = key(node) in self.trivia.blank
        inside = [Remark(text) for text in self.trivia.below(node)]
        if len(lines) == 1 and len(after) == 1 and not inside:
            lines, after = [f"{lines[0]}{_COMMENT}{_printable(after[0].text)}"], []
        above = _remarks(before)
        own = [""] if blank else []
        return [*above, *own, *_remarks(inside), *lines, *_remarks(after)]


def _aligned(lines: _Lines) -> _Lines:
    """Return lines with their comments, those of neighbouring lines in one column."""
    result: _Lines = []
    for (commented, _), run in groupby(lines, lambda x: (_COMMENT in x, len(x) - len(x.lstrip()))):
        halves = [line.partition(_COMMENT) for line in run]
        column = max(len(line) for line, _, _ in halves)
        result += [f"{a:<{column}}  {b}" if commented else a for a, _, b in halves]
    return result


def _in(lines: Iterable[str]) -> _Lines:
    return [f"{' ' * _STEP}{line}" if line else "" for line in lines]


def _item(lines: _Lines) -> _Lines:
    above = list(takewhile(lambda line: not line or line.startswith("#"), lines))
    first, *rest = lines[len(above) :] or ["[]"]
    return [*above, f"- {first}", *_in(rest)]


def _remarks(remarks: Iterable[Remark]) -> _Lines:
    lines: _Lines = []
    for remark in remarks:
        lines += ["", _printable(remark.text)] if remark.blank else [_printable(remark.text)]
    return lines


def _printable(text: str) -> str:
    """Return a comment without what a YAML file cannot hold."""
    return _UNPRINTED.sub("\ufffd", text)


def _without_first_blank(lines: _Lines) -> _Lines:
    return lines[1:] if lines and not lines[0] else lines


def _text(name: str, value: str) -> _Lines:
    """Return a text below a key: a block of lines, unless it is short or cannot be one."""
    if "\n" not in value and len(name) + len(value) + 6 <= WIDTH:
        return [f"{name}: {scalar(value)}"]
    if not value or value[0].isspace() or _UNPRINTED.search(value):
        return [f"{name}: {scalar(value)}"]
    return [f"{name}: |", *_in(value.split("\n"))]


def _signature(node: ir.Handler) -> str:
    return f"{node.tool}({', '.join(node.params)})"


def _is_structured(node: ir.Expr) -> bool:
    """Say whether a form can be a mapping; else it is a leaf, with braces."""
    match node:
        case ir.Each() | ir.If() | ir.First() | ir.Loop() | ir.Fold():
            return True
        case ir.Budget(limits=limits):
            return _distinct([a.name for a in limits])
        case ir.Dialog(options=options, handlers=handlers):
            unnamed = [n for n, o in enumerate(options) if o.name is None]
            keys = [o.name for o in options[max(unnamed, default=-1) + 1 :]]
            return _distinct(["dialog", "on", *keys]) and _distinct(map(_signature, handlers))
        case ir.Matrix(options=options, parts=parts):
            return _distinct(["matrix", *(o.name for o in options), *map(_signature, parts)])
        case ir.Frontier(options=options, parts=parts):
            return _distinct(["frontier", *(o.name for o in options), *map(_signature, parts)])
        case _:
            return False


def _distinct(names: Iterable[str | None]) -> bool:
    found = list(names)
    return None not in found and len(set(found)) == len(found)

"""Where each name of a recipe is defined, and every place that refers to it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reasoner import ir
from reasoner.compiler.program import Loader
from reasoner.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A thing with a name: its kind, where it is defined, and a line about it."""

    name: str
    kind: str
    span: Span
    about: str
    doc: str = ""


#: Kinds of names that live inside one method, and can be renamed there.
LOCAL = frozenset({"input", "parameter", "binding", "variable"})


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a symbol is named."""

    symbol: Symbol
    span: Span


_Env = Mapping[str, Symbol]


def occurrences(module: ir.Module, load: Loader) -> list[Occurrence]:
    """Return every place of a file where something is named, definitions included."""
    return _Finder(module, load).found


def at(found: Iterable[Occurrence], offset: int) -> Occurrence | None:
    """Return what is named at a place, or just before it."""
    return next((o for o in found if o.span.start <= offset <= o.span.end), None)


def prompt_about(node: ir.Prompt) -> str:
    """Return the signature of a prompt."""
    task = f" as {node.task}" if node.task else ""
    return f"prompt {node.name}({_inputs(node.inputs)}) -> {shown(node.returns)}{task}"


def shown(node: ir.TypeExpr) -> str:
    """Return a type as it is written."""
    parts = [*map(shown, node.args), *(f"{f.name}: {shown(f.type)}" for f in node.fields)]
    return f"{node.name}[{', '.join(parts)}]" if parts else node.name


def _inputs(inputs: Iterable[ir.Input]) -> str:
    return ", ".join(f"{i.name}: {shown(i.type)}" for i in inputs)


def prompt_symbol(node: ir.Prompt) -> Symbol:
    """Return what is to be said of a prompt."""
    return Symbol(node.name, "prompt", node.name_span, prompt_about(node), node.text.value)


def method_symbol(node: ir.Method) -> Symbol:
    """Return what is to be said of a method."""
    about = f"method {node.name}({_inputs(node.inputs)}) -> {shown(node.returns)}"
    return Symbol(node.name, "method", node.name_span, about, node.doc)


def library(use: ir.Use, load: Loader) -> dict[str, Symbol]:
    """Return the prompts and methods of a used file, by name."""
    module = load(use)
    if not isinstance(module, ir.Module):
        return {}
    found = [prompt_symbol(p) for p in module.prompts] + [method_symbol(m) for m in module.methods]
    return {s.name: s for s in found}


class _Finder:
    """Walks a file once; a name means what it means to the checker."""

    def __init__(self, module: ir.Module, load: Loader) -> None:
        self.found: list[Occurrence] = []
        self.globals: dict[str, Symbol] = {}
        self.tops: dict[str, dict[str, Symbol]] = {}
        for use in module.uses:
            known = library(use, load)
            for name in use.names:
                if name.name in known:
                    self.refer(known[name.name], name.span)
                    self.globals[name.name] = known[name.name]
        for prompt in module.prompts:
            self.globals[prompt.name] = self.define(prompt_symbol(prompt))
        for method in module.methods:
            self.globals[method.name] = self.define(method_symbol(method))
            self.tops[method.name] = self.top(method)
        for method in module.methods:
            self.method(method)

    def define(self, symbol: Symbol) -> Symbol:
        self.refer(symbol, symbol.span)
        return symbol

    def refer(self, symbol: Symbol, span: Span) -> None:
        if span.text == symbol.name:
            self.found.append(Occurrence(symbol, span))

    def top(self, method: ir.Method) -> dict[str, Symbol]:
        """Define the inputs and parameters of a method."""
        found: dict[str, Symbol] = {}
        for node in method.inputs:
            span = _named_in(node.span, node.name)
            about = f"input {node.name}: {shown(node.type)}"
            found[node.name] = self.define(Symbol(node.name, "input", span, about))
        for param in method.params:
            about = f"param {param.name} = {param.value.span.text}"
            found[param.name] = self.define(Symbol(param.name, "parameter", param.name_span, about))
        return found

    def method(self, method: ir.Method) -> None:
        env: dict[str, Symbol] = dict(self.tops[method.name])
        for node in (*method.params, *method.limits):
            self.visit(node, env)
        env = self.block(method.body, env)
        for variant in method.variants:
            for change in variant.changes:
                if isinstance(change, ir.Param | ir.Bind) and change.name in env:
                    self.refer(env[change.name], change.name_span)
                self.visit(change.value, env)

    def block(self, block: ir.Block, outer: _Env) -> dict[str, Symbol]:
        env = dict(outer)
        for statement in block.body:
            self.visit(statement.value, env)
            if isinstance(statement, ir.Bind):
                about = " ".join(statement.span.text.split())
                env[statement.name] = self.define(
                    Symbol(statement.name, "binding", statement.name_span, about[:200])
                )
        return env

    def variable(self, name: str, span: Span, about: str) -> dict[str, Symbol]:
        return {name: self.define(Symbol(name, "variable", span, about))}

    def visit(self, node: ir.Node, env: _Env) -> None:
        """Note the names in a node; those that it binds are known in the blocks inside it only."""
        match node:
            case ir.Name():
                if node.name in env:
                    self.refer(env[node.name], node.span)
            case ir.Call():
                self.call(node, env)
            case ir.Block():
                self.block(node, env)
            case ir.Each():
                self.parts(env, node.items, node.limit, node.on_error)
                own = self.variable(node.var, node.var_span, f"each {node.var} in ...")
                self.block(node.body, {**env, **own})
            case ir.Loop():
                self.parts(env, node.init, node.limit, node.on_limit)
                own = self.variable(node.var, node.var_span, f"the state {node.var} of a loop")
                self.parts({**env, **own}, node.body, node.until)
            case ir.Fold():
                self.parts(env, node.items, node.init)
                own = self.variable(node.var, node.var_span, f"fold {node.var} in ...")
                own |= self.variable(node.state, node.state_span, f"the state {node.state}")
                self.block(node.body, {**env, **own})
            case ir.First():
                self.first(node, env)
            case ir.Handler():
                own = {}
                for name, span in zip(node.params, node.param_spans, strict=True):
                    own |= self.variable(name, span, f"what {node.tool}(...) is given")
                self.block(node.body, {**env, **own})
            case _:
                for child in ir.children(node):
                    self.visit(child, env)

    def parts(self, env: _Env, *nodes: ir.Node | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, env)

    def call(self, node: ir.Call, env: _Env) -> None:
        if node.name in self.globals:
            self.refer(self.globals[node.name], node.name_span)
        settings = self.tops.get(node.name, {})
        for argument in node.args:
            if argument.name in settings and argument.name_span is not None:
                self.refer(settings[argument.name], argument.name_span)
            self.visit(argument.value, env)

    def first(self, node: ir.First, env: _Env) -> None:
        self.parts(env, *node.alternatives)
        if node.accept is None:
            return
        own: dict[str, Symbol] = {}
        if node.var is not None and (span := _first_name(node, node.var)) is not None:
            own = self.variable(node.var, span, f"the value {node.var} of an alternative")
        self.visit(node.accept, {**env, **own})


def _named_in(span: Span, name: str) -> Span:
    """Return where a name stands first in a span."""
    found = re.search(rf"\b{re.escape(name)}\b", span.text)
    start = span.start + (found.start() if found else 0)
    return Span(span.source, start, start + len(name))


def _first_name(node: ir.First, name: str) -> Span | None:
    """Return where ``first x of`` or ``as: x`` names the value of an alternative."""
    inside = [*(b.span for b in node.alternatives), *([node.accept.span] if node.accept else [])]
    lead = rf"(?:\bfirst\s+|\bas\"?'?\s*:\s*[\"']?)({re.escape(name)})\b"
    for found in re.finditer(lead, node.span.text):
        start = node.span.start + found.start(1)
        if not any(s.start <= start < s.end for s in inside):
            return Span(node.span.source, start, start + len(name))
    return None

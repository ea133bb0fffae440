"""The recipe as a tree: frozen nodes with spans, one tree for both notations.

Spans do not take part in comparison, so two texts that mean the same give equal trees.
Adding a form is adding a node class to `Form`; every ``match`` over `Expr` that has to know the
form ends in ``assert_never``, so the type checker lists them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, TypeVar

from reasoner.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything of a recipe that has a place in its text."""

    span: Span = field(compare=False, repr=False)


# ---- expressions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(Node):
    """A string, an exact number, ``true``, ``false`` or ``none``."""

    value: str | Decimal | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Node):
    """A reference to an input, a parameter, a binding or a loop variable."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOf(Node):
    """``[a, b]``."""

    items: tuple["Expr", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOf(Node):
    """``{a: x, b: y}``."""

    items: tuple["Argument", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Node):
    """``value.name``."""

    value: "Expr"
    name: str
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unary(Node):
    """``not a`` or ``-a``."""

    sign: str
    value: "Expr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(Node):
    """``a + b``, ``a < b``, ``a and b`` and the like."""

    sign: str
    left: "Expr"
    right: "Expr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument(Node):
    """``value`` or ``name: value`` in a call."""

    name: str | None
    value: "Expr"
    name_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Node):
    """``operator(a, option: b)``."""

    name: str
    args: tuple[Argument, ...]
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Node):
    """``ask prompt(a, b) by role``: one typed model call."""

    call: Call
    role: str
    role_span: Span = field(compare=False, repr=False)
    options: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OnError(Node):
    """What a failed item of an ``each`` does: ``fail``, ``skip``, ``default(v)``, ``quorum(n)``."""

    policy: str
    value: "Expr | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Each(Node):
    """``each x in xs { ... }``: the block for every item, in parallel, results in order."""

    var: str
    var_span: Span = field(compare=False, repr=False)
    items: "Expr"
    limit: "Expr | None" = None
    on_error: OnError | None = None
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler(Node):
    """``on tool(a, b) { ... }``: what a dialog does when the model asks for ``tool``."""

    tool: str
    params: tuple[str, ...]
    param_spans: tuple[Span, ...] = field(compare=False, repr=False)
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog(Node):
    """``dialog prompt(a) by role, searches: n { on tool(a) { ... } }``: search while decoding."""

    call: Call
    role: str
    role_span: Span = field(compare=False, repr=False)
    options: tuple[Argument, ...] = ()
    handlers: tuple[Handler, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Node):
    """``budget(calls: n, tokens: n, usd: x, seconds: s) { ... }``: a gate around a block."""

    limits: tuple[Argument, ...]
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class If(Node):
    """``if cond { } else { }``; without ``else`` the other value is none."""

    cond: "Expr"
    then: "Block"
    otherwise: "Block | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class First(Node):
    """``first x of { a; b } accept cond``: alternatives in order, the first that passes.

    Without ``accept`` a value passes that is not empty. If none passes, the last one is given.
    """

    var: str | None
    alternatives: tuple["Block", ...]
    accept: "Expr | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Node):
    """``loop s = init up to n until cond { ... }``: the block's value is the next ``s``."""

    var: str
    var_span: Span = field(compare=False, repr=False)
    init: "Expr"
    limit: "Expr"
    until: "Expr | None" = None
    on_limit: OnError | None = None
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold(Node):
    """``fold x in xs from s = init { ... }``: one item after another, the value is the next ``s``."""

    var: str
    var_span: Span = field(compare=False, repr=False)
    items: "Expr"
    state: str
    state_span: Span = field(compare=False, repr=False)
    init: "Expr"
    body: "Block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix(Node):
    """``matrix rows m, columns n, weights w { cell(...) { } summary(...) { } }``."""

    options: tuple[Argument, ...]
    parts: tuple[Handler, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier(Node):
    """``frontier from xs, best: k, depth: d { score(t) { } visit(t) { } grow(done) { } }``."""

    items: "Expr"
    options: tuple[Argument, ...]
    parts: tuple[Handler, ...]


Form = Ask | Each | Dialog | Budget | If | First | Loop | Fold | Matrix | Frontier
Expr = Literal | Name | ListOf | RecordOf | Field | Unary | Binary | Call | Form


# ---- statements and definitions ----------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind(Node):
    """``name = value``."""

    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Return(Node):
    """``return value``, or the last expression of a block."""

    value: Expr


Statement = Bind | Return


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Node):
    """Statements; the value is that of the one ``return`` at the end."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeExpr(Node):
    """A type as written: ``List[Text]``, ``Record[a: Text, b: Number]``."""

    name: str
    args: tuple["TypeExpr", ...] = ()
    fields: tuple["Input", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Input(Node):
    """``name: Type`` of a method or a prompt."""

    name: str
    type: TypeExpr


@dataclass(frozen=True, slots=True, kw_only=True)
class Param(Node):
    """``param name = value``: a setting with its default."""

    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(Node):
    """``variant name { ... }``: replaced bindings, parameters or the returned value."""

    name: str
    changes: tuple[Param | Statement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Node):
    """A text with the offset into the source of each of its characters."""

    value: str
    offsets: tuple[int, ...] = field(compare=False, repr=False)

    def span_of(self, start: int, end: int) -> Span:
        """Return where the characters ``start`` to ``end`` of the value stand in the source."""
        last = self.offsets[end - 1] + 1 if end > start else self.offsets[start]
        return Span(self.span.source, self.offsets[start], last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Node):
    """``prompt p(x: Text) -> Answer as task { "..." }``: a typed template."""

    name: str
    inputs: tuple[Input, ...]
    returns: TypeExpr
    task: str | None
    text: Text
    name_span: Span = field(compare=False, repr=False)
    task_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use(Node):
    """``use a, b from "path"``."""

    names: tuple[Name, ...]
    path: str
    path_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Node):
    """One method: inputs, parameters, steps and variants."""

    name: str
    doc: str
    inputs: tuple[Input, ...]
    returns: TypeExpr
    params: tuple[Param, ...]
    limits: tuple[Argument, ...]
    body: Block
    variants: tuple[Variant, ...]
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module(Node):
    """One file: what it uses, its prompts and its methods, in order."""

    uses: tuple[Use, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    methods: tuple[Method, ...] = ()


# ---- traversal, written once -------------------------------------------------------------

N = TypeVar("N", bound=Node)


def children(node: Node) -> Iterator[Node]:
    """Yield the direct children of ``node``, in the order of its fields."""
    for spec in fields(node):
        value = getattr(node, spec.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, Node))


def walk(node: Node) -> Iterator[Node]:
    """Yield ``node`` and all below it, parents first, without recursion."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(list(children(top))))


def rewrite(node: N, change: Callable[[Node], Node]) -> N:
    """Return ``node`` with ``change`` applied to every node, children first."""
    edits: dict[str, Any] = {}
    for spec in fields(node):
        value = getattr(node, spec.name)
        if isinstance(value, Node):
            new: object = rewrite(value, change)
        elif isinstance(value, tuple) and any(isinstance(v, Node) for v in value):
            new = tuple(rewrite(v, change) if isinstance(v, Node) else v for v in value)
        else:
            continue
        if new != value or new is not value:
            edits[spec.name] = new
    return change(replace(node, **edits) if edits else node)  # type: ignore[return-value]

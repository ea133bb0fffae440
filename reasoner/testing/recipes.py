"""Hypothesis strategies for recipes: trees of every form, and recipes that the checker accepts.

Imported by `reasoner.testing` when one of them is asked for: Hypothesis is needed for
development only.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from hypothesis import strategies as st

from reasoner import ir
from reasoner.frontends import rsn
from reasoner.frontends.grammar import RESERVED
from reasoner.source import Source, Span
from reasoner.testing.strategies import TRAPS

T = TypeVar("T")
Named = TypeVar("Named", ir.Input, ir.Param, ir.Variant, ir.Argument, ir.Prompt, ir.Method)
_NOWHERE = Span(Source("<generated>", ""), 0, 0)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DEPTH = 2

#: Words that go on with what stands before them: the text notation cannot bind them everywhere.
_CLAUSES = frozenset("accept by from limit of on on_error on_limit params to until up".split())

_SYNTAX = (
    "# no comment", "a # b", "a: b", "- a", "{x}", "{{x}}", "[a]", "|", ">", "&a", "*a", "!a", "%a",
    "@a", "`a`", "'a'", '"', '"""', '\\"""', '""""', "\\", "\\\\", "\\n", "\\u00e9", "a\\", '\\"',
    "a\nb", "a\n\n  b", "a\n b\n", "\ta", "a\t", "a \nb", " ", "\r", "a\r\nb", "\x85", "\u2028x",
    "~", "null", "true", "yes", "1e3", "0x1F", "---", "...", "<<", "=", "on", "?", ":", "\ufeff",
    "\U0001f469\u200d\u2695\ufe0f", "\ue000", "\uffff", "\U0010ffff", "a word or two " * 9,
)  # fmt: skip


def texts() -> st.SearchStrategy[str]:
    """Return texts of all kinds, from plain ones to those that mean something to a parser."""
    syntax = st.sampled_from([*_SYNTAX, *TRAPS])
    return st.one_of(
        syntax,
        st.tuples(syntax, syntax).map("".join),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
        st.text(' "\\\n#:ab{}', max_size=12),
    )


def words() -> st.SearchStrategy[str]:
    """Return names; words that begin or join values are never among them."""
    common = "a b xs limit from up to in by on use task a_name_that_breaks_lines_early".split()
    return st.one_of(
        st.sampled_from(common),
        st.text(_LETTERS + "0123456789", min_size=1, max_size=8).map("v".__add__),
        st.text(_LETTERS, min_size=1, max_size=4).filter(lambda word: word not in RESERVED),
    )


def names() -> st.SearchStrategy[str]:
    """Return names that a step can bind in both notations."""
    return words().filter(lambda word: word not in _CLAUSES)


def numbers() -> st.SearchStrategy[Decimal]:
    """Return exact numbers."""
    written = [
        "0",
        "0.70",
        "1e3",
        "1E-7",
        "-0.5",
        "12345678901234567890.12345678901234567891",
        "-1",
    ]
    return st.sampled_from(written).map(Decimal) | st.decimals(
        -10_000, 10_000, allow_nan=False, allow_infinity=False, places=9
    )


@st.composite
def modules(draw: st.DrawFn) -> ir.Module:
    """Return files that both notations can say, whether or not they mean anything.

    All names of one kind differ, there is at least one definition, and only the first method
    has variants.
    """
    return _Author(draw).module()


class _Author:
    """Writes trees, a part at a time; ``depth`` is how many forms may still be nested."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    # ---- definitions ---------------------------------------------------------------------

    def module(self) -> ir.Module:
        """Return a file."""
        prompts = self.distinct(self.prompt)
        methods = self.distinct(self.method)
        if not prompts and not methods:
            methods = (self.method(),)
        uses = {use.path: use for use in self.several(self.use)}
        return ir.Module(
            uses=tuple(uses.values()),
            prompts=prompts,
            methods=(*methods[:1], *(replace(m, variants=()) for m in methods[1:])),
            span=_NOWHERE,
        )

    def use(self) -> ir.Use:
        """Return a line that imports names."""
        return ir.Use(
            names=self.several(lambda: ir.Name(name=self.name(), span=_NOWHERE), least=1),
            path=self.text(),
            path_span=_NOWHERE,
            span=_NOWHERE,
        )

    def prompt(self) -> ir.Prompt:
        """Return a prompt."""
        return ir.Prompt(
            name=self.name(),
            inputs=self.distinct(self.input),
            returns=self.type(2),
            task=self.maybe(self.word),
            text=ir.Text(value=self.text().strip(), offsets=(), span=_NOWHERE),
            name_span=_NOWHERE,
            span=_NOWHERE,
        )

    def method(self) -> ir.Method:
        """Return a method."""
        return ir.Method(
            name=self.name(),
            doc=self.text().strip(),
            inputs=self.distinct(self.input),
            returns=self.type(2),
            params=self.distinct(self.param),
            limits=self.distinct(lambda: self.option(1)),
            body=self.block(_DEPTH, least=1),
            variants=self.distinct(self.variant),
            name_span=_NOWHERE,
            span=_NOWHERE,
        )

    def input(self) -> ir.Input:
        """Return an input of a prompt, a method or a record."""
        return ir.Input(name=self.word(), type=self.type(1), span=_NOWHERE)

    def type(self, depth: int) -> ir.TypeExpr:
        """Return a type as it is written, known or not."""
        args: tuple[ir.TypeExpr, ...] = ()
        fields: tuple[ir.Input, ...] = ()
        if depth and self.flag():
            args = self.several(lambda: self.type(depth - 1))
        elif depth and self.flag():
            fields = self.several(lambda: replace(self.input(), type=self.type(depth - 1)))
        return ir.TypeExpr(name=self.word(), args=args, fields=fields, span=_NOWHERE)

    def param(self) -> ir.Param:
        """Return a parameter."""
        return ir.Param(name=self.name(), value=self.expr(1), name_span=_NOWHERE, span=_NOWHERE)

    def variant(self) -> ir.Variant:
        """Return a variant."""
        changes = self.several(lambda: self.param() if self.flag() else self.statement(1))
        return ir.Variant(name=self.name(), changes=changes, span=_NOWHERE)

    # ---- steps and expressions -----------------------------------------------------------

    def block(self, depth: int, least: int = 0) -> ir.Block:
        """Return a block; its value need not be the last step, nor need there be one."""
        return ir.Block(body=self.several(lambda: self.statement(depth), least), span=_NOWHERE)

    def statement(self, depth: int) -> ir.Statement:
        """Return a step."""
        value = self.expr(depth)
        if self.flag():
            return ir.Return(value=value, span=_NOWHERE)
        return ir.Bind(name=self.name(), value=value, name_span=_NOWHERE, span=_NOWHERE)

    def expr(self, depth: int) -> ir.Expr:
        """Return an expression of any form."""
        kinds: tuple[Callable[[int], ir.Expr], ...] = (self.literal, self.reference)
        makes = (*kinds, *kinds, self.plain, self.plain, self.call, self.form, self.form)
        make = self.draw(st.sampled_from(makes if depth else kinds))
        return make(depth - 1)

    def literal(self, depth: int) -> ir.Literal:
        """Return a literal of any kind."""
        del depth
        return ir.Literal(value=self.draw(_VALUES), span=_NOWHERE)

    def reference(self, depth: int) -> ir.Name:
        """Return a name."""
        del depth
        return ir.Name(name=self.word(), span=_NOWHERE)

    def plain(self, depth: int) -> ir.Expr:
        """Return lists, records, fields and operators."""
        match self.draw(st.sampled_from(["list", "record", "field", "not", "-", "+", "+", "+"])):
            case "list":
                return ir.ListOf(items=self.several(lambda: self.expr(depth)), span=_NOWHERE)
            case "record":
                items = self.several(lambda: self.option(depth), least=1)
                return ir.RecordOf(items=items, span=_NOWHERE)
            case "field":
                value = self.expr(depth)
                return ir.Field(value=value, name=self.word(), name_span=_NOWHERE, span=_NOWHERE)
            case "not" | "-" as sign:
                value = self.expr(depth)
                if sign == "-" and isinstance(value, ir.Literal):  # a negative number is a literal
                    sign = "not"
                return ir.Unary(sign=sign, value=value, span=_NOWHERE)
            case _:
                left, right = self.expr(depth), self.expr(depth)
                sign = self.draw(st.sampled_from(_SIGNS))
                return ir.Binary(sign=sign, left=left, right=right, span=_NOWHERE)

    def call(self, depth: int) -> ir.Call:
        """Return a call."""
        args = self.arguments(depth)
        return ir.Call(name=self.word(), args=args, name_span=_NOWHERE, span=_NOWHERE)

    def arguments(self, depth: int) -> tuple[ir.Argument, ...]:
        """Return arguments with and without names."""
        return self.several(
            lambda: replace(self.option(depth), name=None) if self.flag() else self.option(depth)
        )

    def option(self, depth: int) -> ir.Argument:
        """Return ``name: value``."""
        value = self.expr(max(depth, 0))
        return ir.Argument(name=self.word(), value=value, name_span=_NOWHERE, span=_NOWHERE)

    def policy(self, depth: int) -> ir.OnError:
        """Return what a failed item does."""
        value = self.maybe(lambda: self.expr(depth))
        return ir.OnError(policy=self.word(), value=value, span=_NOWHERE)

    def handler(self, depth: int) -> ir.Handler:
        """Return a part of a form."""
        params = self.several(self.word)
        body = self.block(depth)
        return ir.Handler(tool=self.name(), params=params, param_spans=(), body=body, span=_NOWHERE)

    def form(self, depth: int) -> ir.Expr:
        """Return one of the forms that have blocks, or a model call."""
        here: dict[str, Any] = {"span": _NOWHERE}
        make = self.draw(st.sampled_from(_FORMS))
        if make in {ir.Ask, ir.Dialog}:
            here |= {"call": self.call(depth), "role": self.word(), "role_span": _NOWHERE}
            here["options"] = self.arguments(depth)
        if make in {ir.Each, ir.Loop, ir.Fold}:
            here |= {"var": self.word(), "var_span": _NOWHERE}
        if make in {ir.Each, ir.Loop, ir.Fold, ir.Budget}:
            here["body"] = self.block(depth)
        if make in {ir.Each, ir.Fold, ir.Frontier}:
            here["items"] = self.expr(depth)
        if make in {ir.Matrix, ir.Frontier}:
            least = 1 if make is ir.Matrix else 0
            here["options"] = self.several(lambda: self.option(depth), least)
            here["parts"] = self.several(lambda: self.handler(depth))
        if make in {ir.Loop, ir.Fold}:
            here["init"] = self.expr(depth)
        form: ir.Expr = make(**here, **self.rest(make, depth))
        return form

    def rest(self, make: object, depth: int) -> dict[str, Any]:
        """Return the fields that one form has for itself."""
        here: dict[str, Any] = {}
        if make is ir.Dialog:
            here["handlers"] = self.several(lambda: self.handler(depth))
        if make is ir.Each:
            here["limit"] = self.maybe(lambda: self.expr(depth))
            here["on_error"] = self.maybe(lambda: self.policy(depth))
        if make is ir.Loop:
            here["limit"] = self.expr(depth)
            here["until"] = self.maybe(lambda: self.expr(depth))
            here["on_limit"] = self.maybe(lambda: self.policy(depth))
        if make is ir.Fold:
            here |= {"state": self.word(), "state_span": _NOWHERE}
        if make is ir.Budget:
            here["limits"] = self.arguments(depth)
        if make is ir.If:
            here |= {"cond": self.expr(depth), "then": self.block(depth)}
            here["otherwise"] = self.maybe(lambda: self.block(depth))
        if make is ir.First:
            here["var"] = self.maybe(self.name)
            here["alternatives"] = self.several(lambda: self.block(depth))
            here["accept"] = self.maybe(lambda: self.expr(depth))
        return here

    # ---- pieces --------------------------------------------------------------------------

    def flag(self) -> bool:
        """Return true or false."""
        return self.draw(st.booleans())

    def text(self) -> str:
        """Return a text."""
        return self.draw(_TEXTS)

    def word(self) -> str:
        """Return a name."""
        return self.draw(_WORDS)

    def name(self) -> str:
        """Return a name that a step can bind."""
        return self.draw(_NAMES)

    def maybe(self, make: Callable[[], T]) -> T | None:
        """Return something or nothing."""
        return make() if self.flag() else None

    def several(self, make: Callable[[], T], least: int = 0) -> tuple[T, ...]:
        """Return a few of a kind."""
        return tuple(make() for _ in range(self.draw(st.integers(least, 3))))

    def distinct(self, make: Callable[[], Named]) -> tuple[Named, ...]:
        """Return a few with different names."""
        found = {item.name: item for item in self.several(make)}
        return tuple(found.values())


_TEXTS = texts()
_WORDS = words()
_NAMES = names()
_VALUES = st.none() | st.booleans() | numbers() | _TEXTS
_SIGNS = ("or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/")
_FORMS: tuple[Any, ...] = (
    ir.Ask, ir.Each, ir.Dialog, ir.Budget, ir.If, ir.First, ir.Loop, ir.Fold, ir.Matrix, ir.Frontier
)  # fmt: skip


# ---- recipes that mean something ---------------------------------------------------------

_PROMPTS = """
prompt split(q: Text) -> List[Text] { "Split {q}" }
prompt say(q: Text) -> Text as generate { "Say {q}" }
"""


@st.composite
def valid_modules(draw: st.DrawFn) -> ir.Module:
    """Return recipes in which the checker finds no error: names resolve and types fit."""
    known: dict[str, list[str]] = {"Text": ["question"], "List[Text]": []}
    lines = ["param k = 3"]
    for number in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(list(known)))
        value = draw(_values(kind, _freeze(known), 2))
        lines.append(f"x{number} = {value}")
        known[kind].append(f"x{number}")
    returns = draw(st.sampled_from(list(known)))
    lines.append(f"return {draw(_values(returns, _freeze(known), 2))}")
    if draw(st.booleans()):
        lines.append(
            f"variant other {{ param k = 2  return {draw(_values(returns, _freeze(known), 1))} }}"
        )
    steps = "\n".join(lines)
    text = f"{_PROMPTS}method m(question: Text) -> {returns} {{\n{steps}\n}}\n"
    return rsn.parse_module(Source("<generated>", text))


_Known = tuple[tuple[str, tuple[str, ...]], ...]


def _freeze(known: dict[str, list[str]]) -> _Known:
    return tuple((kind, tuple(found)) for kind, found in known.items())


def _values(kind: str, known: _Known, depth: int) -> st.SearchStrategy[str]:
    """Return expressions of a type, as text."""
    found = dict(known)
    text = st.sampled_from(found["Text"])
    if depth == 0:
        return text if kind == "Text" else text.map("[{}]".format)
    one, many = (_values(k, known, depth - 1) for k in found)
    if kind == "Text":
        return st.one_of(
            text,
            one.map("ask say({}) by writer".format),
            st.builds("if {} == {} {{ {} }} else {{ {} }}".format, text, one, one, one),
            st.builds("first of {{ {}; {} }}".format, one, one),
            st.builds("loop s = {} up to k until s == {} {{ ask say(s) by w }}".format, one, text),
            st.builds(
                "fold y in [{}] from s = {} {{ ask say(s) by w(temperature: 0.5) }}".format,
                one,
                one,
            ),
            st.builds("budget(calls: 3) {{ {} }}".format, one),
        )
    return st.one_of(
        st.lists(one, min_size=1, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        one.map("ask split({}) by splitter".format),
        st.builds(
            "each q in {} up to k on_error skip {{ z = {}  ask say(z) by w }}".format, many, one
        ),
        st.builds("each q in {} limit: 2 {{ {} }}".format, many, one),
    )

"""Formatting and conversion: another text, the same tree, all comments.

Files of the text notation are printed anew from their tree. In YAML, where the layout is the
author's, only leaves, blanks and empty lines are edited, each in its place.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from reasoner import ir
from reasoner.errors import RecipeError, UsageError
from reasoner.frontends import comments, printer, rsn, yaml_printer, yaml_recipe
from reasoner.frontends import yaml_nodes as y
from reasoner.frontends.comments import Comment
from reasoner.frontends.expressions import Expressions
from reasoner.frontends.grammar import parse
from reasoner.frontends.layout import Doc, flat
from reasoner.frontends.trivia import TextNotation, Trivia, YamlNotation
from reasoner.source import Source

_BLANKS = re.compile(r"[ \t]+$")


class Notation(StrEnum):
    """One of the two ways to write a recipe."""

    TEXT = "text"
    YAML = "YAML"

    @classmethod
    def of(cls, name: str) -> "Notation":
        """Return the notation that a file name says."""
        return cls.YAML if name.endswith((".yaml", ".yml")) else cls.TEXT


@dataclass(frozen=True, slots=True)
class _Read:
    """A text with what is in it."""

    source: Source
    module: ir.Module
    comments: list[Comment]
    leaves: Sequence[yaml_recipe.Leaf] = ()


def format_text(source: Source) -> str:
    """Return a recipe in the canonical layout of its notation; see the notes of this module.

    Raises
    ------
    RecipeError
        With the findings, if the text is no recipe: then nothing of it is changed.
    """
    read = _read(source)
    match Notation.of(source.name):
        case Notation.TEXT:
            trivia = TextNotation(source).attach(read.module, read.comments)
            text = printer.print_module(read.module, trivia, ordered=True)
        case Notation.YAML:
            text = _edited(read)
        case other:
            assert_never(other)
    again = _read(Source(source.name, text))
    if again.module != read.module or _texts(again.comments) != _texts(read.comments):
        raise AssertionError(f"{source.name}: formatting would change more than the layout")
    return text


def convert(source: Source, to: Notation) -> str:
    """Return a recipe in a notation; in its own, it is formatted.

    Raises
    ------
    RecipeError
        With the findings, if the text is no recipe.
    UsageError
        If it says something that the other notation has no words for.
    """
    if Notation.of(source.name) is to:
        return format_text(source)
    read = _read(source)
    match to:
        case Notation.TEXT:
            trivia = YamlNotation(source).attach(read.module, read.comments)
            text, suffix = printer.print_module(read.module, trivia), ".rsn"
        case Notation.YAML:
            trivia = TextNotation(source).attach(read.module, read.comments)
            text, suffix = yaml_printer.print_module(read.module, trivia), ".yaml"
        case _:
            assert_never(to)
    _verify(read, Source(f"{source.name}{suffix}", text), trivia, to)
    return text


def _verify(read: _Read, result: Source, trivia: Trivia, to: Notation) -> None:
    refusal = f"{read.source.name} cannot be written in the {to} notation"
    try:
        again = _read(result)
    except RecipeError as error:
        raise UsageError(f"{refusal}: {error.diagnostics[0].message}") from None
    before, after = _merged(read.module), _merged(again.module)
    if before != after:
        raise UsageError(f"{refusal}: {_difference(before, after)}")
    lost = len(read.comments) - len(again.comments)
    if lost or trivia.left():
        raise AssertionError(f"{read.source.name}: the conversion would lose {lost} comments")


def _read(source: Source) -> _Read:
    match Notation.of(source.name):
        case Notation.TEXT:
            return _Read(source, rsn.parse_module(source), comments.of_text(source))
        case Notation.YAML:
            module, leaves = yaml_recipe.parse_leaves(source)
            places = [(leaf.node, leaf.offsets) for leaf in leaves]
            found = comments.of_yaml(source, y.load(source), places)
            return _Read(source, module, found, leaves)
        case other:
            assert_never(other)


def _texts(found: Iterable[Comment]) -> Counter[str]:
    return Counter(comment.text for comment in found)


def _merged(module: ir.Module) -> ir.Module:
    """Return a module where all names from one file are in one ``use``."""
    uses: dict[str, ir.Use] = {}
    for use in module.uses:
        known = uses.get(use.path)
        uses[use.path] = replace(use, names=known.names + use.names) if known else use
    return replace(module, uses=tuple(uses.values()))


def _difference(before: ir.Module, after: ir.Module) -> str:
    """Return what of a module another one does not have."""
    for one, other in zip(ir.walk(before), ir.walk(after), strict=False):
        if type(one) is not type(other) or list(ir.children(one)) != list(ir.children(other)):
            continue
        if one != other:
            return f"{type(one).__name__.lower()} at {one.span.place}"
    return "a part that it has no words for"


# ---- edits of YAML -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Edit:
    """Put ``text`` where the characters ``start`` to ``end`` are."""

    start: int
    end: int
    text: str


def _edited(read: _Read) -> str:
    """Return a YAML text with its leaves, blanks and empty lines put in order."""
    text = read.source.text
    inside = set(_inside(y.load(read.source), text, brackets=False))
    edits: list[_Edit] = []
    for leaf in read.leaves:
        span = leaf.node.span
        if "\n" in span.text or text[span.start : span.start + 1] in {"|", ">"}:
            continue  # laid out over lines by hand
        if "#" in leaf.node.value and _has_comment(leaf):
            continue
        written = yaml_printer.scalar(_normal(leaf, read.source), inside=span.start in inside)
        if written != span.text:
            edits.append(_Edit(span.start, span.end, written))
    for at in sorted(edits, key=lambda e: -e.start):
        text = text[: at.start] + at.text + text[at.end :]
    return _tidied(Source(read.source.name, text.replace("\r\n", "\n")))


def _inside(node: y.YamlNode | None, text: str, *, brackets: bool) -> Iterator[int]:
    """Yield where the scalars start that stand between brackets."""
    match node:
        case y.Scalar(span=span):
            if brackets:
                yield span.start
        case y.Mapping(pairs=pairs, span=span):
            within = brackets or text[span.start : span.start + 1] == "{"
            for key, value in pairs:
                yield from _inside(key, text, brackets=within)
                yield from _inside(value, text, brackets=within)
        case y.Sequence(items=items, span=span):
            within = brackets or text[span.start : span.start + 1] == "["
            for item in items:
                yield from _inside(item, text, brackets=within)
        case None:
            pass


def _has_comment(leaf: yaml_recipe.Leaf) -> bool:
    return bool(comments.of_text(Source("", leaf.node.value)))


def _normal(leaf: yaml_recipe.Leaf, source: Source) -> str:
    """Return a leaf as it is printed."""
    tree = parse(leaf.node.value, leaf.start, source, leaf.offsets)
    build = rsn.Builder(source, leaf.offsets)
    leaves = Expressions(Trivia(), leaf=True)
    doc: Doc
    match leaf.start:
        case "expr":
            doc = leaves.expr(build.expr(tree))
        case "type":
            doc = printer.type_name(build.type(tree))
        case "signature":
            tool, params, _ = build.signature(tree)
            doc = f"{tool}({', '.join(params)})"
        case "policy":
            doc = leaves.policy(build.policy(tree))
        case "call_by":
            call, role, _, options = build.call_by(tree)
            doc = leaves.call_by(call, role, options)
        case "each_head" | "state":
            name, value = tree.children
            sign = " in " if leaf.start == "each_head" else " = "
            doc = (str(name), sign, leaves.expr(build.expr(value)))
        case other:
            raise AssertionError(f"no leaf starts with {other}")
    return flat(doc)


def _tidied(source: Source) -> str:
    """Return a YAML text with no blanks at line ends and no two empty lines in a row."""
    read = _read(source)
    kept = set(_lines_of_texts(source, y.load(source)))
    behind = {source.line_of(c.start): c for c in read.comments if not c.alone}
    lines: list[str] = []
    for number, line in enumerate(source.text.split("\n"), start=1):
        if number in kept:
            lines.append(line)
            continue
        text = _BLANKS.sub("", line)
        if (comment := behind.get(number)) is not None:
            at = source.column_of(comment.start) - 1
            gap = len(text[:at]) - len(text[:at].rstrip())
            text = f"{text[:at].rstrip()}{' ' * max(gap, 2)}{text[at:]}"
        if text or (lines and lines[-1]):
            lines.append(text)
    return "\n".join(lines).strip("\n") + "\n"


def _lines_of_texts(source: Source, node: y.YamlNode | None) -> Iterator[int]:
    """Yield the numbers of lines inside scalars of several lines."""
    match node:
        case y.Scalar(span=span):
            last = source.line_of(max(span.start, span.end - 1))
            yield from range(span.line, last + 1) if last > span.line else ()
        case y.Mapping(pairs=pairs):
            for key, value in pairs:
                yield from _lines_of_texts(source, key)
                yield from _lines_of_texts(source, value)
        case y.Sequence(items=items):
            for item in items:
                yield from _lines_of_texts(source, item)
        case None:
            pass

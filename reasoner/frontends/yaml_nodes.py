"""YAML text to nodes with spans: no tags, no anchors, bounded depth, no duplicate keys.

Nodes are built from the parser's events, never composed recursively and never turned into
Python objects by YAML's own rules, so ``on`` and ``no`` stay words, ``1e-3`` stays a number's
text, and hostile nesting cannot exhaust the stack.
"""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import yaml

from reasoner.errors import Diagnostic, RecipeError, Related
from reasoner.source import Source, Span

MAX_CHARS = 1_000_000
MAX_DEPTH = 60
MAX_NODES = 20_000


@dataclass(frozen=True, slots=True)
class Scalar:
    """A leaf; ``quoted`` says that it was written in quotes or as a block."""

    value: str
    quoted: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Mapping:
    """Pairs in the order of the text."""

    pairs: tuple[tuple[Scalar, "YamlNode"], ...]
    span: Span

    def get(self, key: str) -> "YamlNode | None":
        """Return the value of ``key``, or None."""
        return next((v for k, v in self.pairs if k.value == key), None)


@dataclass(frozen=True, slots=True)
class Sequence:
    """Items in order."""

    items: tuple["YamlNode", ...]
    span: Span


YamlNode = Scalar | Mapping | Sequence


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    start: Any
    children: list[YamlNode]


def load(source: Source) -> YamlNode | None:
    """Return the root node of a text, or None if it holds nothing.

    Raises
    ------
    RecipeError
        With the first thing that is no YAML of the kind that recipes are written in.
    """
    if len(source.text) > MAX_CHARS:
        _fail("R103", f"the file has more than {MAX_CHARS:,} characters", Span(source, 0, 0))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _build(source, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = min(mark.index if mark else 0, max(0, len(source.text) - 1))
        message = f"this is not YAML: {error.problem or error.context}"
        tab = "\t" in source.text[source.text.rfind("\n", 0, at) + 1 : at + 1]
        hint = "YAML is indented with blanks, not with tabs" if tab else _advice(message)
        _fail("R110", message, Span(source, at, at + 1), hint)
    except yaml.YAMLError as error:
        _fail("R110", f"this is not YAML: {error}".split("\n")[0], Span(source, 0, 0))


def _advice(message: str) -> str:
    if "mapping values are not allowed" in message:
        return "put an expression with ': ' in quotes, or write 'name=value' in it"
    if "expected ',' or" in message:
        return "put what has brackets, commas or ': ' of its own in quotes"
    return ""


def _build(source: Source, loader: type) -> YamlNode | None:
    stack: list[_Open] = []
    root: YamlNode | None = None
    count = documents = 0
    for event in yaml.parse(source.text, Loader=loader):
        span = _span(source, event)
        node: YamlNode | None = None
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                if documents > 1:
                    _fail(
                        "R111", "a second YAML document starts here", span, "one file, one recipe"
                    )
            case yaml.AliasEvent():
                _fail("R112", "anchors and aliases are not allowed", span, "write the value again")
            case yaml.ScalarEvent():
                _refuse_extras(event, span)
                node = Scalar(event.value, bool(event.style), span)  # '' or None if plain
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                _refuse_extras(event, span)
                stack.append(_Open(event, []))
                if len(stack) > MAX_DEPTH:
                    _fail("R102", f"the file is nested more than {MAX_DEPTH} deep", span)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                node = _close(source, stack.pop(), event)
            case _:
                pass
        if node is None:
            continue
        count += 1
        if count > MAX_NODES:
            _fail("R103", f"the file has more than {MAX_NODES:,} values", span)
        if stack:
            stack[-1].children.append(node)
        else:
            root = node
    if isinstance(root, Scalar) and not root.value and not root.quoted:
        return None
    return root


def _close(source: Source, opened: _Open, end: Any) -> YamlNode:
    start = opened.start.start_mark.index
    stop = end.end_mark.index
    # A block collection ends at the next token: blanks and comments in between are not its own.
    last = max((child.span.end for child in opened.children), default=start)
    if getattr(opened.start, "flow_style", False):
        last = stop
    span = Span(source, start, max(start, last))
    if isinstance(opened.start, yaml.SequenceStartEvent):
        return Sequence(tuple(opened.children), span)
    pairs = []
    seen: dict[str, Span] = {}
    for key, value in zip(opened.children[::2], opened.children[1::2], strict=True):
        if not isinstance(key, Scalar):
            _fail("R113", "a key must be a plain word", key.span)
        if key.value in seen:
            first = Related("first given here", seen[key.value])
            _fail("R114", f"the key {key.value!r} is given twice", key.span, "", first)
        seen[key.value] = key.span
        pairs.append((key, value))
    return Mapping(tuple(pairs), span)


def _refuse_extras(event: Any, span: Span) -> None:
    if event.anchor is not None:
        _fail("R112", "anchors and aliases are not allowed", span, "write the value again")
    if event.tag is not None:
        tag = span.text.split()[0] if span.text.split() else event.tag
        _fail("R115", f"the tag {tag!r} is not allowed", span, "leave it out")


def _span(source: Source, event: Any) -> Span:
    start = event.start_mark.index
    stop = event.end_mark.index
    if isinstance(event, yaml.ScalarEvent):
        text = source.text[start:stop]
        stop = start + len(text.rstrip())
        if not text.strip():  # nothing was written: the place is that of the ':' or '-' before it
            stop = max(1, len(source.text[:start].rstrip()))
            start = stop - 1
    return Span(source, start, max(start, stop))


def _fail(code: str, message: str, span: Span, hint: str = "", *related: Related) -> NoReturn:
    raise RecipeError(
        [Diagnostic(code=code, message=message, span=span, hint=hint, related=related)]
    )


def plain(node: YamlNode | None) -> object:
    """Return a node as plain data: YAML 1.2 scalars, numbers as int or exact decimals."""
    match node:
        case None:
            return None
        case Scalar(value=value, quoted=quoted):
            return value if quoted else _plain_scalar(value)
        case Mapping(pairs=pairs):
            return {key.value: plain(value) for key, value in pairs}
        case Sequence(items=items):
            return [plain(item) for item in items]


def _plain_scalar(value: str) -> object:
    if value in {"", "~", "null"}:
        return None
    if value in {"true", "false"}:
        return value == "true"
    if value[0] in "+-.0123456789":
        try:
            number = Decimal("" if "_" in value else value)
        except InvalidOperation:
            return value
        if number.is_finite():
            return int(number) if value.lstrip("+-").isdigit() else number
    return value


def place_of(node: YamlNode, path: tuple[str | int, ...], *, key: bool = False) -> Span:
    """Return the span of the value at ``path`` (as pydantic spells it), or of its nearest parent.

    With ``key`` the span is that of the last key of the path, where there is one.
    """
    if key and path:
        parent = path[:-1]
        for step in parent:
            if isinstance(node, Mapping) and (inner := node.get(str(step))) is not None:
                node = inner
        if isinstance(node, Mapping):
            spans = [k.span for k, _ in node.pairs if k.value == str(path[-1])]
            return spans[0] if spans else node.span
    for step in path:
        match node:
            case Mapping() if (inner := node.get(str(step))) is not None:
                node = inner
            case Sequence(items=items) if isinstance(step, int) and step < len(items):
                node = items[step]
            case _:
                return node.span
    return node.span

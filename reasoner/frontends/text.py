"""Strings of the two notations to `ir.Text`: values with the offset of every character."""

import re
from collections.abc import Sequence

from reasoner import ir
from reasoner.errors import Diagnostic, RecipeError
from reasoner.source import Span

_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", "{": "{{", "}": "}}"}


_UNICODE = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}", re.ASCII
)
_ESCAPE = re.compile(r"\\(?:x.{2}|u.{4}|U.{8}|.)", re.DOTALL)
_JOINED = re.compile(r"\\\r?\n[ \t]*")  # a backslash at the end of a line joins it to the next


def unquote(raw: str, offsets: Sequence[int], span: Span) -> ir.Text:
    r"""Return the value of a quoted string.

    ``"..."`` is taken as it stands; ``\"\"\"...\"\"\"`` loses its first line break, its common
    indentation and the blanks at its end. ``\n \t \" \\`` and ``\uXXXX`` are understood.
    """
    quotes = 3 if raw.startswith('"""') else 1
    chars: list[str] = []
    at: list[int] = []
    index, stop = quotes, len(raw) - quotes
    while index < stop:
        if raw[index] != "\\":
            text, width = raw[index], 1
        elif found := _UNICODE.match(raw, index):
            width = len(found.group())
            text = _decoded(
                found.group(), Span(span.source, offsets[index], offsets[index] + width)
            )
        else:
            text, width = _ESCAPES.get(raw[index + 1], raw[index : index + 2]), 2
        chars.extend(text)
        at.extend([offsets[index]] * len(text))
        index += width
    value = "".join(chars)
    return (
        dedent(value, at, span)
        if quotes == 3
        else ir.Text(value=value, offsets=tuple(at), span=span)
    )


def _decoded(escapes: str, span: Span) -> str:
    r"""Return the character of ``\uXXXX``, or of two of them that make one character."""
    units = bytes.fromhex(escapes.replace("\\u", ""))
    try:
        return units.decode("utf-16-be")
    except UnicodeDecodeError:
        message = f"{escapes} is half a character"
        hint = "a character beyond \\uffff is written as it is, or as a pair"
        raise RecipeError(
            [Diagnostic(code="R105", message=message, span=span, hint=hint)]
        ) from None


def dedent(value: str, offsets: Sequence[int], span: Span) -> ir.Text:
    """Return the text without common indentation and without blanks at both ends."""
    lines = value.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(indents, default=0)
    chars: list[str] = []
    at: list[int] = []
    position = 0
    for number, line in enumerate(lines):
        cut = 0 if number == 0 else min(margin, len(line) - len(line.lstrip()))
        kept = line[cut:].rstrip()
        chars.extend(kept)
        at.extend(offsets[position + cut : position + cut + len(kept)])
        position += len(line) + 1
        if number < len(lines) - 1:
            chars.append("\n")
            at.append(offsets[position - 1])
    return stripped(ir.Text(value="".join(chars), offsets=tuple(at), span=span))


def stripped(text: ir.Text) -> ir.Text:
    """Return a text without blanks and empty lines at both ends."""
    start = len(text.value) - len(text.value.lstrip())
    end = len(text.value.rstrip())
    return ir.Text(value=text.value[start:end], offsets=text.offsets[start:end], span=text.span)


def align(value: str, source: str, start: int, end: int) -> tuple[int, ...]:
    """Return where each character of a YAML scalar's ``value`` stands in ``source``.

    Folding, indentation and quotes make the value differ from the text: blanks that the value
    does not have are passed over, an escape stands where its backslash stands. The result never
    leaves ``[start, end)``.
    """
    if source[start:end] == value:
        return tuple(range(start, end))
    quote = source[start] if source[start] in "\"'|>" else ""
    at = start
    if quote in {"|", ">"}:
        at = max(start, source.find("\n", start, end))
    elif quote:
        at = start + 1
    offsets: list[int] = []
    for char in value:
        while at < end - 1:
            if quote == '"' and (joined := _JOINED.match(source, at, end)):
                at = joined.end()
            elif source[at].isspace() and not char.isspace():
                at += 1
            else:
                break
        at = min(at, end - 1)
        offsets.append(at)
        if quote == '"' and (escape := _ESCAPE.match(source, at, end)):
            at = escape.end()
        elif quote == "'" and source.startswith("''", at, end):
            at += 2
        elif source[at].isspace() or not char.isspace():
            at += 1
    return tuple(offsets)

"""Strings of the two notations to `ir.Text`: values with the offset of every character."""

from collections.abc import Sequence

from reasoner import ir
from reasoner.source import Span

_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", "{": "{{", "}": "}}"}


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
        elif raw[index + 1] == "u" and _is_hex(raw[index + 2 : index + 6]):
            text, width = chr(int(raw[index + 2 : index + 6], 16)), 6
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


def _is_hex(digits: str) -> bool:
    return len(digits) == 4 and all(c in "0123456789abcdefABCDEF" for c in digits)


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
    text = "".join(chars)
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    return ir.Text(value=text[start:end], offsets=tuple(at[start:end]), span=span)


def align(value: str, source: str, start: int, end: int) -> tuple[int, ...]:
    """Return where each character of a YAML scalar's ``value`` stands in ``source``.

    Folding, indentation and quotes make the value differ from the text; characters are matched
    from left to right, blanks with the nearest blank. The result never leaves ``[start, end)``.
    """
    if source[start:end] == value:
        return tuple(range(start, end))
    offsets: list[int] = []
    at = start
    for char in value:
        probe = at
        if char.isspace():
            while probe < end and not source[probe].isspace():
                probe += 1
        else:
            while probe < end and source[probe] != char:
                probe += 1
        if probe >= end:
            probe = min(at, end - 1)
        offsets.append(probe)
        at = min(probe + 1, end - 1)
    return tuple(offsets)

"""Numbers and texts as they are written in the text notation."""

import re
import unicodedata
from decimal import Decimal

from reasoner import ir
from reasoner.errors import RecipeError
from reasoner.frontends.layout import Doc, Force, Hard, join
from reasoner.frontends.text import unquote

_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SHORT = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
#: Controls and line ends: what no editor shows and no YAML file holds.
_UNSEEN = {"Cc", "Zl", "Zp", "Cs"}
_NO_CHARACTERS = "\ufeff\ufffe\uffff"
#: A backslash before one of these, or at the end of a text, means something else.
_ESCAPING = frozenset('nt"\\/{}u\n\r')


def literal(node: ir.Literal, *, lines: bool) -> Doc:
    """Return a literal, as its author wrote it where that says the same.

    ``lines`` allows a text that was written over several lines to stay so.
    """
    match node.value:
        case None:
            return "none"
        case bool() as value:
            return "true" if value else "false"
        case Decimal() as value:
            return number(value, node.span.text)
        case str() as value:
            written = node.span.text
            if lines and written.startswith('"""') and in_lines(value):
                return paragraph(value)
            return written if _says(written, value, node) else quoted(value)


def number(value: Decimal, written: str = "") -> str:
    """Return an exact number; ``written`` is kept if it is the same number.

    Examples
    --------
    >>> number(Decimal("1E+2")), number(Decimal("0.70")), number(Decimal("0.7"), "7e-1")
    ('1e2', '0.70', '7e-1')
    """
    if len(written) <= 60 and _NUMBER.fullmatch(written) and Decimal(written) == value:
        return written
    return str(value).replace("E+", "e").replace("E", "e")


def quoted(value: str) -> str:
    r"""Return a text in double quotes, on one line.

    Examples
    --------
    >>> print(quoted('say "x"' + chr(10)))
    "say \"x\"\n"
    """
    return '"' + "".join(_SHORT.get(c) or _visible(c) for c in value) + '"'


def in_lines(value: str) -> bool:
    """Say whether a text between triple quotes is read back as it is."""
    lines = value.split("\n")
    return bool(value) and value == value.strip() and all(x == x.rstrip() for x in lines)


def paragraph(value: str) -> Doc:
    """Return a text between triple quotes that stand on lines of their own."""
    lines = _escaped(value).split("\n")
    return Force(), '"""', Hard(), join(Hard(), lines), Hard(), '"""'


def _escaped(value: str) -> str:
    """Return a text with the escapes that it needs between triple quotes."""
    chars = []
    for at, char in enumerate(value):
        if char == "\\":
            after = value[at + 1 : at + 2]
            alone = after and after not in _ESCAPING and _visible(after) == after
            chars.append("\\" if alone else "\\\\")
        else:
            chars.append(char if char in "\n\t" else _visible(char))
    text = "".join(chars)
    return text.replace('"""', '\\"\\"\\"')


def _visible(char: str) -> str:
    unseen = unicodedata.category(char) in _UNSEEN or char in _NO_CHARACTERS
    return f"\\u{ord(char):04x}" if unseen else char


def _says(written: str, value: str, node: ir.Literal) -> bool:
    """Say whether a text in quotes is on one line, visible, and has this value."""
    if not _STRING.fullmatch(written) or any(_visible(c) != c for c in written):
        return False
    try:
        return unquote(written, range(len(written)), node.span).value == value
    except RecipeError:
        return False

"""The Lark parser of the language, and its syntax errors in plain words."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NoReturn

from lark import Lark, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import Token

from reasoner.bundled import folder
from reasoner.errors import Diagnostic, RecipeError, Related
from reasoner.source import Source, Span

#: Longest text and deepest nesting that are read at all: more is no recipe, but an attack.
MAX_CHARS = 1_000_000
MAX_DEPTH = 60

_STARTS = ["module", "expr", "call_by", "each_head", "state", "policy", "signature", "type"]
_WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "LPAR": "'('",
    "RPAR": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "COLON": "':'",
    "EQUAL": "'='",
    "__ANON_0": "'->'",
    "$END": "the end",
    "VALUE": "a value",
}
#: Words that begin or join values: in their place they are never names.
RESERVED = frozenset(
    "and ask budget dialog each else false first fold frontier if "
    "loop matrix none not or param return true variant".split()
)
#: Tokens that begin a value, and tokens that go on with one.
_VALUES = frozenset(
    {"NAME", "NUMBER", "STRING", "LPAR", "LSQB", "LBRACE", "MINUS"}
    | {word.upper() for word in RESERVED - {"param", "return", "variant"}}
)
_INFIX = frozenset({"AND", "COMPARE", "DOT", "LPAR", "MINUS", "OR", "PLUS", "SLASH", "STAR"})
_LEADS = re.compile(rf"({'|'.join(sorted(RESERVED))})\b")
_WORD_BEFORE = re.compile(rf"\b({'|'.join(sorted(RESERVED))})\s*$")
_DASHED = re.compile(r"\w-\w+\s*$")
_QUIET = re.compile(r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\]|\\.)*"|#[^\n]*', re.DOTALL)
_QUOTES = 'texts are written in double quotes: "..."'
_HINTS = {
    "'": _QUOTES,
    "\u201c": _QUOTES,
    "\u2018": _QUOTES,
    "<-": "a binding is written 'name = value'",
    ":=": "a binding is written 'name = value'",
    "=": "an option is written 'name: value', a binding 'name = value'",
    ":": "a binding is written 'name = value', an option inside '(' and ')' 'name: value'",
    ";": "nothing stands between two steps",
    "//": "a comment starts with '#'",
}
_CLOSES = {")": "(", "]": "[", "}": "{"}


@cache
def _parser() -> Lark:
    return Lark(
        (folder("grammars") / "recipe.lark").read_text(encoding="utf-8"),
        parser="lalr",
        start=_STARTS,
        propagate_positions=True,
        maybe_placeholders=False,
    )


def parse(text: str, start: str, source: Source, offsets: Sequence[int]) -> Tree[Token]:
    """Parse ``text`` from the rule ``start``; ``offsets[i]`` is where ``text[i]`` stands.

    Raises
    ------
    RecipeError
        With one R1xx finding that says what was expected and what was left open.
    """
    _refuse_excess(text, source, offsets)
    try:
        return _parser().parse(text, start=start)
    except UnexpectedInput as error:
        _fail(error, text, source, offsets)


def _refuse_excess(text: str, source: Source, offsets: Sequence[int]) -> None:
    depth = 0
    for index, char in enumerate(_bare(text)):
        depth += (char in "([{") - (char in ")]}")
        if depth > MAX_DEPTH:
            where = Span(source, offsets[index], offsets[index] + 1)
            raise RecipeError(
                [
                    Diagnostic(
                        code="R102",
                        message=f"brackets are nested more than {MAX_DEPTH} deep",
                        span=where,
                        hint="bind the inner parts to names",
                    )
                ]
            )


def _fail(error: Any, text: str, source: Source, offsets: Sequence[int]) -> NoReturn:
    at = min(error.pos_in_stream or 0, len(text))
    last = len(text)
    expected: set[str] = set()
    match error:
        case UnexpectedToken():
            token = error.token
            at = len(text) if token.type == "$END" else (token.start_pos or 0)
            width = max(1, len(token))
            if (
                token.type == "$END"
            ):  # it borrows the place of the last token: what is there ends it
                last = max(0, (token.end_pos or 1) - 1)
            found = "the text ends" if token.type == "$END" else f"found {str(token)!r}"
            expected = set(error.accepts or error.expected)
        case UnexpectedCharacters():
            width = 1
            found = f"found {text[at : at + 1]!r}"
            expected = set(error.allowed or ())
        case _:
            width, found = 1, "the text ends"
    end = offsets[-1] + 1 if offsets else 0
    begin = offsets[min(at, last, len(offsets) - 1)] if offsets else 0
    span = Span(source, begin, min(begin + width, max(end, begin)))
    related = []
    if (opened := _left_open(text[:at])) is not None:
        place = offsets[opened]
        related = [Related(f"{text[opened]!r} opened here", Span(source, place, place + 1))]
    if (word := _reserved(error, text, at)) is not None:
        first, after = word
        whole = Span(source, offsets[first], offsets[after - 1] + 1)
        message = f"syntax: {text[first:after]!r} is a word of the language, not a name"
        raise RecipeError([Diagnostic(code="R101", message=message, span=whole)])
    if expected >= {"NAME", "NUMBER"}:
        expected = (expected - _VALUES) | {"VALUE"}
    if "STAR" in expected:  # a value may go on: what ends it says more
        expected -= _INFIX
    words = sorted({_WORDS.get(name, f"'{name.lower()}'") for name in expected})
    wanted = f", expected {_either(words)}" if 0 < len(words) <= 8 else ""
    raise RecipeError(
        [
            Diagnostic(
                code="R101",
                message=f"syntax: {found}{wanted}",
                span=span,
                hint=_advice(text, at),
                related=tuple(related),
            )
        ]
    )


def _reserved(error: Any, text: str, at: int) -> tuple[int, int] | None:
    """Return where a word of the language stands in the place of a name, if that is the mistake."""
    if found := _LEADS.match(text, at):
        expected = getattr(error, "accepts", None) or getattr(error, "expected", None) or ()
        return found.span(1) if "NAME" in expected or not expected else None
    before = _WORD_BEFORE.search(text[:at])
    ends = "=:" if before and before[1] == "return" else "=:,)]"
    return before.span(1) if before and text[at : at + 1] in set(ends) else None


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _bare(text: str) -> str:
    """Return ``text`` with blanks for its comments and closed quotes; places stay what they are."""
    return _QUIET.sub(lambda found: " " * len(found.group()), text)


def _left_open(text: str) -> int | None:
    stack: list[int] = []
    for index, char in enumerate(_bare(text)):
        if char in "([{":
            stack.append(index)
        elif char in _CLOSES and stack and text[stack[-1]] == _CLOSES[char]:
            stack.pop()
    return stack[-1] if stack else None


def _advice(text: str, at: int) -> str:
    rest = text[at:]
    if rest.startswith("=") and _DASHED.search(text[:at]):
        return "names are letters, digits and '_'; a '-' between two names is a subtraction"
    for start, hint in _HINTS.items():
        if rest.startswith(start):
            return hint
    if '"' in _bare(text[: at + 1]):
        return "a text in quotes is not closed"
    return ""

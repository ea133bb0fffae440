"""The Lark parser of the language, and its syntax errors in plain words."""

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
    for index, char in enumerate(text):
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
    expected: set[str] = set()
    match error:
        case UnexpectedToken():
            token = error.token
            at = len(text) if token.type == "$END" else (token.start_pos or 0)
            width = max(1, len(token))
            found = "the text ends" if token.type == "$END" else f"found {str(token)!r}"
            expected = set(error.accepts or error.expected)
        case UnexpectedCharacters():
            width = 1
            found = f"found {text[at : at + 1]!r}"
            expected = set(error.allowed or ())
        case _:
            width, found = 1, "the text ends"
    end = offsets[-1] + 1 if offsets else 0
    begin = offsets[at] if at < len(offsets) else end
    span = Span(source, begin, min(begin + width, max(end, begin)))
    related = []
    if (opened := _left_open(text[:at])) is not None:
        place = offsets[opened]
        related = [Related(f"{text[opened]!r} opened here", Span(source, place, place + 1))]
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


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _left_open(text: str) -> int | None:
    stack: list[int] = []
    quoted = False
    for index, char in enumerate(text):
        if char == '"' and text[index - 1 : index] != "\\":
            quoted = not quoted
        elif not quoted and char in "([{":
            stack.append(index)
        elif not quoted and char in _CLOSES and stack and text[stack[-1]] == _CLOSES[char]:
            stack.pop()
    return stack[-1] if stack else None


def _advice(text: str, at: int) -> str:
    rest = text[at:]
    if rest.startswith("'"):
        return 'texts are written in double quotes: "..."'
    if rest.startswith("="):
        return "an option is written 'name: value', a binding 'name = value'"
    if rest.startswith(("<-", ":=")):
        return "a binding is written 'name = value'"
    if text[:at].count('"') % 2:
        return "a text in quotes is not closed"
    return ""

"""Prompt templates: text with ``{name}`` holes. Nothing in a template is ever executed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True, slots=True)
class Hole:
    """``{name}``, the characters ``start`` to ``end`` of a template."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Stray:
    """A brace that opens or closes no hole."""

    start: int
    end: int


def pieces(text: str) -> Iterator[str | Hole | Stray]:
    """Yield the literal texts, holes and stray braces of a template, in order.

    ``{{`` and ``}}`` stand for the braces themselves.

    Examples
    --------
    >>> list(pieces("a {b} {{c}}"))
    ['a ', Hole(name='b', start=2, end=5), ' ', '{', 'c', '}']
    """
    at = 0
    for found in _PIECE.finditer(text):
        if found.start() > at:
            yield text[at : found.start()]
        at = found.end()
        match found.group():
            case "{{" | "}}" as pair:
                yield pair[0]
            case "{" | "}":
                yield Stray(found.start(), found.end())
            case _:
                yield Hole(found.group(1).strip(), found.start(), found.end())
    if at < len(text):
        yield text[at:]

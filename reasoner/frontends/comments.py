"""The comments of a text: where they stand."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reasoner.frontends import yaml_nodes as y
from reasoner.source import Source

_QUIET = re.compile(r'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\]|\\.)*"|(#[^\n]*)', re.DOTALL)
_YAML_COMMENT = re.compile("#[^\n\r\x85\u2028\u2029]*")
_BLOCK_HEADER = re.compile(r"[|>][-+0-9]*[ \t]+(?=#)")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, from its ``#``; ``alone`` says that its line holds nothing else."""

    text: str
    start: int
    alone: bool


def of_text(source: Source) -> list[Comment]:
    """Return the comments of a file of the text notation, or of one expression."""
    return list(_found(source, ((m.start(1), m[1]) for m in _QUIET.finditer(source.text) if m[1])))


def of_yaml(
    source: Source, root: y.YamlNode | None, leaves: Iterable[tuple[y.Scalar, Sequence[int]]]
) -> list[Comment]:
    """Return the comments of a YAML file; ``leaves`` are its expressions, with their places."""
    found = list(_found(source, _between(source.text, sorted(_scalars(root), key=_start))))
    for leaf, places in leaves:
        for match in _QUIET.finditer(leaf.value) if "#" in leaf.value else ():
            if match[1]:
                found.append(Comment(match[1].rstrip(), places[match.start(1)], alone=False))
    return sorted(found, key=lambda c: c.start)


def _found(source: Source, places: Iterable[tuple[int, str]]) -> Iterator[Comment]:
    for start, text in places:
        before = source.text[source.text.rfind("\n", 0, start) + 1 : start]
        yield Comment(text.rstrip(), start, alone=not before.strip())


def _start(scalar: y.Scalar) -> int:
    return scalar.span.start


def _scalars(node: y.YamlNode | None) -> Iterator[y.Scalar]:
    match node:
        case y.Scalar():
            yield node
        case y.Mapping(pairs=pairs):
            for key, value in pairs:
                yield key
                yield from _scalars(value)
        case y.Sequence(items=items):
            for item in items:
                yield from _scalars(item)
        case None:
            pass


def _between(text: str, scalars: Sequence[y.Scalar]) -> Iterator[tuple[int, str]]:
    """Yield the comments between scalars, and those beside the sign of a block scalar."""
    at = 0
    for scalar in scalars:
        yield from _comments(text, at, scalar.span.start)
        at = max(at, scalar.span.end)
        if header := _BLOCK_HEADER.match(text, scalar.span.start):
            end = text.find("\n", header.end())
            yield from _comments(text, header.end(), len(text) if end < 0 else end)
    yield from _comments(text, at, len(text))


def _comments(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for match in _YAML_COMMENT.finditer(text, start, end):
        yield match.start(), match[0]

"""Where text came from: every message of this package points into a `Source` by a `Span`."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple


@dataclass(frozen=True)
class Source:
    """A text with the name it is known by (a file path, or ``<text>``)."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        text, starts, at = self.text, [0], -1
        while (at := text.find("\n", at + 1)) >= 0:
            starts.append(at + 1)
        return tuple(starts)

    def line_of(self, offset: int) -> int:
        """Return the 1-based line that holds the character at ``offset``."""
        from bisect import bisect_right

        return bisect_right(self._line_starts, offset)

    def column_of(self, offset: int) -> int:
        """Return the 1-based column of the character at ``offset``, counted in characters."""
        return offset - self._line_starts[self.line_of(offset) - 1] + 1

    def line_text(self, line: int) -> str:
        """Return the 1-based ``line`` without its line end."""
        start = self._line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")


class Place(NamedTuple):
    """A position that outlives its text: what plans and records keep of a span."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """Return ``file:line:column``."""
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Span:
    """The characters ``start`` (included) to ``end`` (excluded) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters that the span covers."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The 1-based line on which the span starts."""
        return self.source.line_of(self.start)

    @property
    def column(self) -> int:
        """The 1-based column on which the span starts."""
        return self.source.column_of(self.start)

    @property
    def place(self) -> Place:
        """The start of the span, without its text."""
        return Place(self.source.name, self.line, self.column)

    def to(self, other: "Span") -> "Span":
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.source, self.start, max(self.end, other.end))

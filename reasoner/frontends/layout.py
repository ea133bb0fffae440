"""Documents: text with the places where it may be broken into lines, and their rendering.

A group is written on one line if it fits, else every `Line` of it is a line break; its inner
groups choose for themselves. This is the algorithm of Wadler's "A prettier printer", with what
source code needs on top: comments at line ends, and columns that are aligned from line to line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

WIDTH = 100
INDENT = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A line break, or ``flat`` where the group stands on one line."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class Hard:
    """A line break, always; ``blank`` leaves a line empty."""

    blank: bool = False


@dataclass(frozen=True, slots=True)
class Force:
    """Nothing, but the groups around it are broken."""


@dataclass(frozen=True, slots=True)
class IfBroken:
    """``text`` where the group is broken, else nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class Trailing:
    """A comment at the end of the line; what follows stands on a new one."""

    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """A document whose line breaks are indented by one step more."""

    doc: "Doc"


@dataclass(frozen=True, slots=True)
class Group:
    """A document that is written on one line if it can be."""

    doc: "Doc"
    broken: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One line, or several, of a list; ``tail`` is what may follow its group.

    ``blank`` leaves an empty line above it; a ``remark`` is a comment, which is like no other row.
    """

    doc: "Doc"
    tail: "Doc" = ""
    blank: bool = False
    remark: bool = False


@dataclass(frozen=True, slots=True)
class Siblings:
    """Rows that look alike: each on a line of its own if all of them fit, else all broken."""

    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """``left`` and ``right``; neighbouring lines of one ``kind`` start ``right`` in one column."""

    kind: str
    left: "Doc"
    right: "Doc"


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the aligned document number ``mark``."""

    mark: int


Doc = (
    str | Line | Hard | Force | IfBroken | Trailing | Nest | Group | Siblings | Aligned | _End
    | tuple["Doc", ...]
)  # fmt: skip


def group(*docs: Doc) -> Group:
    """Return a group of the documents."""
    return Group(docs, forced(docs))


def join(separator: Doc, docs: Sequence[Doc]) -> Doc:
    """Return the documents with a separator between them."""
    return tuple(part for n, doc in enumerate(docs) for part in ((separator, doc) if n else (doc,)))


def forced(doc: Doc) -> bool:
    """Say whether a document cannot stand on one line."""
    match doc:
        case Hard() | Force() | Trailing() | Siblings():
            return True
        case Group(broken=broken):
            return broken
        case Nest(doc=inner):
            return forced(inner)
        case Aligned(left=left, right=right):
            return forced(left) or forced(right)
        case tuple():
            return any(map(forced, doc))
        case str() | Line() | IfBroken() | _End():
            return False
        case _:
            assert_never(doc)


def leading(doc: Doc) -> str:
    """Return the first text of a document."""
    match doc:
        case str():
            return doc
        case tuple():
            return next(filter(None, map(leading, doc)), "")
        case Nest(doc=inner) | Group(doc=inner):
            return leading(inner)
        case Aligned(left=left, right=right):
            return leading(left) or leading(right)
        case Siblings(rows=rows):
            return next(filter(None, (leading(row.doc) for row in rows)), "")
        case Line() | Hard() | Force() | IfBroken() | Trailing() | _End():
            return ""
        case _:
            assert_never(doc)


def flat(doc: Doc) -> str:
    """Return the document on one line, whatever its width."""
    return "".join(part for part in _flat([doc]) if part is not None)


def _flat(stack: list[Doc]) -> Iterator[str | None]:
    """Yield the texts of documents on one line; None where that is not possible."""
    while stack:
        match stack.pop():
            case str() as text:
                yield text
            case Line(flat=text):
                yield text
            case Nest(doc=inner) | Group(doc=inner):
                stack.append(inner)
            case Aligned(left=left, right=right):
                stack += [right, left]
            case tuple() as docs:
                stack.extend(reversed(docs))
            case Hard() | Trailing() | Siblings():
                yield None
            case Force() | IfBroken() | _End():
                pass
            case other:
                assert_never(other)


def render(doc: Doc, width: int = WIDTH) -> list[str]:
    """Return the lines of a document."""
    return _Page(width).lines(doc)


@dataclass(slots=True)
class _Mark:
    """Where the right half of an aligned document starts, and on which line it ends."""

    kind: str
    indent: int
    line: int
    column: int
    end: int = -1


@dataclass(frozen=True, slots=True)
class _Task:
    """A document that is to be written: with which indentation, and on one line or not."""

    indent: int
    flat: bool
    doc: Doc


class _Page:
    """The lines that are written so far."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.text: list[str] = [""]
        self.indents: list[int] = [0]
        self.comments: dict[int, str] = {}
        self.marks: list[_Mark] = []

    def lines(self, doc: Doc) -> list[str]:
        """Write a document and return its lines."""
        stack = [_Task(0, flat=False, doc=doc)]
        while stack:
            self.write(stack.pop(), stack)
        self.align()
        self.place_comments()
        return [line.rstrip() for line in self.text]

    def write(self, task: _Task, stack: list[_Task]) -> None:
        """Write the beginning of a document; what is left of it goes onto the stack."""
        indent = task.indent
        match task.doc:
            case str() as text:
                self.text[-1] += text
            case Line(flat=text) if task.flat:
                self.text[-1] += text
            case Line() | Hard(blank=False):
                self.newline(indent)
            case Hard():
                self.newline(0)
                self.newline(indent)
            case IfBroken(text=text):
                self.text[-1] += "" if task.flat else text
            case Trailing(text=text):
                self.comments[len(self.text) - 1] = text
            case Nest(doc=inner):
                stack.append(_Task(indent + INDENT, task.flat, inner))
            case Group(doc=inner, broken=broken):
                fits = task.flat or (not broken and self.fits(inner, stack))
                stack.append(_Task(indent, fits, inner))
            case Siblings(rows=rows):
                stack.extend(reversed(self.siblings(rows, indent)))
            case Aligned(kind=kind, left=left, right=right):
                self.aligned(kind, left, right, task, stack)
            case _End(mark=mark):
                self.marks[mark].end = len(self.text)
            case tuple() as docs:
                stack.extend(_Task(indent, task.flat, part) for part in reversed(docs))
            case Force():
                pass
            case other:
                assert_never(other)

    def newline(self, indent: int) -> None:
        """Start a new line."""
        self.text.append(" " * indent)
        self.indents.append(indent)

    def fits(self, doc: Doc, stack: Sequence[_Task]) -> bool:
        """Say whether a document, and what follows it up to a line break, fits on the line."""
        left = self.width - len(self.text[-1])
        for text in _flat([doc]):
            left -= len(text or "")
            if left < 0:
                return False
        for task in reversed(stack):
            if task.flat:
                left -= len(flat(task.doc))
            else:
                used, ended = _up_to_break(task.doc)
                left -= used
                if ended:
                    break
            if left < 0:
                return False
        return left >= 0

    def siblings(self, rows: Sequence[Row], indent: int) -> list[_Task]:
        """Return what is to be written for rows that look alike."""
        room = self.width - indent
        alike = all(
            row.remark or (not forced(row.doc) and len(flat(row.doc)) <= room) for row in rows
        )
        tasks: list[_Task] = []
        for number, row in enumerate(rows):
            if number:
                tasks.append(_Task(indent, flat=False, doc=Hard(row.blank)))
            doc = row.doc if alike else _opened(row.doc)
            tasks += [_Task(indent, alike, doc), _Task(indent, flat=False, doc=row.tail)]
        return tasks

    def aligned(self, kind: str, left: Doc, right: Doc, task: _Task, stack: list[_Task]) -> None:
        """Write the left half and remember its end, if it begins the line."""
        begins = not self.text[-1].strip()
        self.text[-1] += flat(left)
        if begins:
            place = len(self.text), len(self.text[-1])
            self.marks.append(_Mark(kind, self.indents[-1], *place))
            stack.append(_Task(task.indent, task.flat, _End(len(self.marks) - 1)))
        stack.append(_Task(task.indent, task.flat, right))

    def align(self) -> None:
        """Move the right halves of neighbouring lines to one column."""
        single = [mark for mark in self.marks if mark.line == mark.end]
        for run in _runs(single):
            column = max(mark.column for mark in run)
            lengths = [len(self.text[m.line - 1]) + column - m.column for m in run]
            if max(lengths) > self.width:
                continue
            for mark in run:
                line = self.text[mark.line - 1]
                gap = " " * (column - mark.column)
                self.text[mark.line - 1] = line[: mark.column] + gap + line[mark.column :]

    def place_comments(self) -> None:
        """Put comments behind their lines, those of neighbouring lines in one column."""
        marks = [
            _Mark("#", self.indents[at], at + 1, len(self.text[at]), at + 1) for at in self.comments
        ]
        for run in _runs(marks):
            column = max(mark.column for mark in run)
            for mark in run:
                at = mark.line - 1
                self.text[at] = f"{self.text[at]:<{column}}  {self.comments[at]}"


def _runs(marks: Sequence[_Mark]) -> list[list[_Mark]]:
    """Return marks of one kind and indentation on lines that follow one another."""
    runs = [[mark] for mark in marks[:1]]
    for before, mark in pairwise(marks):
        same = (before.kind, before.indent, before.line + 1) == (mark.kind, mark.indent, mark.line)
        if same:
            runs[-1].append(mark)
        else:
            runs.append([mark])
    return runs


def _opened(doc: Doc) -> Doc:
    """Return a row with its group broken."""
    match doc:
        case Group(doc=inner):
            return Group(inner, broken=True)
        case Aligned(kind=kind, left=left, right=right):
            return Aligned(kind, left, _opened(right))
        case _:
            return doc


def _up_to_break(doc: Doc) -> tuple[int, bool]:
    """Return the width of a document up to its first line break, and whether it has one."""
    match doc:
        case str():
            return len(doc), False
        case Line() | Hard() | Trailing():
            return 0, True
        case Nest(doc=inner) | Group(doc=inner):  # a group that follows may be broken as well
            return _up_to_break(inner)
        case IfBroken(text=text):
            return len(text), False
        case Aligned(left=left, right=right):
            return _up_to_break((left, right))
        case Siblings(rows=rows):
            return _up_to_break(tuple(row.doc for row in rows[:1]))
        case tuple():
            used = 0
            for part in doc:
                width, ended = _up_to_break(part)
                used += width
                if ended:
                    return used, True
            return used, False
        case Force() | _End():
            return 0, False
        case _:
            assert_never(doc)

"""What can go wrong, as data.

::

    ReasonerError            every error that this package raises on purpose
    |-- RecipeError          a text is wrong: carries every finding about it
    |-- UsageError           a command, a file name or a setting is wrong
    |-- GraphError           a knowledge graph cannot be read or built
    |-- RunError             a run cannot start or go on
    |   |-- StepError        one step failed: carries its id and its place
    |   |-- ModelError       a model could not be reached or gave no usable reply
    |   |-- CapabilityError  a plan needs what a model cannot do
    |   `-- BudgetError      a limit of calls, tokens, dollars or seconds was reached
    `-- JournalError         the record of finished calls cannot be written or trusted
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from reasoner.source import Place, Span


class Severity(StrEnum):
    """How bad a finding is: an error stops the run before it starts, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a finding."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that removes a finding: put ``text`` where ``span`` is."""

    message: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding about a text: code, what is wrong, where, and what to do."""

    code: str
    message: str
    span: Span
    hint: str = ""
    severity: Severity = Severity.ERROR
    related: tuple[Related, ...] = ()
    fix: Fix | None = None

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The key that sorts findings by place."""
        return (self.span.source.name, self.span.start, self.span.end, self.code, self.message)

    def render(self) -> str:
        """Return the finding with the source line that it points at, underlined."""
        word = "" if self.severity is Severity.ERROR else f"{self.severity} "
        lines = [f"{self.span.place}: {word}{self.code} {self.message}", *_excerpt(self.span)]
        for other in self.related:
            lines += [f"  {other.span.place}: {other.message}", *_excerpt(other.span)]
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return the finding as plain data, for editors and for CI."""
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            **_span_json(self.span),
            "help": self.hint or None,
            "related": [{"message": r.message, **_span_json(r.span)} for r in self.related],
            "fix": self.fix
            and {
                "message": self.fix.message,
                "text": self.fix.text,
                **_span_json(self.fix.span),
            },
        }


_WIDEST = 160


def printable(text: str) -> str:
    """Return ``text`` with control and invisible characters replaced, safe on a terminal.

    Examples
    --------
    >>> printable("a" + chr(27) + "[2Jb")
    'a\ufffd[2Jb'
    """
    return "".join(c if c.isprintable() or c == " " else "\ufffd" for c in text)


def _excerpt(span: Span) -> list[str]:
    line = span.source.line_text(span.line).replace("\t", " ")
    first = span.column - 1
    width = max(1, min(span.end, span.start + len(line) - first) - span.start)
    if len(line) > _WIDEST:  # a very long line is shown around the place, not whole
        cut = max(0, first - _WIDEST // 2)
        line, first = line[cut : cut + _WIDEST], first - cut
        width = max(1, min(width, len(line) - first))
    return [f"    {printable(line)}", f"    {' ' * first}{'^' * width}"]


def _span_json(span: Span) -> dict[str, object]:
    end = span.source
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end.line_of(max(span.start, span.end)),
        "end_column": end.column_of(max(span.start, span.end)),
    }


class ReasonerError(Exception):
    """Base of every error that this package raises on purpose.

    The text is one or more lines that say what is wrong and what to do; it never holds a key.
    """


class RecipeError(ReasonerError):
    """A recipe, prompt file or manifest was rejected; ``diagnostics`` holds every reason."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(sorted(set(diagnostics), key=lambda d: d.order))
        super().__init__("\n".join(d.render() for d in self.diagnostics))


class UsageError(ReasonerError):
    """A command, an argument, a file name or a setting is wrong."""


class GraphError(ReasonerError):
    """A knowledge graph cannot be found, read or built."""


class RunError(ReasonerError):
    """A run cannot start, or cannot go on."""


class StepError(RunError):
    """One step of a plan failed; the cause is chained."""

    def __init__(self, step: str, place: Place | None, reason: str) -> None:
        self.step, self.place, self.reason = step, place, reason
        super().__init__(f"{place or '<plan>'}: step '{step}' failed: {reason}")


class ModelError(RunError):
    """A model could not be reached or gave no usable reply.

    ``retry`` says whether the same request may succeed later, ``after_s`` how long the server
    asked to be left alone.
    """

    def __init__(self, message: str, *, retry: bool = False, after_s: float = 0.0) -> None:
        self.retry, self.after_s = retry, after_s
        super().__init__(message)


class CapabilityError(RunError):
    """The plan needs something that the model behind a role cannot do."""


class BudgetError(RunError):
    """A limit of calls, tokens, dollars or seconds was reached; ``limit`` names it."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(f"the budget is used up: {limit}")


class JournalError(ReasonerError):
    """The record of finished calls cannot be written, or cannot be trusted."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that ``name`` most likely stands for, or None."""
    names = sorted(set(known))
    folded = {n.casefold().replace("-", "_"): n for n in reversed(names)}
    if (hit := folded.get(name.casefold().replace("-", "_"))) is not None:
        return hit
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean 'x'?`` for the nearest known name, or an empty string.

    Examples
    --------
    >>> did_you_mean("neigbors", ["neighbors", "paths"])
    "did you mean 'neighbors'?"
    """
    close = nearest(name, known)
    return f"did you mean {close!r}?" if close else ""


def known_as(owner: str, kind: str, name: str, known: Iterable[str]) -> str:
    """Return ``owner has no kind 'name'; did you mean 'x'?`` with what there is.

    Examples
    --------
    >>> known_as("m", "role", "readr", ["reader"])
    "m has no role 'readr'; did you mean 'reader'? it has: reader"
    """
    names = list(known)
    close = did_you_mean(name, names)
    return f"{owner} has no {kind} {name!r}; {close}{' ' * bool(close)}it has: {', '.join(names) or 'none'}"


def unknown(kind: str, name: str, known: Iterable[str], span: Span, code: str) -> Diagnostic:
    """Return the finding that ``name`` is no ``kind``, with the nearest name as its fix."""
    names = sorted(set(known))
    close = nearest(name, names)
    listing = f"known: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
    return Diagnostic(
        code=code,
        message=f"no {kind} named {name!r}",
        span=span,
        hint=f"did you mean {close!r}?" if close else (listing if names else ""),
        fix=Fix(f"write {close!r}", span, close) if close else None,
    )

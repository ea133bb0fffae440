"""One open file: its findings, and what is to be said of a place in it."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from reasoner import api, ir
from reasoner.catalog import builtin
from reasoner.compiler.program import Loader
from reasoner.editor import symbols as s
from reasoner.editor.complete import Item, complete
from reasoner.errors import Diagnostic, UsageError
from reasoner.frontends.grammar import RESERVED
from reasoner.source import Source, Span


class Document:
    """A text that is being edited; ``module`` is the tree of the last text that parsed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.source = Source(name, "")
        self.module: ir.Module | None = None
        self.current = False
        self.findings: tuple[Diagnostic, ...] = ()
        self.found: list[s.Occurrence] = []

    @property
    def yaml(self) -> bool:
        """True for the YAML notation."""
        return self.name.endswith((".yaml", ".yml"))

    @property
    def load(self) -> Loader:
        """The loader of the files that this one uses."""
        loader: Loader = api.library_loader(Path(self.name))
        return loader

    def update(self, text: str) -> None:
        """Take a new text in and check it."""
        self.source = Source(self.name, text)
        module, checked = api.check_source(self.source)
        self.findings = checked.findings
        self.current = module is not None
        if module is not None:
            self.module = module
            self.found = s.occurrences(module, self.load)

    # ---- questions ---------------------------------------------------------------------------

    def known(self) -> Mapping[str, s.Symbol]:
        """Return the prompts and methods of the last text that parsed, by name."""
        return {o.symbol.name: o.symbol for o in self.found if o.symbol.kind not in s.LOCAL}

    def complete(self, offset: int) -> list[Item]:
        """Return what may be written at a place."""
        known = dict(self.known())
        if self.module is not None:
            for use in self.module.uses:
                known = s.library(use, self.load) | known
        return complete(self.source.text, offset, builtin(), known, yaml=self.yaml)

    def hover(self, offset: int) -> tuple[str, Span] | None:
        """Return what is to be said of a place, as Markdown."""
        span = self.word(offset)
        if span is None:
            return None
        occurrence = s.at(self.found, offset) if self.current else None
        if occurrence is not None:
            return _page(occurrence.symbol), occurrence.span
        if (symbol := self.known().get(span.text)) is not None:
            return _page(symbol), span
        spec = builtin().get(span.text)
        if spec is None:
            return None
        return f"```\n{spec.signature}\n```\n\n{_fenced(spec.doc)}", span

    def definition(self, offset: int) -> Span | None:
        """Return where what is named at a place is defined."""
        if self.current:
            if (occurrence := s.at(self.found, offset)) is not None:
                return occurrence.symbol.span
            return self.used_file(offset)
        span = self.word(offset)
        if span is None:
            return None
        if (symbol := self.known().get(span.text)) is not None and symbol.kind not in s.LOCAL:
            return self.still_there(symbol.span)
        return self.bound(span.text)

    def still_there(self, span: Span) -> Span | None:
        """Return the span of a definition if the present text still has it there, or finds it."""
        if span.source.name != self.name:
            return span
        return self.bound(span.text)

    def used_file(self, offset: int) -> Span | None:
        """Return the start of the file that a ``use`` names at a place."""
        for use in self.module.uses if self.module else ():
            if use.path_span.start <= offset <= use.path_span.end:
                module = self.load(use)
                if isinstance(module, ir.Module):
                    return Span(module.span.source, 0, 0)
        return None

    def bound(self, name: str) -> Span | None:
        """Return where a text that does not parse seems to define a name."""
        lead = (
            r"^[ \t]*(?:- +)*" if self.yaml else r"(?:^[ \t]*(?:param|prompt|method)?[ \t]*|\{\s*)"
        )
        tail = r"\s*:" if self.yaml else r"\s*(?:=(?!=)|\()"
        found = re.search(f"{lead}({re.escape(name)}){tail}", self.source.text, re.MULTILINE)
        return None if found is None else Span(self.source, found.start(1), found.end(1))

    # ---- renaming ----------------------------------------------------------------------------

    def renamable(self, offset: int) -> s.Occurrence:
        """Return what can be renamed at a place.

        Raises
        ------
        UsageError
            If the text does not parse, or the place names nothing of one method.
        """
        if not self.current:
            raise UsageError("names can be changed once the recipe parses")
        occurrence = s.at(self.found, offset)
        if occurrence is None or occurrence.symbol.kind not in s.LOCAL:
            raise UsageError("only inputs, parameters, bindings and variables can be renamed")
        return occurrence

    def rename(self, offset: int, name: str) -> list[Span]:
        """Return every place that is to hold the new name.

        Raises
        ------
        UsageError
            If the name is none, or is taken in the same method.
        """
        symbol = self.renamable(offset).symbol
        if not (name.isascii() and name.isidentifier()) or name in RESERVED:
            raise UsageError(f"{name!r} is not a name")
        if name != symbol.name and name in self.names_beside(symbol):
            raise UsageError(f"{name!r} already has a meaning in this method")
        return [o.span for o in self.found if o.symbol is symbol]

    def names_beside(self, symbol: s.Symbol) -> set[str]:
        """Return the names of the method in which a symbol is defined."""
        methods: Iterable[ir.Method] = self.module.methods if self.module else ()
        inside = [m.span for m in methods if _covers(m.span, symbol.span)]
        spans = inside or [Span(self.source, 0, len(self.source.text))]
        local = [o.symbol for o in self.found if o.symbol.kind in s.LOCAL]
        return {x.name for x in local if any(_covers(p, x.span) for p in spans)}

    def word(self, offset: int) -> Span | None:
        """Return the name that stands at a place."""
        text = self.source.text
        start = end = offset
        while start and _is_letter(text[start - 1]):
            start -= 1
        while end < len(text) and _is_letter(text[end]):
            end += 1
        return Span(self.source, start, end) if start < end else None


def _is_letter(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def _covers(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _page(symbol: s.Symbol) -> str:
    body = f"\n\n{_fenced(symbol.doc)}" if symbol.doc else ""
    return f"{_fenced(symbol.about)}{body}"


def _fenced(text: str) -> str:
    """Return a text that Markdown shows as it is, whatever it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"

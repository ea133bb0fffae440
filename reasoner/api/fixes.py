"""Applying the fixes that findings carry: edits are patches on spans, never a re-dump."""

from collections.abc import Sequence
from pathlib import Path

from reasoner.api.recipes import check
from reasoner.errors import Diagnostic, Fix, UsageError


def fixable(findings: Sequence[Diagnostic], file: Path) -> list[Fix]:
    """Return the fixes that belong to a file and do not overlap, in order."""
    fixes = [d.fix for d in findings if d.fix is not None and d.fix.span.source.name == str(file)]
    chosen: list[Fix] = []
    for fix in sorted(set(fixes), key=lambda f: (f.span.start, f.span.end, f.text)):
        if not chosen or fix.span.start >= chosen[-1].span.end:
            chosen.append(fix)
    return chosen


def patched(text: str, fixes: Sequence[Fix]) -> str:
    """Return a text with fixes put in; they are in order and do not overlap."""
    for fix in reversed(fixes):
        text = text[: fix.span.start] + fix.text + text[fix.span.end :]
    return text


def fix_file(file: Path) -> list[Fix]:
    """Apply all fixes of a recipe to its file; return those that were applied.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    fixes = fixable(check(file).findings, file)
    if fixes:
        source = fixes[0].span.source
        try:
            file.write_text(patched(source.text, fixes), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}") from None
    return fixes

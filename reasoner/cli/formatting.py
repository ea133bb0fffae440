"""``fmt`` and ``convert``: another layout or notation, the same recipe."""

import argparse
import sys
from difflib import unified_diff
from pathlib import Path
from typing import Any

from reasoner import api
from reasoner.cli.speak import say
from reasoner.errors import RecipeError, UsageError


def add(commands: Any) -> None:
    """Add the commands."""
    fmt = commands.add_parser("fmt", help="put recipe files into their canonical layout, in place")
    fmt.add_argument("files", nargs="+", metavar="FILE", help="recipe files, or folders of them")
    fmt.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if something would change"
    )
    fmt.add_argument("--diff", action="store_true", help="change nothing; show what would change")
    fmt.set_defaults(run=_fmt)
    convert = commands.add_parser("convert", help="write a recipe in the other notation")
    convert.add_argument("recipe", metavar="FROM", help="a recipe file, or a bundled name")
    convert.add_argument("to", metavar="TO", help="the file to write: .rsn or .yaml")
    convert.add_argument("--force", action="store_true", help="write over a file that is there")
    convert.set_defaults(run=_convert)


def _fmt(args: argparse.Namespace) -> int:
    changed = 0
    findings: list[RecipeError] = []
    files = [file for name in args.files for file in _files(Path(name))]
    for file in files:
        try:
            before, after = api.format_file(file)
        except RecipeError as error:  # the others are still formatted
            findings.append(error)
            continue
        if before == after:
            continue
        changed += 1
        if args.diff:
            sys.stdout.write(_diff(file, before, after))
        if args.check:
            say(f"would format {file}")
        elif not args.diff:
            _write(file, after)
            print(f"formatted {file}")
    for finding in findings:
        say(finding)
    if findings:
        return 2
    return 1 if args.check and changed else 0


def _convert(args: argparse.Namespace) -> int:
    to = Path(args.to)
    if to.exists() and not args.force:
        raise UsageError(f"{to} exists; --force writes over it")
    _write(to, api.convert(args.recipe, to))
    return 0


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(f for f in path.rglob("*") if f.suffix in api.NOTATIONS and f.is_file())
    if not found:
        raise UsageError(f"{path}: the folder holds no {' or '.join(api.NOTATIONS)} file")
    return found


def _diff(file: Path, before: str, after: str) -> str:
    lines = unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        str(file),
        f"{file} (new)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None

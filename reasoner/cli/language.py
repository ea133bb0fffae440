"""``check``, ``ops`` and ``schema``: everything about a recipe before it is compiled."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from reasoner import api
from reasoner.catalog import builtin
from reasoner.cli.speak import say
from reasoner.errors import Diagnostic, Severity, UsageError, did_you_mean


def add(commands: Any) -> None:
    """Add the commands."""
    check = commands.add_parser("check", help="find every mistake of recipes, without running them")
    check.add_argument("recipes", nargs="+", help="recipe files, folders of them, or bundled names")
    check.add_argument("--format", choices=("text", "json"), default="text")
    check.add_argument("--fix", action="store_true", help="write suggestions into the files first")
    check.set_defaults(run=_check)
    ops = commands.add_parser("ops", help="list the operators, or show one")
    ops.add_argument("name", nargs="?")
    ops.add_argument("--json", action="store_true")
    ops.set_defaults(run=_ops)
    schema = commands.add_parser("schema", help="the JSON Schema of the YAML notation")
    schema.set_defaults(run=_schema)


def _check(args: argparse.Namespace) -> int:
    files = [f for name in args.recipes for f in _files(name)]
    findings: list[Diagnostic] = []
    for file in files:
        for fix in api.fix_file(file) if args.fix else ():
            say(f"{fix.span.place}: {fix.message}")
        findings += api.check(file).findings
    if args.format == "json":
        print(json.dumps([d.to_json() for d in findings], indent=1, ensure_ascii=False))
    for finding in findings if args.format == "text" else ():
        print(finding.render(), end="\n\n")
    errors = sum(d.severity is Severity.ERROR for d in findings)
    warnings = len(findings) - errors
    if args.format == "text":
        what = files[0].name if len(files) == 1 else f"{len(files)} files"
        print(f"{what}: {errors} errors, {warnings} warnings" if findings else f"{what}: ok")
    return 2 if errors else 0


def _files(name: str) -> list[Path]:
    path = Path(name)
    if not path.is_dir():
        return [api.find_recipe(name)]
    found = sorted(
        f
        for f in path.rglob("*")
        if f.suffix in api.NOTATIONS and f.is_file() and f.name not in {"kg.yaml", "models.yaml"}
    )
    if not found:
        raise UsageError(f"{name}: the folder holds no {' or '.join(api.NOTATIONS)} file")
    return found


def _ops(args: argparse.Namespace) -> int:
    catalog = builtin()
    if args.name is None:
        if args.json:
            print(json.dumps({n: s.signature for n, s in catalog.items()}, indent=1))
            return 0
        for spec in catalog.values():
            print(f"{spec.name:<12} {spec.doc.splitlines()[0]}")
        return 0
    if args.name not in catalog:
        hint = did_you_mean(args.name, catalog) or f"there are: {', '.join(catalog)}"
        raise UsageError(f"no operator {args.name!r}; {hint}")
    spec = catalog[args.name]
    if args.json:
        print(json.dumps({"signature": spec.signature, "doc": spec.doc}, indent=1))
        return 0
    sys.stdout.write(f"{spec.signature}\n\n{spec.doc}\n")
    return 0


def _schema(args: argparse.Namespace) -> int:
    del args
    from reasoner.api.schema import recipe_schema_text

    sys.stdout.write(recipe_schema_text())
    return 0

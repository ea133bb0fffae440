"""``run`` and ``trace``."""

import argparse
import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reasoner import api
from reasoner.cli.arguments import add_recipe, add_run, limits, model_choice, pairs, positive
from reasoner.cli.memory import settle
from reasoner.cli.speak import say
from reasoner.errors import UsageError, did_you_mean, printable

if TYPE_CHECKING:
    from reasoner.record import AuditRecord, ChainRecord

RUNS = Path(".reasoner/runs")


def add(commands: Any) -> None:
    """Add the commands."""
    run = commands.add_parser("run", help="answer a question with a recipe")
    add_recipe(run)
    run.add_argument("--question", metavar="TEXT", help="the input 'question'")
    run.add_argument("--input", action="append", default=[], metavar="NAME=TEXT", help="any input")
    add_run(run)
    run.add_argument("--runs", default=str(RUNS), metavar="DIR", help="where records are kept (default: .reasoner/runs)")  # fmt: skip
    run.add_argument("--json", action="store_true", help="print the whole record as JSON")
    run.add_argument("--quiet", action="store_true", help="no progress")
    run.set_defaults(run=_run)
    trace = commands.add_parser("trace", help="show what a run did: chains, searches, evidence")
    trace.add_argument(
        "name", nargs="?", metavar="RUN", help="a run's name or folder (default: the last)"
    )
    trace.add_argument("--runs", default=str(RUNS), metavar="DIR")
    trace.add_argument("--json", action="store_true", help="print the record as JSON")
    trace.set_defaults(run=_trace)


def settings_of(args: argparse.Namespace) -> api.RunSettings:
    """Return the settings that the arguments of a run say."""
    default, roles = model_choice(args.model)
    if args.api_base is not None:
        if all(name == "builtin" for name in [default, *roles.values()]):
            raise UsageError("--api-base needs a model: add --model PROVIDER/NAME")
        if not args.api_base.startswith(("http://", "https://")) or len(args.api_base) < 10:
            raise UsageError(
                f"--api-base is a URL such as http://localhost:8000/v1, not {args.api_base!r}"
            )
    models = api.Models(default=default, roles=roles, api_base=args.api_base)
    if args.models:
        models = api.read_models(Path(args.models), models)
    return api.RunSettings(
        graph=args.kg,
        models=models,
        limits=limits(args),
        seed=args.seed,
        call_timeout_s=float(positive(args.timeout, "--timeout")),
        embedder=args.embedder,
    )


def _run(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from reasoner.cli.progress import Progress

    params = pairs(args.set, "--set")
    compiled = api.compile_recipe(args.recipe, variant=args.variant, settings=params)
    inputs = pairs(args.input, "--input")
    if args.question is not None:
        if "question" in inputs:
            raise UsageError("the question is given twice: by --question and by --input")
        inputs["question"] = args.question
    if not args.runs.strip():
        raise UsageError("--runs names a folder")
    api.check_inputs(compiled, inputs)
    settings = replace(settings_of(args), runs=Path(args.runs))
    settle()
    with Progress(quiet=args.quiet or args.json) as progress:
        outcome = asyncio.run(api.run_plan(compiled, inputs, settings, listener=progress.listener))
    record = outcome.record
    if args.json:
        print(record.model_dump_json(indent=1))
    else:
        _print_result(record)
        where = Path(args.runs) / record.run / "record.json"
        seconds = record.budget.seconds
        say(f"{progress.tally.summary}, {seconds:.1f} s; record: {where}")
    if outcome.error is not None:
        raise outcome.error
    return 3 if record.outcome == "partial" else 0


def _print_result(record: "AuditRecord") -> None:
    for note in record.notes:
        say(f"note: {printable(note)}")
    if record.outcome == "failed":
        return
    if record.outcome == "partial":
        print(f"PARTIAL ANSWER ({record.stop_reason})\n")
    print(_lines(record.answer))
    if record.evidence:
        print("\nevidence")
        for row in record.evidence:
            print(f"  [{row.id}] {printable(row.text)}")
    for notice in record.notices:
        if notice.kind == "rejected_citations":
            say(f"\nwarning: {printable(notice.path)}: {printable(notice.text)}")


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def _trace(args: argparse.Namespace) -> int:
    record = _record(args.name, Path(args.runs))
    if args.json:
        print(record.model_dump_json(indent=1))
        return 0
    models = ", ".join(f"{role}: {name}" for role, name in record.models.items())
    print(f"run {record.run}: {record.method} on {record.graph}, {record.outcome}")
    print(f"models {models}")
    for name, text in record.inputs.items():
        print(f"{name}: {printable(text)}")
    for chain in record.chains:
        _print_chain(chain)
    for conflict in record.conflicts:
        kept, dropped = conflict.kept, conflict.dropped
        print(
            f"\nconflict {conflict.rule[0]} / {conflict.rule[1]}: kept [T{kept.triple}] "
            f"{printable(f'{kept.head} {kept.relation} {kept.tail}')} "
            f"({len(kept.support)} triples) over [T{dropped.triple}] "
            f"{printable(f'{dropped.head} {dropped.relation} {dropped.tail}')} "
            f"({len(dropped.support)} triples), by {conflict.decided_by}"
        )
    print(f"\nanswer\n{_lines(record.answer)}")
    for row in record.evidence:
        print(f"  [{row.id}] {printable(row.text)}")
    for notice in record.notices:
        print(f"notice {notice.kind} at {notice.path}: {printable(notice.text)}")
    used = record.budget
    print(f"\n{used.calls} calls, {used.tokens} tokens, ${used.usd:.4f}, {used.seconds:.1f} s")
    return 0


def _print_chain(chain: "ChainRecord") -> None:
    print(f"\n{chain.path} ({chain.status}: {chain.stop_reason})\n  {printable(chain.question)}")
    for search in chain.searches:
        links = [
            f"{x.mention} -> {x.entity or 'nothing'} ({x.method} {x.score:.2f})"
            for x in search.linked
        ]
        cut = f", {search.truncated} left out" if search.truncated else ""
        ids = " ".join(f"T{t}" for t in search.triples[:8])
        more = " ..." if len(search.triples) > 8 else ""
        print(f"  {search.tool} {printable('; '.join(links) or ' '.join(search.args))}")
        print(f"    {search.status}: {len(search.triples)} triples{cut} {ids}{more}")
    if chain.answer:
        print("  " + _lines(chain.answer).replace("\n", "\n  "))


def _record(name: str | None, runs: Path) -> "AuditRecord":
    from pydantic import ValidationError

    from reasoner.record import AuditRecord

    folders = api.run_folders(runs)
    if name is None and not folders:
        raise UsageError(f"{runs}: no run is recorded here yet")
    folder = Path(name) if name and Path(name).is_dir() else None
    if folder is None:
        folder = folders[0] if name is None else runs / name
    file = folder / "record.json"
    if not file.is_file():
        hint = did_you_mean(name or "", [f.name for f in folders])
        raise UsageError(f"no record of a run {name!r} in {runs}; {hint}".rstrip("; "))
    try:
        return AuditRecord.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except (ValidationError, ValueError, OSError):
        raise UsageError(f"{file}: not a record of this version") from None

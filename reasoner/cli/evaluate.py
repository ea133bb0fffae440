"""``eval``: a recipe over questions with gold answers."""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any

from reasoner import api
from reasoner.cli.arguments import add_recipe, add_run, pairs
from reasoner.cli.memory import settle
from reasoner.cli.runs import settings_of
from reasoner.cli.speak import say
from reasoner.errors import UsageError


def add(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser("eval", help="measure a recipe on questions with gold answers")
    add_recipe(parser)
    parser.add_argument("--questions", required=True, metavar="FILE", help='JSON lines: {"question": ..., "gold": ...}')  # fmt: skip
    parser.add_argument("--metric", action="append", metavar="NAME", help="hit@K, named, answered (may be repeated; default: hit@1 hit@5)")  # fmt: skip
    parser.add_argument("--by", metavar="FIELD", help="also report by this field of the lines")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="questions at one time (default: 8)")  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="write scores and records as parquet")
    add_run(parser)
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    parser.set_defaults(run=_eval)


def _eval(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from reasoner.evals.dataset import read_questions
    from reasoner.evals.evaluate import evaluate, save, summarise
    from reasoner.evals.metrics import metric

    metrics = args.metric or ["hit@1", "hit@5"]
    for name in metrics:
        metric(name)  # a misspelt name is said before anything is paid
    if args.concurrency < 1 or (args.limit is not None and args.limit < 1):
        raise UsageError("--concurrency and --limit are whole numbers of at least 1")
    plan = api.compile_recipe(args.recipe, variant=args.variant, settings=pairs(args.set, "--set"))
    rows = read_questions(Path(args.questions), tuple(n for n, _ in plan.inputs))[: args.limit]
    settings = replace(settings_of(args), runs=None)
    settle()
    started = time.monotonic()
    count = 0

    def done(_: object) -> None:
        nonlocal count
        count += 1
        if count % 20 == 0 or count == len(rows):
            seconds = time.monotonic() - started
            left = seconds / count * (len(rows) - count)
            say(f"{count}/{len(rows)} questions, {seconds:.0f} s, {left:.0f} s left")

    results = asyncio.run(
        evaluate(plan, rows, metrics, settings, concurrency=args.concurrency, done=done)
    )
    table = summarise(results, metrics, args.by)
    if args.out:
        save(results, Path(args.out))
    if args.json:
        shown = {
            g: {m: {"mean": c.mean, "low": c.low, "high": c.high, "n": c.n} for m, c in row.items()}
            for g, row in table.items()
        }
        print(json.dumps(shown, indent=1))
        return 0
    print(f"{'':<14}{'n':>6}" + "".join(f"{m:>24}" for m in metrics))
    for group, row in table.items():
        cells = "".join(
            f"{f'{c.mean:.3f} [{c.low:.3f}, {c.high:.3f}]' if c.n else '-':>24}"
            for c in row.values()
        )
        print(f"{group:<14}{max(c.n for c in row.values()):>6}{cells}")
    failed = sum(r.record.outcome == "failed" for r in results)
    calls = sum(r.record.budget.calls for r in results)
    print(f"{calls:,} model calls, {failed} failed runs, {time.monotonic() - started:.0f} s")
    return 0

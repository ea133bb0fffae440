"""``plan`` and ``plan-diff``: what a recipe compiles to, as text, prices, pictures and differences."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reasoner import api
from reasoner.catalog import builtin
from reasoner.cli.arguments import add_recipe, pairs
from reasoner.errors import UsageError

if TYPE_CHECKING:
    from reasoner.compiler.cost import Cost, Line

_DRAWINGS = ("mermaid", "svg")


def add(commands: Any) -> None:
    """Add the commands."""
    plan = commands.add_parser(
        "plan", help="show what a recipe compiles to, and what it costs at most"
    )
    add_recipe(plan)
    plan.add_argument("others", nargs="*", help=argparse.SUPPRESS)  # for 'plan diff A B'
    plan.add_argument(
        "--cost", action="store_true", help="bounds of calls, searches and embeddings"
    )
    plan.add_argument("--explain", action="store_true", help="which rewrites changed the plan")
    _add_rewrites(plan)
    plan.add_argument(
        "--graph", choices=_DRAWINGS, help="draw the plan: Mermaid text, or an SVG picture"
    )
    plan.add_argument("--json", action="store_true", help="the plan as canonical JSON")
    plan.set_defaults(run=_plan)
    diff = commands.add_parser(
        "plan-diff", help="what differs between two plans (exit code 1 if anything does)"
    )
    diff.add_argument("old", metavar="A", help="a recipe, or RECIPE:VARIANT")
    diff.add_argument("new", metavar="B", help="a recipe, or RECIPE:VARIANT")
    _add_rewrites(diff)
    diff.add_argument("--json", action="store_true")
    diff.set_defaults(run=lambda args: _diff(args, args.old, args.new))


def _add_rewrites(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-rewrite",
        action="append",
        default=[],
        metavar="NAME",
        help="leave a rewrite out: merge_equal, hoist_invariant, drop_dead (repeatable)",
    )


# ---- plan ----------------------------------------------------------------------------------


def _plan(args: argparse.Namespace) -> int:
    if args.others:
        if args.recipe == "diff" and len(args.others) == 2:
            return _diff(args, *args.others)
        raise UsageError("plan shows one recipe; to compare two: reasoner plan-diff A B")
    from reasoner.compiler.cost import price
    from reasoner.compiler.explain import explain

    compiled, notes = api.compile_explained(
        args.recipe,
        variant=args.variant,
        settings=pairs(args.set, "--set"),
        without=args.no_rewrite,
    )
    if args.graph is not None:
        print(_drawn(compiled, args.graph), end="")
        return 0
    total, lines = price(compiled, builtin())
    if args.json:
        document = json.loads(compiled.canonical())
        if args.cost or args.explain:
            document = {"hash": compiled.hash}
        if args.cost:
            document |= _cost_json(total, lines)
        if args.explain:
            document |= {"rewrites": notes, "left_out": sorted(set(args.no_rewrite))}
        print(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False))
        return 0
    print(explain(compiled))
    if args.explain:
        print("\n" + "\n".join(_rewrites(notes, args.no_rewrite)))
    if args.cost:
        print("\n" + "\n".join(_cost_table(total, lines)))
    else:
        print(f"\nat most {total.calls} model calls and {total.searches} searches; see --cost")
    return 0


def _drawn(plan: Any, kind: str) -> str:
    if kind == "svg":
        from reasoner.drawing.svg import svg

        return svg(plan)
    from reasoner.drawing.mermaid import mermaid

    return mermaid(plan)


def _rewrites(notes: Sequence[str], without: Sequence[str]) -> list[str]:
    """Return a line for each rewrite: what it changed, nothing, or that it was left out."""
    from reasoner.compiler.simplify import REWRITES

    lines = ["rewrites"]
    for name, rewrite in REWRITES.items():
        about = (rewrite.__doc__ or "").split("\n")[0].rstrip(".")
        done = [n.removeprefix(f"{name}: ") for n in notes if n.startswith(f"{name}: ")]
        state = "left out" if name in without else f"{len(done)} changes" if done else "no change"
        lines.append(f"  {name} ({about[:1].lower()}{about[1:]}): {state}")
        lines += [f"    {line}" for line in done]
    return lines


def _cost_json(total: "Cost", lines: Sequence["Line"]) -> dict[str, Any]:
    return {
        "calls": total.calls,
        "searches": total.searches,
        "embeddings": total.embeddings,
        "steps": [
            {
                "step": x.step,
                "times": x.times,
                "calls": x.cost.calls,
                "searches": x.cost.searches,
                "embeddings": x.cost.embeddings,
                "formula": x.formula,
            }
            for x in lines
        ],
    }


def _cost_table(total: "Cost", lines: Sequence["Line"]) -> list[str]:
    """Return a table whose columns are as wide as what stands in them."""
    rows: list[tuple[str, ...]] = [
        ("at most", "times", "calls", "searches", "embeddings", "calls are")
    ]
    path: list[str] = []
    for x in lines:
        path[x.depth :] = [x.step]
        above = f"{path[-2]}." if x.depth else ""
        name = "  " * x.depth + x.step.removeprefix(above)
        cost = (x.cost.calls, x.cost.searches, x.cost.embeddings)
        rows.append((name, str(x.times), *map(str, cost), x.formula))
    last = (total.calls, total.searches, total.embeddings)
    rows.append(("in all", "", *map(str, last), "retries of failed calls come on top"))
    widths = [max(len(row[n]) for row in rows) for n in range(5)]
    found = []
    for name, *numbers, formula in rows:
        cells = [n.rjust(w) for n, w in zip(numbers, widths[1:], strict=True)]
        found.append("  ".join([name.ljust(widths[0]), *cells, formula]).rstrip())
    return found


# ---- plan-diff -----------------------------------------------------------------------------


def _diff(args: argparse.Namespace, old: str, new: str) -> int:
    from reasoner.compiler.difference import difference, report

    sides = [_side(name, args.no_rewrite) for name in (old, new)]
    (before, was), (after, now) = sides
    found = difference(before, after, (was, now))
    if args.json:
        document = {**asdict(found), "old": before.hash, "new": after.hash}
        print(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False))
    else:
        print(report(found, f"{old} ({before.hash[:16]})", f"{new} ({after.hash[:16]})"))
    return 0 if found.equal else 1


def _side(name: str, without: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """Return the plan of ``RECIPE`` or ``RECIPE:VARIANT``, and its parameters."""
    recipe, colon, variant = name.rpartition(":")
    if not colon or not variant.isidentifier():
        recipe, variant = name, ""
    chosen = variant or None
    plan, _ = api.compile_explained(recipe, variant=chosen, without=without)
    return plan, api.parameters(recipe, chosen)

"""``kg``: building, importing and asking graphs."""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from reasoner import api
from reasoner.cli.speak import say
from reasoner.errors import UsageError, printable
from reasoner.values import Evidence, Linked


def add(commands: Any) -> None:
    """Add the commands."""
    from reasoner.cli.arguments import Parser

    kg = commands.add_parser("kg", help="build, import and ask knowledge graphs")
    kg.set_defaults(run=lambda _: kg.print_help() or 2)
    parts = kg.add_subparsers(metavar="COMMAND", parser_class=Parser)
    build = _command(parts, "build", "compile a graph and embed its names", _build)
    build.add_argument("--embedder", metavar="NAME")
    _command(parts, "info", "counts, relations with examples, components", _info)
    link = _command(parts, "link", "link mentions to entities", _link)
    link.add_argument("mentions", nargs="+")
    link.add_argument("--tau", type=float, default=0.7)
    near = _command(parts, "neighbors", "the triples at an entity", _neighbors)
    near.add_argument("entity")
    near.add_argument("--per-relation", type=int, default=10)
    near.add_argument("--relation", action="append", help="only this relation (may be repeated)")
    paths = _command(parts, "paths", "paths between two entities", _paths)
    paths.add_argument("source")
    paths.add_argument("target")
    paths.add_argument("--max-hops", type=int, default=3)
    paths.add_argument("--limit", type=int, default=5)
    for parser in (near, paths):
        parser.add_argument("--direction", choices=("out", "in", "any"), default="out")
    load = parts.add_parser(
        "import", help="make a graph folder from TSV, CSV, parquet or JSON lines"
    )
    load.add_argument("file")
    load.add_argument("--out", required=True, metavar="DIR", help="the folder to make")
    load.add_argument(
        "--columns",
        metavar="H,R,T",
        help="the columns of head, relation and tail, by name or number",
    )
    load.set_defaults(run=_import)


def _command(parts: Any, name: str, words: str, run: Any) -> Any:
    parser = parts.add_parser(name, help=words)
    parser.add_argument("kg", help="a folder, a file of triples, or a bundled name")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run)
    return parser


def _build(args: argparse.Namespace) -> int:
    context = api.open_context(args.kg, args.embedder)
    store = context.graph.store  # type: ignore[attr-defined]
    say(
        f"{store.name}: {len(store.names):,} entities, {store.triples.height:,} triples; "
        f"embedding names with {context.embedder.id}"
    )
    asyncio.run(context.linker.nearest(store.names[0], 1))
    print(json.dumps({"folder": str(store.folder)}) if args.json else f"compiled: {store.folder}")
    return 0


def _info(args: argparse.Namespace) -> int:
    from reasoner.kg.info import describe

    found = describe(api.open_graph(args.kg))
    if args.json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    print(
        f"{found['name']}: {found['entities']:,} entities, {found['triples']:,} triples, "
        f"{len(found['relations'])} relations"
    )
    print(f"fingerprint {found['fingerprint'][:16]}, compiled {found['folder']}")
    dropped = found["dropped"]
    print(
        f"left out: {dropped['duplicate']} repeated triples, {dropped['empty_cell']} rows with an empty cell"
    )
    degree = found["degree"]
    print(
        f"degree: median {degree['median']:g}, most {degree['most']:,} ({printable(degree['hub'])})"
    )
    if found["components"] is None:
        print("components: not counted (graph-tool is not installed)")
    else:
        print(
            f"components: {found['components']:,}, the largest with {found['largest']:,} entities"
        )
    print(f"\n{'relation':<24}{'triples':>9}  {'inverse':<22}example")
    for row in found["relations"]:
        inverse = row["inverse"] or "-"
        print(f"{row['name']:<24}{row['triples']:>9,}  {inverse:<22}{printable(row['example'])}")
    for warning in found["warnings"]:
        say(f"warning: {warning}")
    return 0


def _link(args: argparse.Namespace) -> int:
    if not 0 <= args.tau <= 1:
        raise UsageError(f"--tau lies between 0 and 1, not {args.tau}")
    context = api.open_context(args.kg, None)
    found = asyncio.run(context.linker.link(args.mentions, tau=args.tau, sim="cosine"))
    if args.json:
        print(json.dumps([_link_json(x) for x in found], indent=1, ensure_ascii=False))
        return 0
    for x in found:
        near = f" (nearest: {x.nearest})" if x.entity is None and x.nearest else ""
        name = x.entity.name if x.entity else "nothing"
        print(printable(f"{x.mention} -> {name}  {x.method} {x.score:.3f}{near}"))
    return 0 if all(x.entity for x in found) else 1


def _link_json(x: Linked) -> dict[str, object]:
    entity = x.entity.name if x.entity else None
    return {"mention": x.mention, "entity": entity, "score": x.score, "method": str(x.method)}


def _entity(context: Any, name: str) -> Linked:
    (found,) = asyncio.run(context.linker.link([name], tau=0.7, sim="cosine"))
    if found.entity is None:
        near = f"; the nearest name is {found.nearest!r}" if found.nearest else ""
        raise UsageError(f"no entity matches {name!r}{near}")
    if found.entity.name != name:
        say(printable(f"{name} -> {found.entity.name} ({found.method})"))
    return found  # type: ignore[no-any-return]


def _neighbors(args: argparse.Namespace) -> int:
    from reasoner.operators.neighbors import neighbors

    context = api.open_context(args.kg, None)
    found = asyncio.run(
        neighbors(
            context,
            _entity(context, args.entity),
            per_relation=_at_least_one(args.per_relation, "--per-relation"),
            direction=args.direction,
            relations=args.relation,
        )
    )
    return _print_evidence(args, context, found)


def _paths(args: argparse.Namespace) -> int:
    from reasoner.operators.paths import paths

    context = api.open_context(args.kg, None)
    found = asyncio.run(
        paths(
            context,
            _entity(context, args.source),
            _entity(context, args.target),
            max_hops=_at_least_one(args.max_hops, "--max-hops"),
            limit=_at_least_one(args.limit, "--limit"),
            direction=args.direction,
        )
    )
    return _print_evidence(args, context, found)


def _at_least_one(number: int, what: str) -> int:
    if number < 1:
        raise UsageError(f"{what} is a whole number of at least 1, not {number}")
    return number


def _print_evidence(args: argparse.Namespace, context: Any, found: Evidence) -> int:
    graph = context.graph
    if args.json:
        rows = [
            {"id": f"T{t}", "text": graph.sentence(t), "relation": graph.fact(t).relation}
            for t in found.triples
        ]
        document = {"triples": rows, "paths": found.paths, "truncated": found.truncated}
        print(json.dumps(document, indent=1, ensure_ascii=False))
        return 0
    if found.paths:
        for path in found.paths:
            print(printable("; ".join(f"[T{t}] {graph.sentence(t)}" for t in path)))
    else:
        for triple in found.triples:
            print(printable(f"[T{triple}] {graph.sentence(triple)}"))
    if found.empty:
        say("nothing found")
    if found.truncated:
        more = f"{found.truncated} more" if not found.paths else "more paths"
        say(f"({more} beyond the limit)")
    return 0


def _import(args: argparse.Namespace) -> int:
    from reasoner.kg.imports import import_triples

    report = import_triples(Path(args.file), Path(args.out), args.columns)
    print(f"{args.out}: {report.kept:,} triples")
    for reason, count in report.dropped.items():
        if count:
            say(f"left out: {count:,} {reason}")
    return 0

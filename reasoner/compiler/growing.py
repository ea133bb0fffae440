"""The forms that grow thoughts, matrix and frontier: their sizes, options and parts."""

from collections.abc import Mapping, Sequence

from reasoner import ir
from reasoner.compiler import scope as s
from reasoner.compiler import weights
from reasoner.compiler.forms import (
    FRONTIER_OPTIONS,
    FRONTIER_PARTS,
    FRONTIER_VALUES,
    MATRIX_OPTIONS,
    MATRIX_PARTS,
    SCOPES,
    SELECTS,
    Walk,
    count,
    over,
    part,
    unfit,
    value_of,
)
from reasoner.compiler.program import twice
from reasoner.errors import unknown
from reasoner.source import Span
from reasoner.types import NUMBER, TEXT, UNKNOWN, Type, assignable, list_of


def matrix(walk: Walk, node: ir.Matrix, scope: s.Scope) -> s.Value:
    """Check a matrix of thought: its size, its weights, and its parts by name."""
    given = options(walk, node.options, MATRIX_OPTIONS, node.span, ("rows", "columns"))
    sizes = [
        count(walk, walk.expr(given[name].value, scope), given[name].value.span, name)
        for name in ("rows", "columns")
        if name in given
    ]
    inside = ir.walk(given["weights"]) if "weights" in given else ()
    read = [walk.expr(n, scope).type != UNKNOWN for n in inside if isinstance(n, ir.Name)]
    if "weights" in given and all(read) and len(sizes) == 2 and sizes[0] and sizes[1]:
        try:
            weights.table(given["weights"].value, constants(scope), sizes[0], sizes[1])
        except weights.WeightsError as error:
            walk.found.append(error.finding)
    parts = named_parts(walk, node.parts, MATRIX_PARTS, node.span, ("cell", "summary"))
    shared = UNKNOWN
    if "column" in parts:
        value = part(walk, parts["column"], MATRIX_PARTS["column"], scope)
        shared = value.type if value is not None else UNKNOWN
    for name in ("cell", "summary"):
        if name not in parts:
            continue
        if "shared" in parts[name].params and "column" not in parts:
            walk.report(
                "R315", f"{name} asks for 'shared', but there is no 'column(...)' part to make it",
                parts[name].span,
            )  # fmt: skip
        value = part(walk, parts[name], {**MATRIX_PARTS[name], "shared": shared}, scope)
        if value is not None and not assignable(value.type, TEXT):
            where = value_of(parts[name].body).span
            walk.mismatch("R301", f"{name} gives", value, TEXT, where)
    return s.Value(type=TEXT, span=node.span)


def frontier(walk: Walk, node: ir.Frontier, scope: s.Scope) -> s.Value:
    """Check a scored queue: its bounds and its parts."""
    items, _ = over(walk, "'frontier'", node.items, None, scope)
    given = options(walk, node.options, FRONTIER_OPTIONS, node.span, ("best", "depth"))
    size = 1
    for name in ("best", "depth", "grown", "seed"):
        if name in given:
            low = 0 if name == "seed" else 1
            place = given[name].value
            most = count(walk, walk.expr(place, scope), place.span, name, low)
            size *= (most or 0) if name in {"best", "depth"} else 1
    for name, known in (("scope", SCOPES), ("select", SELECTS)):
        if name in given:
            chosen = walk.expr(given[name].value, scope)
            choice(walk, name, chosen, known, given[name].value.span)
    for name, what, fits in FRONTIER_VALUES:
        if name in given:
            option = walk.expr(given[name].value, scope)
            if option.constant is None or not fits(option.constant.value):
                unfit(walk, option, given[name].value.span, f"{name} is {what}")
    parts = named_parts(
        walk, node.parts, dict.fromkeys(FRONTIER_PARTS, None), node.span, ("visit",)
    )
    visited = UNKNOWN
    for name in FRONTIER_PARTS:
        if name not in parts:
            continue
        handler = parts[name]
        if len(handler.params) != 1:
            walk.report("R304", f"{name} takes one name, not {len(handler.params)}", handler.span)
        kind = list_of(visited) if name == "grow" else items.type.item
        value = part(walk, handler, dict.fromkeys(handler.params, kind), scope)
        wanted = {"score": NUMBER, "grow": items.type}.get(name, UNKNOWN)
        if value is not None and not assignable(value.type, wanted):
            walk.mismatch("R301", f"{name} gives", value, wanted, value_of(handler.body).span)
        if name == "visit" and value is not None:
            visited = value.type
        if name == "grow" and value is not None and value.size is None and "grown" not in given:
            walk.report(
                "R309", "what 'grow' gives has no bound, so the run has no price",
                value_of(handler.body).span,
                "add 'grown: n' to the frontier, or a 'limit:' to the producer",
            )  # fmt: skip
    return s.Value(type=list_of(visited), span=node.span, size=size or None)


def named_parts(
    walk: Walk,
    given: Sequence[ir.Handler],
    known: Mapping[str, Mapping[str, Type] | None],
    span: Span,
    needed: Sequence[str],
) -> dict[str, ir.Handler]:
    """Return the parts of a form by name; report unknown, repeated and missing ones."""
    found: dict[str, ir.Handler] = {}
    meant: set[str] = set()
    for handler in given:
        if handler.tool not in known:
            wrong = unknown("part", handler.tool, known, handler.span, "R217")
            walk.found.append(wrong)
            meant |= {wrong.fix.text} if wrong.fix else set()
        elif handler.tool in found:
            walk.found.append(twice("part", handler.tool, handler.span, found[handler.tool].span))
        else:
            found[handler.tool] = handler
            names = known[handler.tool]
            for name, place in zip(handler.params, handler.param_spans, strict=True):
                if names is not None and name not in names:
                    what = f"value that {handler.tool} can ask for"
                    walk.found.append(unknown(what, name, names, place, "R217"))
    for name in needed:
        if name not in found and name not in meant:
            walk.report("R316", f"the part '{name}(...)' is missing", span)
    return found


def options(
    walk: Walk,
    given: Sequence[ir.Argument],
    known: Sequence[str],
    span: Span,
    needed: Sequence[str],
) -> dict[str, ir.Argument]:
    """Return the options of a form by name; report unknown, repeated and missing ones."""
    found: dict[str, ir.Argument] = {}
    meant: set[str] = set()
    for option in given:
        where = option.name_span or option.span
        name = option.name or ""
        if name in {*MATRIX_PARTS, *FRONTIER_PARTS}:
            walk.report(
                "R216", f"the part {name!r} is written '{name}(...)', with its names", where
            )
        elif name not in known:
            wrong = unknown("option", name, known, where, "R216")
            walk.found.append(wrong)
            meant |= {wrong.fix.text} if wrong.fix else set()
        elif name in found:
            walk.found.append(twice("option", name, where, found[name].span))
        else:
            found[name] = option
    for name in needed:
        if name not in found and name not in meant:
            walk.report("R309", f"the bound '{name}' is missing, so the run has no price", span,
                        f"add '{name}'")  # fmt: skip
    return found


def constants(scope: s.Scope | None) -> dict[str, ir.Literal]:
    """Return the names that stand for literals here, such as parameters."""
    if scope is None:
        return {}
    here = {n: v.constant for n, v in scope.names.items() if v.constant is not None}
    return constants(scope.outer) | here


def choice(walk: Walk, what: str, value: s.Value, known: Sequence[str], span: Span) -> None:
    """Check a word that is one of a few and known before the run."""
    literal = value.constant.value if value.constant else None
    if isinstance(literal, str):
        if literal not in known:
            walk.found.append(unknown(what, literal, known, span, "R308"))
    else:
        words = ", ".join(f'"{word}"' for word in known)
        unfit(walk, value, span, f"{what} is one of {words}", "R308")

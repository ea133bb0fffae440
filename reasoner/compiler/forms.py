"""The forms of the language: what each needs of its parts, and the type of its value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Protocol

from reasoner import ir
from reasoner.compiler import scope as s
from reasoner.compiler.program import twice
from reasoner.errors import Diagnostic, Related, unknown
from reasoner.source import Span
from reasoner.types import (
    BOOL,
    CHAIN,
    EVIDENCE,
    NOTHING,
    NUMBER,
    TEXT,
    UNKNOWN,
    Type,
    assignable,
    join_types,
    list_of,
)  # fmt: skip

#: Settings of a model call, given after the role: ``by role(temperature: 0.2)``.
CALL_SETTINGS = ("temperature", "top_p", "max_tokens", "retries")
DIALOG_OPTIONS = ("searches", "turns", *CALL_SETTINGS)
LIMITS = ("calls", "tokens", "usd", "seconds")
POLICIES = ("fail", "skip", "default", "quorum")
#: Policies that are written with a value: ``default(v)``.
VALUED_POLICIES = ("default", "quorum")
LIMIT_POLICIES = ("return", "fail", "default")
MATRIX_OPTIONS = ("rows", "columns", "weights")
MATRIX_PARTS = {
    "column": {"previous": TEXT},
    "cell": {"shared": UNKNOWN, "above": TEXT, "row": NUMBER, "column": NUMBER},
    "summary": {"previous": TEXT, "cells": list_of(TEXT), "shared": UNKNOWN},
}
FRONTIER_OPTIONS = ("best", "depth", "grown", "novelty", "scope", "select", "seed", "drain")
FRONTIER_PARTS = ("score", "visit", "grow")
SCOPES = ("global", "level")
SELECTS = ("best", "all", "sample", "ucb")
FRONTIER_VALUES: tuple[tuple[str, str, Callable[[object], bool]], ...] = (
    ("novelty", "a number from 0 to 1", lambda v: isinstance(v, Decimal) and 0 <= v <= 1),
    ("drain", "true or false", lambda v: isinstance(v, bool)),
)
#: Largest bound that a form accepts: more is a mistake or an attack.
MOST = 1_000_000


class Walk(Protocol):
    """The part of the checker that forms use."""

    found: list[Diagnostic]

    def report(
        self, code: str, message: str, span: Span, hint: str = "", *related: Related
    ) -> None:
        """Add a finding."""
        ...

    def mismatch(
        self, code: str, what: str, value: s.Value, wanted: Type, span: Span, *related: Related
    ) -> None:
        """Report a type that does not fit."""
        ...

    def expr(self, node: ir.Expr, scope: s.Scope) -> s.Value:
        """Check an expression."""
        ...

    def block(self, block: ir.Block, outer: s.Scope) -> s.Value | None:
        """Check a block."""
        ...

    def define(self, scope: s.Scope, name: str, value: s.Value, kind: str) -> None:
        """Give a name its meaning."""
        ...

    def unused(self, scope: s.Scope, names: Iterable[str], kind: str) -> None:
        """Warn of names that nothing refers to."""
        ...

    def prompted(self, call: ir.Call, scope: s.Scope) -> tuple[s.Value, int | None]:
        """Check the prompt of a model call."""
        ...


# ---- asking --------------------------------------------------------------------------------


def value_of(block: ir.Block) -> ir.Expr | ir.Block:
    """Return the expression that is the value of a block, or the block if it has none."""
    values = [s.value for s in block.body if isinstance(s, ir.Return)]
    return values[-1] if values else block


def ask(walk: Walk, node: ir.Ask, scope: s.Scope) -> s.Value:
    """Check a model call."""
    settings(walk, node.options, CALL_SETTINGS, scope)
    value, limit = walk.prompted(node.call, scope)
    return s.Value(type=value.type, span=node.span, size=limit)


def dialog(walk: Walk, node: ir.Dialog, scope: s.Scope) -> s.Value:
    """Check a search-in-decode loop."""
    names = settings(walk, node.options, DIALOG_OPTIONS, scope)
    value, _ = walk.prompted(node.call, scope)
    if not assignable(value.type, CHAIN):
        walk.mismatch("R301", "the prompt of a dialog returns", value, CHAIN, node.call.span)
    if "searches" not in names:
        walk.report(
            "R309", "this dialog has no bound on its searches", node.call.name_span,
            "add 'searches: n'",
        )  # fmt: skip
    if not node.handlers:
        walk.report("R310", "a dialog needs at least one 'on tool(...)'", node.span)
    seen: dict[tuple[str, int], Span] = {}
    for handler in node.handlers:
        key = (handler.tool, len(handler.params))
        if key in seen:
            shown = f"{handler.tool}({', '.join(handler.params)})"
            walk.found.append(twice("handler", shown, handler.span, seen[key]))
        seen[key] = handler.span
        result = part(walk, handler, dict.fromkeys(handler.params, TEXT), scope)
        if result is not None and not assignable(result.type, EVIDENCE):
            where = value_of(handler.body).span
            walk.mismatch("R301", "a handler gives back", result, EVIDENCE, where)
    return s.Value(type=CHAIN, span=node.span)


def part(
    walk: Walk, node: ir.Handler, params: Mapping[str, Type], scope: s.Scope
) -> s.Value | None:
    """Check a block that a form runs with variables of its own."""
    inner = s.Scope(outer=scope)
    for name, span in zip(node.params, node.param_spans, strict=True):
        kind = params.get(name, UNKNOWN)
        walk.define(inner, name, s.Value(type=kind, span=span), "argument")
    result = walk.block(node.body, inner)
    walk.unused(inner, node.params, "argument")
    return result


# ---- repeating -----------------------------------------------------------------------------


def each(walk: Walk, node: ir.Each, scope: s.Scope) -> s.Value:
    """Check a parallel map; its length must be bounded."""
    items, size = over(walk, "'each'", node.items, node.limit, scope)
    inner = s.Scope(outer=scope)
    walk.define(inner, node.var, s.Value(type=items.type.item, span=node.var_span), "variable")
    value = walk.block(node.body, inner)
    body = value or s.broken(node.body.span)
    if value is not None:
        walk.unused(inner, [node.var], "variable")
    on_error(walk, node.on_error, body, scope)
    return s.Value(type=list_of(body.type), span=node.span, size=size)


def over(
    walk: Walk, what: str, node: ir.Expr, limit: ir.Expr | None, scope: s.Scope
) -> tuple[s.Value, int | None]:
    """Check the list that a form goes over; return it with its bound."""
    items = walk.expr(node, scope)
    if items.type.name not in {"List", UNKNOWN.name}:
        walk.mismatch("R303", f"{what} goes over", items, list_of(Type("T")), node.span)
        return s.broken(node.span), 0
    size = items.size
    if limit is not None:
        most = count(walk, walk.expr(limit, scope), limit.span, "limit") or 0  # reported: bounded
        size = most if size is None else min(most, size)
    if size is None and items.type != UNKNOWN:
        made = Related("the list is made here", items.span)
        how = "write 'up to n'" if what == "'each'" else "cut it: each x in xs up to n { x }"
        walk.report(
            "R309", f"this {what} has no bound, so the run has no price", node.span,
            f"{how}, or give its producer a 'limit:'", made,
        )  # fmt: skip
    return items, size


def on_error(walk: Walk, node: ir.OnError | None, body: s.Value, scope: s.Scope) -> None:
    """Check what a failed item does."""
    if node is None or not policy(walk, node, POLICIES, "on_error"):
        return
    if node.value is None:
        return
    value = walk.expr(node.value, scope)
    if node.policy == "quorum":
        count(walk, value, node.value.span, "quorum")
    elif not assignable(value.type, body.type):
        walk.mismatch("R301", "the default is", value, body.type, node.value.span)


def policy(walk: Walk, node: ir.OnError, known: Sequence[str], what: str) -> bool:
    """Check the word of a policy and whether it has a value."""
    if node.policy not in known:
        walk.found.append(unknown(f"{what} policy", node.policy, known, node.span, "R214"))
        return False
    wants = node.policy in VALUED_POLICIES
    if wants != (node.value is not None):
        how = f"{node.policy}(value)" if wants else node.policy
        walk.report("R214", f"the policy is written '{how}'", node.span)
        return False
    return True


def loop(walk: Walk, node: ir.Loop, scope: s.Scope) -> s.Value:
    """Check rounds with a state: the block gives the next state, of the same type."""
    init = walk.expr(node.init, scope)
    count(walk, walk.expr(node.limit, scope), node.limit.span, "'up to'")
    inner = s.Scope(outer=scope)
    state = s.Value(type=init.type, span=node.var_span)
    walk.define(inner, node.var, state, "state")
    body = walk.block(node.body, inner) or s.broken(node.body.span)
    kind = next_state(walk, init, body, node.var, value_of(node.body).span)
    if node.until is not None:
        cond = walk.expr(node.until, inner)
        boolean(walk, cond, node.until.span, "'until'")
    walk.unused(inner, [node.var], "state")
    if node.on_limit is not None and policy(walk, node.on_limit, LIMIT_POLICIES, "on_limit"):
        if node.until is None:
            walk.report(
                "R312", "'on_limit' says nothing without 'until': the loop always ends at its limit",
                node.on_limit.span,
            )  # fmt: skip
        if node.on_limit.value is not None:
            value = walk.expr(node.on_limit.value, scope)
            if not assignable(value.type, kind):
                walk.mismatch("R301", "the default is", value, kind, node.on_limit.value.span)
    return s.Value(type=kind, span=node.span)


def next_state(walk: Walk, init: s.Value, body: s.Value, name: str, where: Span) -> Type:
    """Return the type of a state; what a round gives has to fit where it came from."""
    if not assignable(body.type, init.type):
        first = Related("the state begins here", init.span)
        walk.mismatch("R301", f"the block gives the next {name!r},", body, init.type, where, first)
        return init.type
    return known(init.type, body.type)


def known(one: Type, other: Type) -> Type:
    """Return the one of two types that fit each other that says more: ``[]`` says little."""
    return min(one, other, key=lambda kind: str(kind).count(UNKNOWN.name))


def fold(walk: Walk, node: ir.Fold, scope: s.Scope) -> s.Value:
    """Check a sequential accumulation."""
    items, _ = over(walk, "'fold'", node.items, None, scope)
    init = walk.expr(node.init, scope)
    inner = s.Scope(outer=scope)
    walk.define(inner, node.var, s.Value(type=items.type.item, span=node.var_span), "variable")
    walk.define(inner, node.state, s.Value(type=init.type, span=node.state_span), "state")
    body = walk.block(node.body, inner) or s.broken(node.body.span)
    walk.unused(inner, [node.var, node.state], "variable")
    where = value_of(node.body).span
    return s.Value(type=next_state(walk, init, body, node.state, where), span=node.span)


# ---- choosing ------------------------------------------------------------------------------


def if_(walk: Walk, node: ir.If, scope: s.Scope) -> s.Value:
    """Check a branch: both sides have one type."""
    boolean(walk, walk.expr(node.cond, scope), node.cond.span, "'if'")
    then = walk.block(node.then, scope) or s.broken(node.then.span)
    if node.otherwise is None:
        kind = then.type if then.type.name == "Optional" else Type("Optional", (then.type,))
        return s.Value(type=kind, span=node.span, size=then.size)
    other = walk.block(node.otherwise, scope) or s.broken(node.otherwise.span)
    places = [value_of(b).span for b in (node.then, node.otherwise)]
    return one_of(walk, [then, other], node.span, "the branches of an 'if'", places)


def one_of(
    walk: Walk, values: Sequence[s.Value], span: Span, what: str, places: Sequence[Span]
) -> s.Value:
    """Return the value of one of several, at their ``places``; they have to have one type."""
    kind = UNKNOWN
    for value, place in zip(values, places, strict=True):
        joined = value.type if kind == UNKNOWN else join_types(value.type, kind)
        if joined is not None and assignable(value.type, kind) and assignable(kind, value.type):
            joined = known(kind, value.type)
        if joined is None and NOTHING in (value.type, kind):
            joined = Type("Optional", (kind if value.type == NOTHING else value.type,))
        if joined is None:
            first = Related("the first has another type", places[0])
            walk.mismatch("R301", f"{what} have one type; this is", value, kind, place, first)
        else:
            kind = joined
    sizes = [v.size for v in values]
    size = None if None in sizes else max((x for x in sizes if x is not None), default=None)
    return s.Value(type=kind, span=span, size=size)


def first(walk: Walk, node: ir.First, scope: s.Scope) -> s.Value:
    """Check alternatives: one type, and a condition on the value."""
    if not node.alternatives:
        walk.report("R313", "'first of' needs at least one alternative", node.span)
        return s.broken(node.span)
    values = [walk.block(b, scope) or s.broken(b.span) for b in node.alternatives]
    if node.accept is None:  # none is empty, so only the last alternative can give it
        values = [*map(present, values[:-1]), values[-1]]
    places = [value_of(b).span for b in node.alternatives]
    value = one_of(walk, values, node.span, "the alternatives", places)
    if node.accept is not None and node.var is None:
        walk.report(
            "R314", "'accept' speaks of the value of an alternative, which has no name",
            node.accept.span, "write 'first x of { ... } accept ...'",
        )  # fmt: skip
    elif node.accept is not None and node.var is not None:
        inner = s.Scope(outer=scope)
        walk.define(inner, node.var, s.Value(type=value.type, span=node.span), "variable")
        boolean(walk, walk.expr(node.accept, inner), node.accept.span, "'accept'")
        walk.unused(inner, [node.var], "variable")
    return value


def present(value: s.Value) -> s.Value:
    """Return what is known of a value that is not none."""
    return replace(value, type=value.type.args[0]) if value.type.name == "Optional" else value


# ---- numbers and settings ------------------------------------------------------------------


def settings(
    walk: Walk, given: Sequence[ir.Argument], known: Sequence[str], scope: s.Scope
) -> set[str]:
    """Check the settings of a model call; return the names that are set, or meant to be."""
    seen: dict[str, Span] = {}
    meant: set[str] = set()
    for option in given:
        value = walk.expr(option.value, scope)
        where = option.name_span or option.span
        if option.name is None:
            walk.report("R304", "a setting is written 'name: value'", option.span)
            continue
        if option.name not in known:
            found = unknown("setting", option.name, known, where, "R216")
            walk.found.append(found)
            meant |= {found.fix.text} if found.fix else set()
        elif option.name in seen:
            walk.found.append(twice("setting", option.name, where, seen[option.name]))
        elif option.name in {"searches", "turns", "retries", "max_tokens"}:
            low = 0 if option.name == "retries" else 1
            count(walk, value, option.value.span, option.name, low)
        elif not assignable(value.type, NUMBER):
            walk.mismatch("R301", f"{option.name} is", value, NUMBER, option.value.span)
        seen[option.name] = where
    return meant | set(seen)


def limits(walk: Walk, given: Sequence[ir.Argument], scope: s.Scope) -> None:
    """Check the limits of a budget."""
    seen: dict[str, Span] = {}
    for limit in given:
        value = walk.expr(limit.value, scope)
        where = limit.name_span or limit.span
        if limit.name is None:
            walk.report("R304", "a limit is written 'name: value'", limit.span)
            continue
        if limit.name not in LIMITS:
            walk.found.append(unknown("limit", limit.name, LIMITS, where, "R215"))
            continue
        if limit.name in seen:
            walk.found.append(twice("limit", limit.name, where, seen[limit.name]))
        seen.setdefault(limit.name, where)
        literal = value.constant.value if value.constant else None
        if value.type != UNKNOWN and not (isinstance(literal, Decimal) and literal > 0):
            walk.report("R311", f"{limit.name} is a number above 0", limit.value.span)


def count(walk: Walk, value: s.Value, span: Span, what: str, low: int = 1) -> int | None:
    """Return a whole number that is known before the run, or report that it is none."""
    if value.type == UNKNOWN:
        return None
    number = s.whole_number(value)
    if number is None or not low <= number <= MOST:
        unfit(walk, value, span, f"{what} is a whole number from {low} to {MOST:,}")
        return None
    return number


def unfit(walk: Walk, value: s.Value, span: Span, what: str, code: str = "R311") -> None:
    """Report a value that is not what it has to be, or that is not known before the run."""
    shown, hint = f"a {value.type}", "it is known before the run: a value, or a parameter's name"
    if value.constant is not None:
        shown, hint = value.constant.span.text, ""
    if value.type != UNKNOWN:
        walk.report(code, f"{what}, not {shown}", span, hint)


def boolean(walk: Walk, value: s.Value, span: Span, what: str) -> None:
    """Check a condition."""
    if not assignable(value.type, BOOL):
        walk.mismatch("R301", f"{what} is given", value, BOOL, span)

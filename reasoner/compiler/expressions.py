"""Expressions with signs, records and fields: what they need of their parts, and their types."""

from reasoner import ir
from reasoner.compiler import scope as s
from reasoner.compiler.forms import Walk, boolean
from reasoner.compiler.program import twice
from reasoner.compiler.words import named
from reasoner.errors import unknown
from reasoner.source import Span
from reasoner.types import (
    BOOL,
    FIELDS,
    NOTHING,
    NUMBER,
    UNKNOWN,
    Type,
    assignable,
    join_types,
    substitute,
)  # fmt: skip

_COMPARISONS = frozenset(["==", "!=", "<", ">", "<=", ">="])


def record(walk: Walk, node: ir.RecordOf, scope: s.Scope) -> s.Value:
    """Check a record: each field once."""
    fields: dict[str, Type] = {}
    places: dict[str, Span] = {}
    for item in node.items:
        name, where = item.name or "", item.name_span or item.span
        if name in fields:
            walk.found.append(twice("field", name, where, places[name]))
        fields[name], places[name] = walk.expr(item.value, scope).type, where
    return s.Value(type=Type("Record", fields=tuple(fields.items())), span=node.span)


def field(walk: Walk, node: ir.Field, scope: s.Scope) -> s.Value:
    """Check that a value has the field that is asked for."""
    value = walk.expr(node.value, scope)
    if value.type == UNKNOWN:
        return s.broken(node.span)
    known = dict(value.type.fields) or FIELDS.get(value.type.name, {})
    if node.name in known:
        kind = known[node.name]
        if value.type.args:
            kind = substitute(kind, {"T": value.type.args[0]})
        return s.Value(type=kind, span=node.span)
    if not known:
        hint = "go over it with 'each'" if value.type.name == "List" else ""
        walk.report("R222", f"{named(value.type)} has no fields", node.name_span, hint)
    else:
        walk.found.append(
            unknown(f"field of {value.type.name}", node.name, known, node.name_span, "R222")
        )
    return s.broken(node.span)


def operation(walk: Walk, node: ir.Unary | ir.Binary, scope: s.Scope) -> s.Value:
    """Check arithmetic, a comparison or logic."""
    if isinstance(node, ir.Unary):
        value = walk.expr(node.value, scope)
        wanted = BOOL if node.sign == "not" else NUMBER
        if not assignable(value.type, wanted):
            walk.mismatch("R301", f"'{node.sign}' is given", value, wanted, node.value.span)
        return s.Value(type=wanted, span=node.span)
    left, right = walk.expr(node.left, scope), walk.expr(node.right, scope)
    if node.sign in {"and", "or"}:
        for value, part in ((left, node.left), (right, node.right)):
            boolean(walk, value, part.span, f"'{node.sign}'")
        return s.Value(type=BOOL, span=node.span)
    if node.sign in {"==", "!="}:
        if join_types(left.type, right.type) is None and NOTHING not in (left.type, right.type):
            walk.mismatch(
                "R301",
                f"'{node.sign}' compares {named(left.type)} with",
                right,
                left.type,
                node.right.span,
            )
        return s.Value(type=BOOL, span=node.span)
    return arithmetic(walk, node, left, right)


def arithmetic(walk: Walk, node: ir.Binary, left: s.Value, right: s.Value) -> s.Value:
    """Check an order or a sum: numbers, and for ``+`` also texts and lists."""
    kind = BOOL if node.sign in _COMPARISONS else NUMBER
    if node.sign == "+" and UNKNOWN in (left.type, right.type):
        return s.broken(node.span)
    if node.sign == "+" and left.type.name in {"Text", "List"}:
        joined = join_types(left.type, right.type)
        if joined is None:
            walk.mismatch(
                "R301", f"'+' adds to {named(left.type)}", right, left.type, node.right.span
            )
        size = None
        if left.size is not None and right.size is not None:
            size = left.size + right.size
        return s.Value(type=joined or left.type, span=node.span, size=size)
    for value, part in ((left, node.left), (right, node.right)):
        if not assignable(value.type, NUMBER):
            walk.mismatch("R301", f"'{node.sign}' is given", value, NUMBER, part.span)
    return s.Value(type=kind, span=node.span)

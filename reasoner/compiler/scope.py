"""What a name means at a place: its type, where it was made, and how long a list it can be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from reasoner import ir
from reasoner.source import Span
from reasoner.types import UNKNOWN, Type

if TYPE_CHECKING:
    from reasoner.plan import Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What the checker knows of a value.

    ``size`` is the largest number of items that a list can have, if that is known;
    ``constant`` is set (to a literal) if the value is known before the run.
    """

    type: Type
    span: Span
    size: int | None = None
    constant: "ir.Literal | None" = None


@dataclass(slots=True)
class Scope:
    """Names of one block, with the blocks around it."""

    outer: "Scope | None" = None
    names: dict[str, Value] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    later: Mapping[str, Span] = field(default_factory=dict)

    def find(self, name: str) -> Value | None:
        """Return what ``name`` means here, and note that it is used."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                scope.used.add(name)
                return scope.names[name]
            scope = scope.outer
        return None

    def bound_later(self, name: str) -> Span | None:
        """Return where a name is bound below the place that uses it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.later:
                return scope.later[name]
            scope = scope.outer
        return None

    def visible(self) -> Iterator[str]:
        """Yield every name that may be used here."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.outer


def broken(span: Span) -> Value:
    """Return the value of an expression whose mistake was reported already."""
    return Value(type=UNKNOWN, span=span)


def whole_number(value: Value) -> int | None:
    """Return a constant that is a whole number, or None."""
    literal: Scalar = value.constant.value if value.constant else None
    if isinstance(literal, Decimal) and literal == literal.to_integral_value():
        return int(literal)
    return None

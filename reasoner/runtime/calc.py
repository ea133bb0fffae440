"""Operands to values, and the arithmetic of the language: exact, total, with errors in words."""

from collections.abc import Sequence
from decimal import Decimal, DecimalException

from reasoner import plan as p
from reasoner.errors import RunError
from reasoner.runtime.scope import Values
from reasoner.values import Answer, Chain, Evidence, Findings, Linked

#: Longest text or list that a sum makes.
MOST = 10_000_000


def resolve(operand: p.Operand, values: Values) -> object:
    """Return the value of an operand."""
    match operand:
        case p.Const():
            return operand.value
        case p.Ref():
            return values[operand.id]
        case p.Seq():
            return tuple(resolve(i, values) for i in operand.items)
        case p.Rec():
            return {name: resolve(o, values) for name, o in operand.fields.items()}


def calculate(fn: str, args: Sequence[object]) -> object:
    """Return the value of a field, an arithmetic or a logical expression.

    Raises
    ------
    RunError
        For a division by zero, a number that is too large, or a sum that is too long.
    """
    if fn.startswith("."):
        return _field(args[0], fn[1:])
    match fn:
        case "not":
            return not args[0]
        case "and":
            return bool(args[0]) and bool(args[1])
        case "or":
            return bool(args[0]) or bool(args[1])
        case "==":
            return _plain(args[0]) == _plain(args[1])
        case "!=":
            return _plain(args[0]) != _plain(args[1])
        case "+" if not isinstance(args[0], Decimal | int | float):
            return _joined(args[0], args[1])
        case "-" if len(args) == 1:
            return -number(args[0])
        case _:
            return _arithmetic(fn, number(args[0]), number(args[1]))


def number(value: object) -> Decimal:
    """Return a number as an exact decimal.

    Raises
    ------
    RunError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float):
        raise RunError(f"expected a number, found a {type(value).__name__}")
    exact = value if isinstance(value, Decimal) else Decimal(str(value))
    if not exact.is_finite():
        raise RunError(f"{value} is no finite number")
    return exact


def is_empty(value: object) -> bool:
    """Say whether a value holds nothing: none, an empty text or list, no evidence, no entity."""
    match value:
        case None:
            return True
        case str():
            return not value.strip()
        case tuple() | list() | dict():
            return len(value) == 0
        case Evidence():
            return value.empty
        case Answer():
            return not value.text.strip()
        case Chain():
            return value.evidence.empty and not value.answer.text.strip()
        case Linked():
            return value.entity is None
        case Findings():
            return value.evidence.empty
        case _:
            return False


def _field(value: object, name: str) -> object:
    if isinstance(value, dict):
        return value[name]
    return getattr(value, name)


def _plain(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return value


def _joined(left: object, right: object) -> object:
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > MOST:
            raise RunError(f"a text of more than {MOST:,} characters")
        return left + right
    if isinstance(left, tuple | list) and isinstance(right, tuple | list):
        if len(left) + len(right) > MOST:
            raise RunError(f"a list of more than {MOST:,} items")
        return (*left, *right)
    raise RunError("'+' adds numbers, texts or lists, two of one kind")


def _arithmetic(fn: str, left: Decimal, right: Decimal) -> object:
    try:
        match fn:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return left / right
            case "<":
                return left < right
            case ">":
                return left > right
            case "<=":
                return left <= right
            case ">=":
                return left >= right
            case other:
                raise AssertionError(f"no operation {other!r}")
    except DecimalException:
        raise RunError(f"{left} {fn} {right} cannot be calculated") from None

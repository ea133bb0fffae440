"""Which type fits where: laws of `assignable`, `unify`, `substitute` and `join_types`."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reasoner.types import (
    NOTHING,
    NUMBER,
    SIMPLE,
    TEXT,
    UNKNOWN,
    Type,
    assignable,
    join_types,
    list_of,
    substitute,
    unify,
)

T, U = Type("T"), Type("U")
NAMES = st.sampled_from(["a", "b", "c"])


def wrapped(inner):
    generic = st.builds(
        lambda name, arg: Type(name, (arg,)), st.sampled_from(["List", "Optional", "Scored"]), inner
    )
    fields = st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    return generic | fields.map(lambda f: Type("Record", (), tuple(sorted(f.items()))))


def types(*more):
    return st.recursive(
        st.sampled_from([*map(Type, list(SIMPLE)[:4]), *more]), wrapped, max_leaves=5
    )


KNOWN = types()
OPEN = types(T, U)


def optional(kind):
    return Type("Optional", (kind,))


def record(**fields):
    return Type("Record", (), tuple(fields.items()))


@given(KNOWN)
def test_a_type_fits_itself(kind):
    assert assignable(kind, kind)
    assert assignable(UNKNOWN, kind)
    assert assignable(kind, UNKNOWN)


@given(KNOWN, KNOWN, KNOWN)
def test_fitting_is_transitive(a, b, c):
    if assignable(a, b) and assignable(b, c):
        assert assignable(a, c)


@given(KNOWN)
def test_what_fits_an_optional(kind):
    assert assignable(kind, optional(kind))
    assert assignable(NOTHING, optional(kind))
    assert assignable(optional(kind), optional(optional(kind)))
    if kind.name != "Optional":
        assert not assignable(optional(kind), kind)
        assert not assignable(NOTHING, kind)


@given(KNOWN)
def test_one_is_never_a_list_and_a_list_never_one(kind):
    assume(kind.name not in {"List", "Optional"})
    assert not assignable(kind, list_of(kind))
    assert not assignable(list_of(kind), kind)
    assert not assignable(list_of(list_of(kind)), list_of(kind))


@given(KNOWN, KNOWN)
def test_wrapping_keeps_what_fits(a, b):
    for name in ("List", "Scored"):
        assert assignable(Type(name, (a,)), Type(name, (b,))) == assignable(a, b)


@pytest.mark.parametrize(
    ("given", "asked", "fits"),
    [
        (record(a=TEXT, b=NUMBER), record(a=TEXT), True),
        (record(a=TEXT), record(a=TEXT, b=NUMBER), False),
        (record(b=NUMBER, a=TEXT), record(a=TEXT, b=NUMBER), True),
        (record(a=TEXT), record(a=NUMBER), False),
        (record(a=TEXT), record(a=optional(TEXT)), True),
        (list_of(UNKNOWN), list_of(TEXT), True),
        (list_of(TEXT), list_of(UNKNOWN), True),
        (list_of(UNKNOWN), TEXT, False),
        (TEXT, NUMBER, False),
    ],
)
def test_by_hand(given, asked, fits):
    assert assignable(given, asked) == fits


@given(OPEN, KNOWN, KNOWN)
def test_what_a_variable_is_bound_to_fits_back(pattern, t, u):
    made = substitute(pattern, {"T": t, "U": u})
    bound = unify(made, pattern, {})
    if bound is not None:
        assert assignable(made, substitute(pattern, bound))


@given(KNOWN)
def test_a_variable_takes_any_type_once(kind):
    assert unify(kind, T, {}) == {"T": kind}
    assert unify(list_of(kind), list_of(T), {}) == {"T": kind}
    assert unify(kind, T, {"T": kind}) == {"T": kind}
    assert unify(kind, optional(T), {}) is not None


def test_a_variable_means_one_type():
    pair = record(a=T, b=T)
    assert unify(record(a=TEXT, b=TEXT), pair, {}) == {"T": TEXT}
    assert unify(record(a=TEXT, b=NUMBER), pair, {}) is None
    assert unify(record(a=UNKNOWN, b=NUMBER), pair, {}) is not None


@given(KNOWN, KNOWN)
def test_unify_leaves_what_is_bound(a, b):
    before = {"U": a}
    after = unify(b, T, before)
    assert before == {"U": a}
    assert after["U"] == a


@given(OPEN)
def test_an_unbound_variable_is_unknown(pattern):
    assert "T" not in names(substitute(pattern, {}))
    assert substitute(substitute(pattern, {}), {"T": TEXT}) == substitute(pattern, {})


def names(kind):
    yield kind.name
    for inner in (*kind.args, *(t for _, t in kind.fields)):
        yield from names(inner)


@given(KNOWN, KNOWN)
def test_a_join_takes_both(a, b):
    joined = join_types(a, b)
    assert (joined is None) == (not assignable(a, b) and not assignable(b, a))
    if joined is not None:
        assert assignable(a, joined)
        assert assignable(b, joined)


@given(KNOWN)
def test_a_join_with_the_unknown_tells_what_is_known(kind):
    assert join_types(UNKNOWN, kind) == kind


@given(KNOWN)
def test_a_join_tells_what_is_known_from_either_side(kind):
    assert join_types(kind, UNKNOWN) == kind


def test_types_are_shown_as_written():
    assert str(list_of(optional(TEXT))) == "List[Optional[Text]]"
    assert str(record(a=TEXT, b=list_of(NUMBER))) == "Record{a: Text, b: List[Number]}"

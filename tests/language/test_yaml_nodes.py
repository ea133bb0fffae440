"""YAML as nodes with places: YAML 1.2 scalars, and nothing of YAML that a recipe has no use for."""

from decimal import Decimal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reasoner.errors import RecipeError
from reasoner.frontends.yaml_nodes import Mapping, Scalar, Sequence, load, place_of, plain
from reasoner.source import Source

NUMBERS = st.integers() | st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9
)
LEAVES = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=12)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(LEAVES, inner, max_size=4),
    max_leaves=15,
)


def read(text):
    return load(Source("<yaml>", text))


def value_of(written):
    return plain(read(f"k: {written}\n").get("k"))


def everything(node):
    yield node
    match node:
        case Mapping(pairs=pairs):
            for key, value in pairs:
                yield from (key, *everything(value))
        case Sequence(items=items):
            for item in items:
                yield from everything(item)


@given(TREES, st.booleans(), st.integers(20, 200))
def test_what_yaml_writes_is_read_back(tree, flow, width):
    text = yaml.safe_dump(tree, default_style='"', default_flow_style=flow, width=width)
    assert plain(read(text)) == tree


@given(TREES, st.booleans())
def test_places_lie_inside_one_another(tree, flow):
    text = yaml.safe_dump(tree, default_style='"', default_flow_style=flow)
    root = read(text)
    for node in everything(root):
        assert 0 <= node.span.start < node.span.end <= len(text)
        inner = list(everything(node))[1:]
        assert all(node.span.start <= n.span.start <= n.span.end <= node.span.end for n in inner)
        if isinstance(node, Scalar):
            assert plain(load(Source("<part>", node.span.text))) == node.value


@given(TREES)
def test_a_place_is_found_by_its_path(tree):
    root = read(yaml.safe_dump(tree, default_style='"'))

    def go(node, path):
        assert place_of(root, path) == node.span
        match node:
            case Mapping(pairs=pairs):
                for key, value in pairs:
                    go(value, (*path, key.value))
            case Sequence(items=items):
                for index, value in enumerate(items):
                    go(value, (*path, index))

    go(root, ())


@given(st.lists(st.sampled_from(["a", "b", 0, 1, 7]), max_size=4))
def test_a_path_that_leads_nowhere_ends_at_its_last_parent(path):
    root = read("a: [{b: 1}, x]\nb: {a: 2}\n")
    span = place_of(root, tuple(path))
    assert root.span.start <= span.start <= span.end <= root.span.end


@given(NUMBERS)
def test_numbers_are_exact(number):
    found = value_of(str(number))
    assert found == number
    assert isinstance(found, int | Decimal)


@pytest.mark.parametrize(
    "word",
    [
        "on",
        "no",
        "Yes",
        "y",
        "True",
        "1_000",
        "12:30:45",
        "2024-01-01",
        ".inf",
        "-.INF",
        ".nan",
        "NaN",
        "0x1F",
        "=",
    ],
)
def test_words_stay_words(word):
    assert value_of(word) == word


@pytest.mark.parametrize(
    ("written", "value"), [('"1"', "1"), ("'true'", "true"), ('""', ""), ("|\n  7\n", "7\n")]
)
def test_quotes_make_texts(written, value):
    assert value_of(written) == value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("null", None), ("~", None), ("", None), ("true", True), ("false", False), ("1e-3", Decimal("0.001")),
        ("007", 7), ("-1", -1), ("+2", 2), (".5", Decimal("0.5")), ("1e5", Decimal(100_000)),
    ],
)  # fmt: skip
def test_plain_scalars_have_a_type(written, value):
    found = value_of(written)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# a comment\n", "---\n", "\ufeff"]
)
def test_nothing_is_none(text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("a: 1\na: 2\n", "R114", "a"),
        ("{a: 1, a: 2}", "R114", "a"),
        ("a: &x 1\n", "R112", "&x 1"),
        ("a: *x\n", "R112", "*x"),
        ("&x a: 1\n", "R112", "&x a"),
        ("a: !t 1\n", "R115", "!t 1"),
        ("!!map {a: 1}\n", "R115", "!!map {"),
        ("a: 1\n---\nb: 2\n", "R111", "---"),
        ("[a]: 1\n", "R113", "[a]"),
        ("a: [1\n", "R110", None),
        ("a:\n\t- 1\n", "R110", "\t"),
        ("'" + "x" * 2_000_000, "R103", None),
        ("[" * 61 + "]" * 61, "R102", "["),
    ],
)
def test_what_recipes_have_no_use_for(text, code, part):
    with pytest.raises(RecipeError) as caught:
        read(text)
    (finding,) = caught.value.diagnostics
    assert finding.code == code
    assert part is None or finding.span.text == part


def test_sixty_levels_are_enough():
    assert read("[" * 60 + "]" * 60) is not None


def test_the_key_of_a_path():
    root = read("a:\n  b: 1\n")
    assert place_of(root, ("a", "b"), key=True).text == "b"
    assert place_of(root, ("a", "c"), key=True).text == "b: 1"
    assert place_of(root, ("a",), key=True).text == "a"

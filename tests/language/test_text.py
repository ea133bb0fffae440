"""Texts of both notations: their values, and where each character of them stands."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reasoner.frontends.text import align, dedent, unquote
from reasoner.frontends.yaml_nodes import Mapping, load
from reasoner.source import Source, Span

PLAIN = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=40
)
LINES = st.lists(st.tuples(st.integers(0, 6), PLAIN), min_size=1, max_size=6)


def span_of(text):
    return Span(Source("<text>", text), 0, len(text))


def read(raw):
    return unquote(raw, range(len(raw)), span_of(raw))


def points_at_itself(text, raw):
    """Say whether every character that stands in the source as itself is found there."""
    assert len(text.value) == len(text.offsets)
    assert list(text.offsets) == sorted(text.offsets)
    return all(raw[at] in {char, "\\"} for char, at in zip(text.value, text.offsets, strict=True))


@given(PLAIN)
def test_a_plain_text_is_itself(value):
    text = read(f'"{value}"')
    assert text.value == value
    assert text.offsets == tuple(range(1, len(value) + 1))


@pytest.mark.parametrize(
    ("raw", "value", "offsets"),
    [
        (r'"a\nb"', "a\nb", (1, 2, 4)),
        (r'"\t\"\\\/"', '\t"\\/', (1, 3, 5, 7)),
        (r'"\u00e9x"', "\u00e9x", (1, 7)),
        (r'"\{x\}"', "{{x}}", (1, 1, 3, 4, 4)),
        (r'"\d+"', r"\d+", (1, 1, 3)),
        (r'"\u12"', r"\u12", (1, 1, 3, 4)),
        ('""', "", ()),
        ('""""""', "", ()),
    ],
)
def test_escapes(raw, value, offsets):
    text = read(raw)
    assert (text.value, text.offsets) == (value, offsets)


@given(st.text(st.characters(codec="utf-8", exclude_characters="{}"), max_size=40))
def test_what_json_writes_is_read_back(value):
    assume(all(ord(c) < 0x10000 for c in value) and not {"\b", "\f", "\r"} & set(value))
    raw = json.dumps(value)
    text = read(raw)
    assert text.value == value
    assert points_at_itself(text, raw)


@given(LINES)
def test_long_quotes_lose_only_margins(lines):
    body = "\n".join(" " * indent + words for indent, words in lines)
    raw = f'"""\n{body}\n"""'
    text = read(raw)
    assert points_at_itself(text, raw)
    assert text.value == text.value.strip()
    assert text.value.split() == body.split()


@given(LINES, st.integers(1, 5))
def test_dedent_does_not_see_the_margin(lines, more):
    body = "\n".join(" " * indent + words for indent, words in lines)
    moved = "\n".join(" " * (indent + more) + words for indent, words in lines)
    here, there = (dedent(f"\n{t}", range(len(t) + 1), span_of(t)) for t in (body, moved))
    assert here.value == there.value


@given(LINES)
def test_dedent_is_idempotent_on_what_it_gives(lines):
    body = "\n".join(" " * indent + words for indent, words in lines)
    once = dedent(body, range(len(body)), span_of(body))
    again = dedent(f"\n{once.value}", range(len(once.value) + 1), span_of(once.value))
    assert points_at_itself(once, body)
    assert again.value.split() == once.value.split()


def test_dedent_keeps_inner_indentation_and_blank_lines():
    raw = '"""\n    a\n\n      b  \n    c\n  """'
    text = read(raw)
    assert text.value == "a\n\n  b\nc"
    assert [raw[at] for at in text.offsets] == list(text.value)
    assert text.span_of(5, 6).text == "b"


# ---- scalars of YAML ---------------------------------------------------------------------

WORDS = st.lists(st.from_regex(r"[a-z(){}\[\],.]{1,8}", fullmatch=True), min_size=1, max_size=8)


def scalar_in(text):
    source = Source("<yaml>", text)
    root = load(source)
    assert isinstance(root, Mapping)
    node = root.get("k")
    return node.value, align(node.value, text, node.span.start, node.span.end), node.span


def is_aligned(text, value, offsets, span):
    assert len(value) == len(offsets)
    assert list(offsets) == sorted(offsets)
    assert all(span.start <= at < span.end for at in offsets)
    return all(
        text[at] == char or (char.isspace() and text[at].isspace())
        for char, at in zip(value, offsets, strict=True)
    )


@given(WORDS, st.sampled_from([">", ">-", "|", "|-", "|+"]), st.integers(1, 8))
def test_blocks_are_aligned(words, style, indent):
    text = f"k: {style}\n" + "".join(f"{' ' * indent}{w}\n" for w in words) + "z: 1\n"
    value, offsets, span = scalar_in(text)
    kept = value.rstrip()
    assert kept.split() == words
    assert is_aligned(text, kept, offsets[: len(kept)], span)
    assert len(set(offsets[: len(kept)])) == len(kept)


@given(WORDS, st.sampled_from(['"', "'"]))
def test_quotes_over_lines_are_aligned(words, quote):
    text = f"k: {quote}" + "\n  ".join(words) + f"{quote}\n"
    value, offsets, span = scalar_in(text)
    assert value.split() == words
    assert is_aligned(text, value, offsets, span)


@given(WORDS)
def test_plain_scalars_are_aligned(words):
    text = "k: x" + " ".join(words).replace(" ", "  x") + "\n"
    assume(not any(c in text for c in "[]{},"))
    value, offsets, _ = scalar_in(text)
    assert [text[at] for at in offsets] == list(value)


@pytest.mark.parametrize(
    ("text", "part", "at"),
    [
        (r'k: "a \"b\" {c}"', "{c}", 12),
        ("k: 'it''s {c}'", "{c}", 10),
        ("k: >-\n  one\n  two {c}\n", "{c}", 18),
        ("k: |\n  one\n    two {c}\n", "{c}", 19),
        (r'k: "one\ntwo {c}"', "{c}", 13),
        (r'k: "\x41 b A {c}"', "b A", 9),
    ],
)  # fmt: skip
def test_what_quotes_and_folds_hide(text, part, at):
    value, offsets, _ = scalar_in(text)
    assert offsets[value.index(part)] == at


@given(st.text(max_size=30), st.text(max_size=30), st.data())
def test_align_never_leaves_its_place(value, source, data):
    assume(source)
    start = data.draw(st.integers(0, len(source) - 1))
    end = data.draw(st.integers(start + 1, len(source)))
    offsets = align(value, source, start, end)
    assert len(offsets) == len(value)
    assert all(start <= at < end for at in offsets)

"""Replies: a ladder of readers that reads a value or says why not, and never fails otherwise."""

import json
from decimal import Decimal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.runtime.replies import Misfit, conclusion, read, schema
from reasoner.types import ANSWER, BOOL, CHAIN, NUMBER, TEXT, list_of
from reasoner.values import Answer

KINDS = [TEXT, ANSWER, list_of(TEXT), NUMBER, BOOL, CHAIN, list_of(NUMBER)]
PYTHON = {TEXT: str, ANSWER: Answer, list_of(TEXT): tuple, NUMBER: Decimal, BOOL: bool}
wild_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["answer", "items", "candidates", "x"]), inner)
    ),
    max_leaves=12,
)
wild = st.one_of(
    st.text(),
    wild_json.map(json.dumps),  # with NaN and Infinity
    wild_json.map(lambda v: f"Well:\n```json\n{json.dumps(v)}\n```\nDone"),
    st.lists(st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "Final answer:", "```", "1. ", "- ", "a", "\n",
                              "{", "}", '"answer"', ":", "[", "]", "[T1]", "-", "9"])).map("".join),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(text=wild)
def test_any_text_is_read_or_a_misfit(kind, text):
    try:
        value = read(kind, text, frozenset({"T1"}))
    except Misfit as misfit:
        assert str(misfit)
        return
    assert isinstance(value, PYTHON[kind])
    match value:
        case Answer():
            assert value.text or value.rejected
            assert {i for c in value.citations for i in c.ids} <= {"T1"}
        case tuple():
            assert value
            assert len(set(value)) == len(value)
            assert all(isinstance(v, str) and v.strip() for v in value)
        case Decimal():
            assert value.is_finite()


@given(wild)
def test_any_text_has_a_conclusion(text):
    found = conclusion(text)
    assert found == found.strip()
    assert found in text


@pytest.mark.parametrize("text", ["", "  ", "<think>only this</think>", "<think></thinking> \n"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_nothing_is_a_misfit(kind, text):
    with pytest.raises(Misfit, match="the reply is empty"):
        read(kind, text, frozenset())


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "yes [T1]", "candidates": ["a"]}',
        '```json\n{"answer": "yes [T1]", "candidates": ["a", "a"]}\n```',
        '<think>{"answer": "no"}</think>{"answer": "yes [T1]", "candidates": ["a", 3, null]}',
        '{"answer": "no", "answer": "yes [T1]", "candidates": ["a"], "more": 1e999}',
    ],
)
def test_rungs_of_an_answer_in_json(text):
    value = read(ANSWER, text, frozenset({"T1"}))
    assert (value.text, [c.name for c in value.candidates]) == ("yes [T1]", ["a"])


@pytest.mark.parametrize(
    "text",
    [
        "yes [T1]",
        "<answer>yes [T1]</answer>",
        "Final answer: yes [T1]",
        "<answer>yes [T1]",
        "</think> yes [T1]",
    ],
)
def test_rungs_of_an_answer_in_words(text):
    assert read(ANSWER, text, frozenset({"T1"})).text == "yes [T1]"


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", '{"answer": 3}', '{"answer": null}', '{"answer": " "}', '"yes"', "3", "true"],
)
def test_json_of_another_shape_is_no_answer(text):
    with pytest.raises(Misfit):
        read(ANSWER, text, frozenset())


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_does_not_have_are_not_read(constant):
    for kind in (list_of(TEXT), NUMBER, BOOL):
        with pytest.raises(Misfit):
            read(kind, f'{{"items": {constant}}}', frozenset())
    value = read(ANSWER, f'{{"answer": {constant}}}', frozenset())
    assert constant in value.text  # it is no JSON, so it is words


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000, '{"answer":' * 50_000, '["' + "x" * 300_000 + '"]', "9" * 100_000, "1. " + "x" * 300_000,
        '{"items": [' + "9" * 10_000 + "]}", "```json" * 20_000, "<answer>" * 20_000, "</think>" * 20_000,
        "final answer" * 15_000, "- " * 90_000, "\n" * 190_000, " " * 190_000 + "x", "1.\n" * 60_000,
        "final answer" + " " * 180_000,
    ],
    ids=lambda t: t[:12].strip(),
)  # fmt: skip
@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", [ANSWER, list_of(TEXT), NUMBER, BOOL], ids=str)
def test_huge_replies_are_read_or_refused_and_soon(kind, text):
    try:
        value = read(kind, text, frozenset())
    except Misfit:
        return
    if isinstance(value, tuple):
        assert all(len(v) <= 4_000 for v in value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", "42"),
        ("It is -3.50 mg", "-3.50"),
        ("<think>7</think> 8", "8"),
        ("1e999", "1"),
        ("9" * 40, "9" * 30),
    ],
)
def test_numbers(text, number):
    assert read(NUMBER, text, frozenset()) == Decimal(number)


@pytest.mark.parametrize(
    ("text", "truth"),
    [("Yes.", True), ("**no**, never", False), ("TRUE", True), ("<think>no</think>yes", True)],
)
def test_truths(text, truth):
    assert read(BOOL, text, frozenset()) is truth


@pytest.mark.parametrize("text", ["maybe", "yesterday", "it is no use"])
def test_no_truth(text):
    with pytest.raises(Misfit, match="expected yes or no"):
        read(BOOL, text, frozenset())


@pytest.mark.parametrize("kind", [ANSWER, list_of(TEXT)], ids=str)
def test_what_the_schema_allows_can_be_read(kind):
    value = {"answer": "yes", "candidates": ["a"]} if kind == ANSWER else {"items": ["a", "b"]}
    jsonschema.validate(value, schema(kind, 2))
    read(kind, json.dumps(value), frozenset())
    assert schema(kind, 2)["additionalProperties"] is False
    for wrong in ({}, {"x": 1}, {"items": []}, {"items": ["a"] * 3}, {"answer": 3}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema(kind, 2))


def test_plain_types_have_no_schema():
    assert schema(TEXT, None) is None

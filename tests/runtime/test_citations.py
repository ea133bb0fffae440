"""Citations: what was not retrieved is never cited, and a span points at its sentence."""

import itertools
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reasoner.runtime import citations
from reasoner.testing import ScriptedModel
from tests.runtime.support import CHAINS, PROMPTS, answer, by_task, go, looks, recipe

KNOWN = frozenset({"T0", "T1", "T12"})
mark = st.sampled_from(
    [
        "[T0]",
        "[T1, T12]",
        "[T1;T9]",
        "[ T12 ]",
        "[T9]",
        "[T99, T0, T99]",
        "[T1, 12]",
        "[P3]",
        "[T\uff11]",
    ]
)
piece = st.one_of(
    mark,
    st.sampled_from(["It aches", ". ", "! ", "\n", " and ", "e.g. ", "[", "]", "T", "1", ", "]),
)
flat = st.one_of(mark, st.sampled_from(["It aches", ". ", "! ", "\n", " and ", "so ", "(x)"]))
MARK = re.compile(r"\[\s*[A-Z]\d+(?:\s*[,;]\s*[A-Z]?\d+)*\s*\]")


@given(st.lists(flat).map("".join))
def test_only_retrieved_ids_are_left(text):
    cited = citations.check(text, KNOWN)
    for left in MARK.findall(cited.text):
        assert set(re.findall(r"T\d+", left)) <= KNOWN
    assert {i for c in cited.citations for i in c.ids} <= KNOWN
    assert not set(cited.forged) & KNOWN
    again = citations.check(cited.text, KNOWN)
    assert (again.text, again.citations, again.forged) == (cited.text, cited.citations, ())


@given(st.lists(flat).map("".join))
def test_a_span_is_one_sentence_that_holds_its_marks(text):
    cited = citations.check(text, KNOWN)
    spans = [(c.start, c.end) for c in cited.citations]
    assert spans == sorted(set(spans))
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    for c in cited.citations:
        assert 0 <= c.start <= c.end <= len(cited.text)
        sentence = cited.text[c.start : c.end]
        assert sentence == sentence.rstrip()
        assert "\n" not in sentence.strip()
    assert {i for c in cited.citations for i in c.ids} == set(
        re.findall(r"T\d+", " ".join(MARK.findall(cited.text)))
    )


@pytest.mark.parametrize("text", ["[T9]\n[T0] It aches.", "It aches\n \n[T0]"])
def test_no_span_is_empty(text):
    cited = citations.check(text, KNOWN)
    assert all(cited.text[c.start : c.end].strip() for c in cited.citations)


@given(st.text(), st.sets(st.sampled_from(sorted(KNOWN))))
def test_any_text_can_be_checked(text, retrieved):
    cited = citations.check(text, retrieved)
    assert {i for c in cited.citations for i in c.ids} <= retrieved


@pytest.mark.parametrize(
    ("text", "clean", "spans"),
    [
        ("It aches [T0]. It is late.", "It aches [T0]. It is late.", [("It aches [T0].", ("T0",))]),
        ("It aches. [T0] It is late.", "It aches. [T0] It is late.", [("It aches.", ("T0",))]),
        ("It aches.[T0]\nSo.", "It aches. [T0]\nSo.", [("It aches.", ("T0",))]),
        ("A [T0]. B [T1, T0]! C", "A [T0]. B [T1, T0]! C", [("A [T0].", ("T0",)), ("B [T1, T0]!", ("T1", "T0"))]),
        ("A [T1] b [T12].", "A [T1] b [T12].", [("A [T1] b [T12].", ("T1", "T12"))]),
        ("A [T1;T9; 12].", "A [T1, T12].", [("A [T1, T12].", ("T1", "T12"))]),
        ("A [T9].", "A.", []),
        ("A [T9] b.", "A b.", []),
        ("[T9][T0]", " [T0]", [(" [T0]", ("T0",))]),
        ("see [1] and [Tx] and [t0]", "see [1] and [Tx] and [t0]", []),
    ],
)  # fmt: skip
def test_examples(text, clean, spans):
    cited = citations.check(text, KNOWN)
    assert cited.text == clean
    assert [(clean[c.start : c.end], c.ids) for c in cited.citations] == spans


@pytest.mark.parametrize(
    "text", ["It aches. [T0]\nIt is late.", "It aches. [T0]", "It aches.\n[T0]", "It aches.[T0]"]
)
def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before(text):
    cited = citations.check(text, KNOWN)
    (c,) = cited.citations
    assert "It aches." in cited.text[c.start : c.end]
    assert "late" not in cited.text[c.start : c.end]


@pytest.mark.parametrize("text", ["x [T[T9]5] y", "[T1[T9], T77]", "[[T9]T5]"])
def test_taking_out_a_mark_makes_no_mark(text):
    cited = citations.check(text, KNOWN)
    left = {i for m in MARK.findall(cited.text) for i in re.findall(r"T\d+", m)}
    assert left <= {i for c in cited.citations for i in c.ids}


@given(st.lists(piece).map("".join))
@example("It aches [T[T9]5].")
def test_no_forged_id_survives_any_text(text):
    cited = citations.check(text, KNOWN)
    for left in MARK.findall(cited.text):
        assert set(re.findall(r"[A-Z]\d+", left)) <= KNOWN


def test_a_forged_citation_is_asked_about_and_then_taken_out():
    ran = go(
        recipe(CHAINS),
        by_task(chains=[*looks("migraine"), "headache [T0]."], tell="It aches [T0]. So [T7]."),
    )
    asked = [c for c in ran.record.calls if c.role == "teller"]
    assert [c.path for c in asked] == ["tell", "tell.again[1]", "tell.again[2]"]
    assert ran.record.answer == "It aches [T0]. So."
    assert ran.value.rejected == ("T7",)
    assert [n.text for n in ran.record.notices if n.kind == "rejected_citations"] == [
        "cited but never retrieved: T7"
    ]


def test_the_second_try_counts_if_it_forges_nothing():
    replies = iter([answer("It aches [T7]."), answer("It aches [T0].")])
    usual = by_task(chains=[*looks("migraine"), "headache [T0]."])
    ran = go(recipe(CHAINS), lambda r: next(replies) if r.view.task == "answer" else usual(r))
    assert (ran.record.answer, ran.value.rejected) == ("It aches [T0].", ())
    (citation,) = ran.record.citations
    assert (citation.start, citation.end, citation.ids) == (0, 14, ["T0"])


def test_very_long_texts_are_cut_and_fast():
    text = "[" * 50_000 + "T1," * 30_000 + "a. [T0]" * 10_000
    assert len(citations.check(text, KNOWN).text) <= citations.MAX_ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "[T1," * 10_000,
        "[T1" + ",1" * 20_000,
        "[ " * 20_000,
        "[T1" * 13_000,
        pytest.param(" " * 40_000 + "x", id="blanks"),
        pytest.param("[T1" + "\t" * 40_000, id="tabs"),
    ],
)
def test_no_text_makes_the_reader_slow(text):
    began = time.process_time()
    citations.check(text, KNOWN)
    assert time.process_time() - began < 0.3


PARALLEL = f"""{PROMPTS}
prompt guess(question: Text) -> Answer {{ "{{question}}" }}
method m(question: Text) -> List[Answer] {{
  chain = dialog look(question) by looker, searches: 1 {{ on search(a) {{ neighbors(link(a)) }} }}
  return [ask guess(question) by guesser, join([chain])]
}}
"""


def test_what_may_be_cited_does_not_depend_on_what_else_is_under_way():
    # The guess was shown no evidence, so T0 is forged, whether the search ended before it or not.
    said = by_task(chains=[*looks("migraine"), "It aches [T0]."], tell="It aches [T0].")
    guesses = []
    for slow in ("answer", "explore"):
        model = ScriptedModel(said, delay=lambda r, slow=slow: 0.02 * (r.view.task == slow))
        guesses.append(go(recipe(PARALLEL), model).value[0])
    assert guesses[0] == guesses[1]

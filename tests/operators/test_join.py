"""``join``: what is cited stays what is cited."""

import asyncio

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reasoner.operators.join import join
from reasoner.testing import tiny_kg
from reasoner.testing.strategies import names
from reasoner.values import Answer, Candidate, Chain, ChainStatus, Citation


@st.composite
def answers(draw):
    """Answers of a few sentences, of which some are cited."""
    text, citations = "", []
    for sentence in draw(st.lists(names(), max_size=4)):
        if draw(st.booleans()):
            citations.append(
                Citation(len(text), len(text) + len(sentence), (f"T{len(citations)}",))
            )
        text += sentence + draw(st.sampled_from(["", " ", "\n\n"]))
    candidates = [
        Candidate(n, s)
        for n, s in draw(st.dictionaries(names(), st.floats(0, 1), max_size=3)).items()
    ]
    return Answer(text, tuple(citations), tuple(candidates))


CHAINS = st.lists(st.builds(Chain, names(), st.sampled_from(ChainStatus), answers()), max_size=5)


def joined(chains):
    return asyncio.run(join(tiny_kg(), chains))


def heard(chains):
    return [c.answer for c in chains if c.status is not ChainStatus.FAILED and c.answer.text]


@given(chains=CHAINS)
def test_citations_point_at_the_same_sentences(chains):
    found, parts = joined(chains), heard(chains)
    assert found.text == "\n\n".join(a.text for a in parts)
    assert [(found.text[c.start : c.end], c.ids) for c in found.citations] == [
        (a.text[c.start : c.end], c.ids) for a in parts for c in a.citations
    ]
    starts = [c.start for c in found.citations]
    assert starts == sorted(starts)


@given(chains=CHAINS)
def test_candidates_keep_their_best_score_and_are_ranked(chains):
    assume(len(heard(chains)) > 1)
    best = {}
    for a in heard(chains):
        for c in a.candidates:
            best[c.name] = max(c.score, best.get(c.name, 0.0))
    found = [(c.name, c.score) for c in joined(chains).candidates]
    assert dict(found) == best
    assert found == sorted(found, key=lambda c: (-c[1], c[0]))


@given(chains=CHAINS)
def test_failed_chains_and_empty_answers_leave_no_mark(chains):
    kept = [c for c in chains if c.status is not ChainStatus.FAILED and c.answer.text]
    assert joined(chains) == joined(kept)


@given(one=CHAINS, other=CHAINS)
def test_joining_goes_on_at_the_end(one, other):
    first, both = joined(one), joined(one + other)
    assert both.text.startswith(first.text)
    assert both.citations[: len(first.citations)] == first.citations


def test_nothing_in_nothing_out():
    assert joined([]) == Answer("")


@pytest.mark.parametrize(
    "answer",
    [
        Answer("x", partial=True),
        Answer("x", rejected=("T9",)),
        Answer("x", candidates=(Candidate("b", 0.1), Candidate("a", 0.9))),
    ],
)
def test_a_single_chain_gives_its_own_answer(answer):
    assert joined([Chain("q", ChainStatus.COMPLETED, answer)]) == answer

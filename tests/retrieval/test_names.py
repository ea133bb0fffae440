"""Names in a form in which spellings of one name are equal."""

import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.retrieval.names import normalize, stem, words
from reasoner.testing.strategies import names

LATIN = st.text("abcdefghijklmnopqrstuvwxyzäöüé", min_size=1)


@given(name=names())
def test_a_normal_form_is_never_empty_and_never_padded(name):
    assert normalize(name) == normalize(name).strip() != ""


@given(name=names())
def test_spelling_does_not_matter(name):
    assert normalize(f"  {name}\t") == normalize(name)
    assert normalize(unicodedata.normalize("NFD", name)) == normalize(
        unicodedata.normalize("NFC", name)
    )


@given(
    parts=st.lists(LATIN, min_size=1, max_size=4),
    join=st.sampled_from(["_", "-", " ", ", ", "'", " (", "--"]),
)
def test_case_and_punctuation_are_blanks(parts, join):
    assert (
        normalize(join.join(parts).upper() + ".") == normalize(" ".join(parts)) == " ".join(parts)
    )
    assert normalize(normalize(join.join(parts))) == normalize(join.join(parts))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("type 1", "type 2"),
        ("αspirin", "aspirin"),
        ("頭痛", "片頭痛"),
        ("💊", "🩺"),
    ],
)
def test_different_names_stay_different(one, other):
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize(("one", "other"), [("कि", "का"), ("ปี", "ปู"), ("q\u0307", "q")])
def test_vowel_signs_are_part_of_a_name(one, other):
    assert normalize(one) != normalize(other)


@given(text=st.text(max_size=40))
def test_words_stand_where_they_are_said_to(text):
    found = words(text)
    assert all(normalize(word) in normalize(text[start:end]) for word, start, end in found)
    assert all(a[2] <= b[1] or a[1:] == b[1:] for a, b in itertools.pairwise(found))
    covered = {i for _, start, end in found for i in range(start, end)}
    assert {i for i, c in enumerate(text) if c.isalnum()} <= covered
    assert not any(text[i].isspace() for i in covered)


@given(word=LATIN)
def test_a_stem_is_the_word_but_for_its_ending(word):
    assert stem(word)[: len(word) - 3] == word[: len(word) - 3]
    assert 0 < len(stem(word)) <= len(word)


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("attack", "attacks"),
        ("allergy", "allergies"),
        ("rash", "rashes"),
        ("reflex", "reflexes"),
        ("abscess", "abscesses"),
        ("itch", "itches"),
        ("migraine", "migraines"),
    ],
)
def test_a_plural_has_the_stem_of_its_singular(one, many):
    assert stem(many) == stem(one)


@pytest.mark.parametrize("one", ["headache", "toothache", "size", "calorie", "virus"])
def test_a_plural_that_only_adds_s_or_es_to_a_rare_ending(one):
    many = f"{one}es" if one.endswith("s") else f"{one}s"
    assert stem(many) == stem(one)


@pytest.mark.parametrize("word", ["diagnosis", "virus", "glass", "gas", "pus", "s", "is", "頭痛"])
def test_what_is_no_plural_stays(word):
    assert stem(word) == word

"""Linking: exact before lexical before embedding, the least id where candidates are equal."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.retrieval.names import normalize
from reasoner.testing.strategies import names
from reasoner.values import LinkMethod

NAMES = st.lists(names(), min_size=1, max_size=8, unique=True)
SIMS = st.sampled_from(["cosine", "cosine01"])


def is_near(cosine):
    return [cosine, (1 - cosine**2) ** 0.5]


def test_exact_then_lexical_then_embedding(case):
    known = {
        "hypertension": [1, 0],
        "fever": [0, 1],
        "hypertensoin": [0, 1],
        "high pressure": [1, 0],
        "HYPERTENSION": [0, 1],
    }
    c = case(["hypertension", "fever"], known=known)
    assert (c.link("HYPERTENSION").method, c.link("HYPERTENSION").score) == (LinkMethod.EXACT, 1.0)
    assert c.link("hypertensiom").method is LinkMethod.LEXICAL
    assert c.embedder.asked == []  # nothing is embedded that a literal match answers
    found = c.link("high pressure")
    assert (found.method, found.entity.name, found.score) == (
        LinkMethod.EMBEDDING,
        "hypertension",
        1.0,
    )
    assert c.embedder.asked == [["high pressure"]]


@pytest.mark.parametrize(
    ("mention", "method"),
    [
        ("hypertensiom", LinkMethod.LEXICAL),
        ("hypotension", LinkMethod.NONE),
        ("hyprtension", LinkMethod.LEXICAL),
    ],
)
def test_one_wrong_letter_is_a_misspelling_and_two_are_another_word(case, mention, method):
    c = case(["hypertension"], known={"hypertension": [1, 0], mention: [0, 1]})
    assert c.link(mention).method is method


@pytest.mark.parametrize(
    ("name", "mention"),
    [
        ("type 1 diabetes", "type 2 diabetes"),
        ("coronavirus disease 2019", "coronavirus disease 2018"),
        ("interleukin six", "interleukin si6"),
    ],
)
def test_digits_are_never_misspelt(case, name, mention):
    c = case([name], known={name: [1, 0], mention: [0, 1]})
    assert c.link(mention).method is LinkMethod.NONE
    assert c.link(name.upper()).method is LinkMethod.EXACT


@pytest.mark.parametrize(
    ("name", "mention"),
    [
        ("hepatitis B", "hepatitis D"),
        ("vitamin D deficiency", "vitamin A deficiency"),
        ("hyperparathyroidism", "hypoparathyroidism"),
        ("symptomatic stenosis", "asymptomatic stenosis"),
        ("mucopolysaccharidosis type II", "mucopolysaccharidosis type I"),
    ],
)
def test_another_kind_or_the_opposite_is_no_misspelling(case, name, mention):
    c = case([name], known={name: [1, 0], mention: [0, 1]})
    assert c.link(mention).method is LinkMethod.NONE


@given(listed=NAMES)
def test_every_name_is_found_by_itself(case, listed):
    c = case(listed)
    for name, found in zip(listed, c.batch(*listed), strict=True):
        assert (found.method, found.score) == (LinkMethod.EXACT, 1.0)
        assert normalize(found.entity.name) == normalize(name)
        assert found.entity.name == listed[found.entity.id]


def test_a_name_spelt_as_it_stands_is_itself(case):
    assert case(["C", "C++"]).link("C++").entity.name == "C++"


def test_aliases_stand_for_their_entity_but_never_hide_a_name(case):
    c = case(
        ["paracetamol", "MOH", "ibuprofen"],
        [("acetaminophen", 0), ("moh", 2), ("Advil", 2), ("advil", 0)],
    )
    assert [c.link(m).entity.id for m in ("Acetaminophen", "moh", "advil", "acetaminophem")] == [
        0,
        1,
        2,
        0,
    ]
    assert c.link("Acetaminophen").entity.name == "paracetamol"
    assert c.names_in("Advil or acetaminophen") == [
        ("Advil", "ibuprofen"),
        ("acetaminophen", "paracetamol"),
    ]


@pytest.mark.parametrize(("tau", "linked"), [(0.6, True), (0.599, True), (0.6001, False)])
@pytest.mark.parametrize("sim", ["cosine", "cosine01"])
def test_tau_itself_links(case, tau, linked, sim):
    cosine = 0.6 if sim == "cosine" else 0.2
    c = case(["xxxx"], known={"xxxx": [1, 0], "query": is_near(cosine)})
    found = c.link("query", tau=tau, sim=sim)
    assert found.score == pytest.approx(0.6, abs=1e-9)
    assert (found.entity is not None) is linked
    assert found.method is (LinkMethod.EMBEDDING if linked else LinkMethod.NONE)
    assert found.nearest == "xxxx"


@given(listed=NAMES, mention=names(), tau=st.floats(0, 1))
def test_cosine01_links_where_the_cosine_is_twice_tau_less_one(case, listed, mention, tau):
    c = case(listed)
    raw, scaled = c.link(mention, tau=-1.0), c.link(mention, tau=tau, sim="cosine01")
    if raw.method is LinkMethod.EMBEDDING:
        assert scaled.score == pytest.approx((1 + raw.score) / 2)
        assert (scaled.entity is not None) == ((1 + raw.score) / 2 >= tau)
    else:
        assert scaled == raw  # a literal match has a score of its own


def test_equal_candidates_go_to_the_lower_id(case):
    known = {n: [1, 0] for n in ("xxx", "yyy", "zzz")} | {"query": [1, 0.5]}
    assert case(["zzz", "xxx", "yyy"], known=known).link("query").entity.id == 0
    assert [f.entity.id for f in case(["zzz", "xxx", "yyy"], known=known).nearest("query", 3)] == [
        0,
        1,
        2,
    ]
    assert case(["migraine a", "migraine b"]).link("migraine c").entity.id == 0


@given(listed=NAMES, mentions=st.lists(names(), max_size=6), tau=st.floats(-1, 1), sim=SIMS)
def test_a_batch_is_its_mentions_one_by_one_in_order(case, listed, mentions, tau, sim):
    c = case(listed)
    found = c.batch(*mentions, tau=tau, sim=sim)
    assert [f.mention for f in found] == mentions
    for one, together in zip((c.link(m, tau=tau, sim=sim) for m in mentions), found, strict=True):
        assert one.entity == together.entity or abs(one.score - tau) < 1e-5
        assert one.score == pytest.approx(together.score, abs=2e-6)


@pytest.mark.parametrize("mention", ["", "   ", "???"])
def test_a_mention_without_words_does_no_harm(case, mention):
    assert case(["abc"], known={"abc": [1, 0], mention: [0, 1]}).link(mention).entity is None


def test_no_mentions_no_links(case):
    assert case(["a"]).batch() == []
    assert case([]).nearest("x", 3) == []
    assert case([]).names_in("x") == []


def test_without_names_the_mention_is_kept(case):
    assert case([]).link("x").mention == "x"


# ---- names in a text ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Can rashes follow neck pains?", ["rash", "neck pain"]),
        ("medication-overuse headache, and HEADACHE", ["medication overuse headache", "headache"]),
        pytest.param(
            "Can headaches follow neck pain?",
            ["headache", "neck pain"]
        ),
        ("Headache. Headache!", ["headache", "headache"]),
        ("food allergies", ["food allergy"]),
        ("heada che, aneck pains", []),
        ("neck\n pain", ["neck pain"]),
        ("", []),
    ],
)
def test_the_longest_name_is_found_also_in_the_plural(case, text, wanted):
    c = case(
        [
            "headache",
            "neck pain",
            "medication overuse headache",
            "overuse",
            "food allergy",
            "neck",
            "rash",
        ]
    )
    assert [n for _, n in c.names_in(text)] == wanted
    assert all(mention in text for mention, _ in c.names_in(text))


@given(
    listed=st.lists(st.text("abcdé", min_size=4, max_size=8), min_size=1, max_size=5, unique=True),
    data=st.data(),
)
def test_names_are_found_in_order_of_the_text(case, listed, data):
    said = data.draw(st.lists(st.sampled_from(listed), max_size=5))
    text = "".join(f"{n.upper()}, with " for n in said)
    assert case([*listed, "zz"]).names_in(text) == [(n.upper(), n) for n in said]


@pytest.mark.parametrize("name", ["Ａspirin", "cafe\u0301", "x²y"])
def test_a_name_is_found_in_the_text_that_is_its_name(case, name):
    assert case([name]).names_in(f"take {name} now") == [(name, name)]


# ---- nearest -----------------------------------------------------------------------------


@given(listed=NAMES, text=names(), limit=st.integers(0, 10))
def test_nearest_are_ordered_by_cosine_then_id(case, listed, text, limit):
    c = case(listed)
    found = c.nearest(text, limit)
    cosines = np.round(np.stack([c.embedder.one(n) for n in listed]) @ c.embedder.one(text), 6)
    assert [f.entity.id for f in found] == sorted(
        range(len(listed)), key=lambda i: (-cosines[i], i)
    )[:limit]
    assert [f.score for f in found] == sorted((f.score for f in found), reverse=True)
    assert all(f.mention == text for f in found)


# ---- the real embedder -------------------------------------------------------------------


@pytest.mark.weights
def test_the_numbers_of_methods_with_minilm():
    from reasoner.models.embed import SentenceEmbedder

    embedder = SentenceEmbedder()
    pairs = {
        ("runny nose", "nasal congestion"): 0.61,
        ("abdominal pain", "lower abdominal pain"): 0.89,
    }
    for (one, other), cosine in pairs.items():
        assert asyncio.run(embedder.similarity(one, [other])) == [pytest.approx(cosine, abs=0.01)]
    rows = asyncio.run(embedder.vectors(["headache", "migraine", "headache"]))
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (rows[0] == rows[2]).all()
    assert (
        rows[1] == asyncio.run(SentenceEmbedder().vectors(["migraine"]))[0]
    ).all()  # alone or not
    assert np.allclose(embedder.bulk(["headache", "migraine"]), rows[:2], atol=1e-5)
    assert asyncio.run(embedder.similarity("x", [])) == []

"""``link``: through the real linker of a graph, with an embedder that needs no weights."""

import asyncio
import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api
from reasoner.errors import RunError
from reasoner.operators.link import link
from reasoner.operators.neighbors import neighbors
from reasoner.retrieval.names import normalize
from reasoner.testing.strategies import names, triples
from reasoner.values import Evidence, LinkMethod


class HashEmbedder:
    """Vectors that are the same for the same text and unrelated for any other."""

    id = "hash"

    def bulk(self, texts):
        seeds = [int.from_bytes(hashlib.sha256(t.encode()).digest()[:4], "big") for t in texts]
        rows = np.array([np.random.default_rng(s).normal(size=16) for s in seeds], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def vectors(self, texts):
        return self.bulk(texts)

    async def similarity(self, text, others):
        return [float(c) for c in self.bulk(others) @ self.bulk([text])[0]]


def linking(w):
    linker = api.open_linker(w.graph, HashEmbedder())
    return replace(w.context, linker=linker, embedder=HashEmbedder())


@given(rows=triples(nodes=names()))
def test_a_name_links_to_an_entity_of_the_same_normal_form(world, rows):
    w = world(rows)
    context = linking(w)
    for name in w.names:
        found = asyncio.run(link(context, name))
        assert (found.score, found.method, found.mention) == (1.0, LinkMethod.EXACT, name)
        assert normalize(found.entity.name) == normalize(name)
        assert found.entity.name == w.graph.store.names[found.entity.id]
        again = asyncio.run(link(context, f"  {name.upper()}. ")) if name.isascii() else found
        assert not normalize(name).isalnum() or normalize(again.entity.name) == normalize(name)


@given(
    rows=triples(nodes=names()),
    mention=names(),
    tau=st.floats(-1, 1),
    sim=st.sampled_from(["cosine", "cosine01"]),
)
def test_tau_is_the_least_similarity_that_links(world, rows, mention, tau, sim):
    context = linking(world(rows))
    found = asyncio.run(link(context, mention, tau=tau, sim=sim))
    assert found.mention == mention
    if found.method in (LinkMethod.EMBEDDING, LinkMethod.NONE):
        assert (
            (found.score >= tau)
            == (found.entity is not None)
            == (found.method is LinkMethod.EMBEDDING)
        )
        cosines = np.round(
            HashEmbedder().bulk(context.graph.store.names) @ HashEmbedder().bulk([mention])[0], 6
        )
        best = float(cosines.max())
        assert found.score == pytest.approx(best if sim == "cosine" else (1 + best) / 2, abs=1e-5)
        assert found.nearest == context.graph.store.names[int(cosines.argmax())]


def test_below_tau_nothing_is_searched_and_the_mention_is_missed(world):
    w = world([("aspirin", "treats", "headache")])
    found = asyncio.run(link(linking(w), "qwertyuiop", tau=0.999))
    assert (found.entity, found.method) == (None, LinkMethod.NONE)
    assert found.nearest in w.names
    assert w.run(neighbors, found) == Evidence(missed=(found,))


def test_tau_is_pinned_to_its_embedder(world):
    context = linking(world([("a", "r", "b")]))
    assert asyncio.run(link(context, "a", embedder="hash")).entity.name == "a"
    with pytest.raises(RunError, match="pinned to the embedder 'mpnet', but this run has 'hash'"):
        asyncio.run(link(context, "a", embedder="mpnet"))

"""A linker whose vectors a test chooses."""

import asyncio

import numpy as np
import pytest

from reasoner.retrieval.link import NameLinker


class Vectors:
    """Given vectors by text; any other text counts its letters. Remembers what was embedded."""

    id = "letters"

    def __init__(self, known=None):
        self.known, self.asked = dict(known or {}), []

    def one(self, text):
        row = np.asarray(
            self.known.get(text, [1 + text.count(c) for c in "abcdefgh"]), dtype=np.float32
        )
        row = np.pad(row, (0, 8 - len(row)))
        return row / np.linalg.norm(row)

    async def vectors(self, texts):
        self.asked.append(list(texts))
        return np.stack([self.one(t) for t in texts])


class Case:
    """A linker over names, called without ``await``."""

    def __init__(self, names, aliases=(), known=None):
        self.names, self.embedder = list(names), Vectors(known)

        async def matrix():
            return np.stack([self.embedder.one(n) for n in self.names])

        self.linker = NameLinker(self.names, aliases, self.embedder, matrix)

    def batch(self, *mentions, tau=0.7, sim="cosine"):
        return asyncio.run(self.linker.link(mentions, tau=tau, sim=sim))

    def link(self, mention, **options):
        (found,) = self.batch(mention, **options)
        return found

    def names_in(self, text):
        return [(f.mention, f.entity.name) for f in asyncio.run(self.linker.names_in(text))]

    def nearest(self, text, limit):
        return asyncio.run(self.linker.nearest(text, limit))


@pytest.fixture(scope="session")
def case():
    return Case

"""A graph beside the plain list of facts it was made from, so that each test can be its own oracle."""

import asyncio

import pytest

from reasoner.op import Context
from reasoner.testing import LiteralLinker, WordEmbedder
from reasoner.testing.strategies import graph_of
from reasoner.values import Entity, Linked, LinkMethod


class World:
    """A compiled graph, and ``facts``: ``{id: (head, relation, tail, weight, strength)}``."""

    def __init__(self, rows, folder, manifest=None, *, weights=None, strengths=None):
        self.graph = graph_of(rows, folder, manifest, weights=weights, strengths=strengths)
        ones = [1.0] * len(rows)
        facts = {}
        for row, weight, strength in zip(rows, weights or ones, strengths or ones, strict=True):
            facts.setdefault(row, (*row, weight, strength))
        self.facts = dict(enumerate(facts.values()))
        declared = manifest.relations if manifest else ()
        seen = [f[1] for f in self.facts.values()]
        self.relations = [r for r in dict.fromkeys([*declared, *seen]) if r in seen]
        self.names = list(dict.fromkeys(n for f in self.facts.values() for n in (f[0], f[2])))
        self.context = Context(graph=self.graph, linker=LiteralLinker(), embedder=WordEmbedder())

    def at(self, name):
        return Linked(name, Entity(self.graph.store.names.index(name), name), 1.0, LinkMethod.EXACT)

    def run(self, operator, *args, **options):
        return asyncio.run(operator(self.context, *args, **options))

    def named(self, triples):
        return [self.facts[t][:3] for t in triples]

    def along(self, path, source):
        """The names on a path, from its source on."""
        names = [source]
        for head, _, tail in self.named(path):
            names.append(tail if head == names[-1] else head)
        return names


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")

    def make(rows, manifest=None, **columns):
        return World(rows, folder, manifest, **columns)

    return make


@pytest.fixture(scope="session")
def nowhere():
    return Linked("zzz", None, 0.2, LinkMethod.NONE, "aaa")

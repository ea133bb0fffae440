"""A knowledge graph and its views, over one compiled store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from reasoner.errors import RunError, did_you_mean
from reasoner.kg.adjacency import Adjacency
from reasoner.kg.store import Store
from reasoner.op import Direction, Fact
from reasoner.values import Entity, EntityId, Evidence, TripleId

if TYPE_CHECKING:
    import graph_tool

#: Most steps of one search for paths: a bound on time, far above what a question needs.
WORK = 500_000
#: A step: the triples that lead to a node, and that node.
_Step = tuple[list[int], int]


@dataclass(frozen=True)
class KnowledgeGraph:
    """The triples of a store that fit a filter; ids are those of the store.

    Attributes
    ----------
    allowed
        The relations (rows of the relations table) that are seen; none means all.
    min_strength
        The least strength of a triple that is seen; none means any.
    """

    store: Store
    allowed: frozenset[int] | None = None
    min_strength: float | None = field(default=None)

    @property
    def fingerprint(self) -> str:
        """The hash of the graph's content."""
        return self.store.fingerprint

    @property
    def conflicts(self) -> frozenset[frozenset[str]]:
        """Pairs of relations that exclude each other, in the main direction."""
        return self.store.conflicts

    def entity(self, entity: EntityId) -> Entity:
        """Return an entity by id."""
        return Entity(entity, self.store.names[entity])

    def fact(self, triple: TripleId) -> Fact:
        """Return a triple with its names."""
        h, r, t = (int(column[triple]) for column in self.store.columns)
        relation = self.store.relations[r].name
        return Fact(self.entity(EntityId(h)), relation, self.entity(EntityId(t)))

    def sentence(self, triple: TripleId) -> str:
        """Return a triple in words, by the template of its relation."""
        h, r, t = (int(column[triple]) for column in self.store.columns)
        names = self.store.names
        return self.store.relations[r].say(names[h], names[t])

    def symmetric(self, relation: str) -> bool:
        """Say whether a relation is its own inverse."""
        rows = self.store.relations
        return any(r.name == relation and r.inverse == i for i, r in enumerate(rows))

    def main_reading(self, triple: TripleId) -> Fact:
        """Return a triple in the main direction of its relation; symmetric ones by name."""
        fact = self.fact(triple)
        row = self.store.relations[int(self.store.columns[1][triple])]
        main = self.store.relations[row.main].name
        if row.inverse is not None and self.store.relations[row.inverse].name == row.name:
            head, tail = sorted((fact.head, fact.tail), key=lambda e: (e.name, e.id))
            return Fact(head, main, tail)
        return fact if main == row.name else Fact(fact.tail, main, fact.head)

    def grouped(self, triples: Sequence[TripleId]) -> list[tuple[str, tuple[TripleId, ...]]]:
        """Return one sentence for all triples of one head and relation, in order of the first."""
        groups: dict[tuple[int, int], list[TripleId]] = {}
        for triple in triples:
            h, r, _ = (int(column[triple]) for column in self.store.columns)
            groups.setdefault((h, r), []).append(triple)
        names = self.store.names
        found = []
        for (h, r), members in groups.items():
            tails = [names[int(self.store.columns[2][t])] for t in members]
            listed = tails[0] if len(tails) == 1 else f"{', '.join(tails[:-1])} and {tails[-1]}"
            found.append((self.store.relations[r].say(names[h], listed), tuple(members)))
        return found

    def view(
        self, *, relations: Sequence[str] | None, min_strength: float | None
    ) -> "KnowledgeGraph":
        """Return this graph restricted further."""
        allowed = self.allowed
        if relations is not None:
            rows = self._rows(relations)
            allowed = rows if allowed is None else allowed & rows
        least = max((s for s in (self.min_strength, min_strength) if s is not None), default=None)
        return KnowledgeGraph(self.store, allowed, least)

    def neighbors(
        self,
        entity: EntityId,
        *,
        per_relation: int,
        direction: Direction,
        relations: Sequence[str] | None,
    ) -> Evidence:
        """Return the triples at an entity; see the operator of this name."""
        allowed = self.allowed
        if relations is not None:
            rows = self._rows(relations)
            allowed = rows if allowed is None else allowed & rows
        kept: dict[TripleId, None] = {}
        truncated = 0
        most = max(0, per_relation)
        for number, side in enumerate(self._sides(direction)):
            for relation, start, end in side.runs(entity):
                if allowed is not None and relation not in allowed:
                    continue
                edges = side.edges[start:end]
                if number:  # a loop stands on both sides, and counts on the first
                    edges = edges[side.others[start:end] != entity]
                if self.min_strength is not None:
                    edges = edges[self.store.strength[edges] >= self.min_strength]
                kept.update((TripleId(int(e)), None) for e in edges[:most])
                truncated += len(edges[most:])
        return Evidence(triples=tuple(kept), truncated=truncated)

    def paths(
        self,
        source: EntityId,
        target: EntityId,
        *,
        max_hops: int,
        direction: Direction,
        limit: int,
    ) -> Evidence:
        """Return simple paths; see the operator of this name."""
        if source == target:
            return Evidence()
        hops_most = min(max_hops, len(self.store.names) - 1)  # a simple path has no more
        remaining = self._distances(target, hops_most - 1, direction)
        found: list[tuple[TripleId, ...]] = []
        work = [WORK]
        for hops in range(1, hops_most + 1):
            for path in self._walk(source, target, hops, direction, remaining, work):
                found.append(path)
                if len(found) > limit:
                    break
            if len(found) > limit or work[0] <= 0:
                break
        kept = tuple(found[:limit])
        triples = dict.fromkeys(t for path in kept for t in path)
        cut = int(len(found) > limit or work[0] <= 0)
        return Evidence(triples=tuple(triples), paths=kept, truncated=cut)

    @cached_property
    def topology(self) -> "graph_tool.Graph":
        """The graph as a `graph_tool.Graph` whose edge index is the triple's id.

        A view is a `graph_tool.GraphView` of the whole, so ids stay what they are.
        """
        whole = self.store.topology
        if self.allowed is None and self.min_strength is None:
            return whole
        import graph_tool

        seen = self._seen(np.arange(self.store.triples.height))
        mask = whole.new_edge_property("bool")
        mask.a = seen
        return graph_tool.GraphView(whole, efilt=mask)

    # ---- walking -------------------------------------------------------------------------

    def _sides(self, direction: Direction) -> tuple[Adjacency, ...]:
        match direction:
            case "out":
                return (self.store.out,)
            case "in":
                return (self.store.into,)
            case "any":
                return (self.store.out, self.store.into)

    def _at(self, side: Adjacency, node: int) -> tuple[Any, Any]:
        """Return (triples, other ends) at a node, as far as the filter lets them through."""
        span = side.span(node)
        edges, others = side.edges[span], side.others[span]
        if self.allowed is None and self.min_strength is None:
            return edges, others
        keep = self._seen(edges)
        return edges[keep], others[keep]

    def _seen(self, edges: Any) -> Any:
        """Say of each triple whether the filter lets it through: bool, shape of ``edges``."""
        keep = np.ones(len(edges), dtype=bool)
        if self.allowed is not None:
            keep &= np.isin(self.store.columns[1][edges], sorted(self.allowed))
        if self.min_strength is not None:
            keep &= self.store.strength[edges] >= self.min_strength
        return keep

    def _distances(self, target: int, hops: int, direction: Direction) -> dict[int, int]:
        """Return how many steps each node within ``hops`` is away from the target."""
        back: Direction = {"out": "in", "in": "out", "any": "any"}[direction]  # type: ignore[assignment]
        distance = {target: 0}
        layer = [target]
        for step in range(1, hops + 1):
            reached: list[int] = []
            for node in layer:
                for side in self._sides(back):
                    for other in self._at(side, node)[1].tolist():
                        if other not in distance:
                            distance[other] = step
                            reached.append(other)
            layer = reached
        return distance

    def _walk(
        self,
        source: int,
        target: int,
        hops: int,
        direction: Direction,
        left: dict[int, int],
        work: list[int],
    ) -> Iterator[tuple[TripleId, ...]]:
        """Yield simple paths of exactly ``hops`` triples, in order of names and ids on the way.

        ``work`` holds the steps that may still be taken; at zero the walk ends.
        """
        stack: list[Iterator[_Step]] = [self._steps(source, hops, direction, left)]
        nodes: list[int] = [source]
        choices: list[list[int]] = []
        while stack:
            step = next(stack[-1], None)
            work[0] -= 1
            if work[0] <= 0:
                return
            if step is None:
                stack.pop()
                nodes.pop()
                if choices:
                    choices.pop()
                continue
            edges, node = step
            depth = len(stack)
            if node in nodes or (node == target) != (depth == hops):
                continue
            if depth == hops:
                for path in product(*choices, edges):
                    yield tuple(TripleId(t) for t in path)
                continue
            nodes.append(node)
            choices.append(edges)
            stack.append(self._steps(node, hops - depth, direction, left))

    def _steps(
        self, node: int, hops: int, direction: Direction, left: dict[int, int]
    ) -> Iterator[_Step]:
        """Yield the nodes after which the target can still be reached in time, by name."""
        rank = self.store.name_rank
        steps: dict[int, list[int]] = {}
        for side in self._sides(direction):
            edges, others = self._at(side, node)
            for edge, other in zip(edges.tolist(), others.tolist(), strict=True):
                if left.get(other, hops) < hops:
                    steps.setdefault(other, []).append(edge)
        for other in sorted(steps, key=lambda n: int(rank[n])):
            yield sorted(steps[other]), other

    def _rows(self, relations: Sequence[str]) -> frozenset[int]:
        known = {row.name: i for i, row in enumerate(self.store.relations)}
        for name in relations:
            if name not in known:
                raise RunError(
                    f"the graph has no relation {name!r}; {did_you_mean(name, known)} "
                    f"it has: {', '.join(known)}"
                )
        return frozenset(known[name] for name in relations)

"""The triples at a node, in two levels: node -> runs of one relation -> edges.

What a lookup costs depends on the number of relations at the node and on the limit, never on
the node's degree, so hubs are harmless.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """One direction of a graph with ``n`` nodes, ``m`` edges and ``r`` (node, relation) runs.

    Attributes
    ----------
    node_runs
        int64, shape ``(n + 1,)``: the runs of node ``v`` are ``node_runs[v]:node_runs[v + 1]``.
    run_relation
        int32, shape ``(r,)``: relations in the order of the relations table.
    run_edges
        int64, shape ``(r + 1,)``: the places of a run in ``edges`` and ``others``.
    edges
        int32, shape ``(m,)``: ids of triples; within a run by weight descending, then the name
        of the other end, then id.
    others
        int32, shape ``(m,)``: the node at the other end.
    """

    node_runs: Longs
    run_relation: Ints
    run_edges: Longs
    edges: Ints
    others: Ints

    def runs(self, node: int) -> Iterator[tuple[int, int, int]]:
        """Yield ``(relation, start, end)`` of each run of a node."""
        for run in range(int(self.node_runs[node]), int(self.node_runs[node + 1])):
            bounds = self.run_edges[run : run + 2]
            yield int(self.run_relation[run]), int(bounds[0]), int(bounds[1])

    def span(self, node: int) -> slice:
        """Return where all edges of a node stand in ``edges``."""
        first, last = self.node_runs[node], self.node_runs[node + 1]
        return slice(int(self.run_edges[first]), int(self.run_edges[last]))

    def save(self, folder: Path, name: str) -> None:
        """Write the arrays as ``<name>.<field>.npy``."""
        for field in ARRAYS:
            np.save(folder / f"{name}.{field}.npy", getattr(self, field))


ARRAYS = ("node_runs", "run_relation", "run_edges", "edges", "others")


def load(folder: Path, name: str) -> Adjacency:
    """Map the arrays that `Adjacency.save` wrote."""
    arrays = [np.load(folder / f"{name}.{f}.npy", mmap_mode="r") for f in ARRAYS]
    return Adjacency(*arrays)


def build(
    start: Ints, relation: Ints, other: Ints, weight: Floats, name_rank: Ints, nodes: int
) -> Adjacency:
    """Sort edges into an adjacency; ``start[i]`` and ``other[i]`` are the ends of triple ``i``."""
    order = np.lexsort((name_rank[other], -weight, relation, start)).astype(np.int32)
    sorted_start, sorted_relation = start[order], relation[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (sorted_start[1:] != sorted_start[:-1]) | (
        sorted_relation[1:] != sorted_relation[:-1]
    )
    first = np.flatnonzero(fresh)
    run_edges = np.append(first, len(order)).astype(np.int64)
    counts = np.bincount(sorted_start[first], minlength=nodes)
    node_runs = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Adjacency(
        node_runs, sorted_relation[first].astype(np.int32), run_edges, order, other[order]
    )

"""What a graph holds, in numbers."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from reasoner.kg.graph import KnowledgeGraph
from reasoner.values import TripleId


def describe(graph: KnowledgeGraph) -> dict[str, Any]:
    """Return counts, degrees, relations with an example each, components and warnings.

    ``components`` is None where graph-tool is not installed.
    """
    store = graph.store
    head, relation, tail = store.columns
    degree = np.bincount(head, minlength=len(store.names)) + np.bincount(
        tail, minlength=len(store.names)
    )
    hub = int(np.argmax(degree))
    counts = np.bincount(relation, minlength=len(store.relations))
    rows, warnings = [], []
    for index, row in enumerate(store.relations):
        first = int(np.argmax(relation == index))
        inverse = None if row.inverse is None else store.relations[row.inverse]
        rows.append(
            {
                "name": row.name,
                "triples": int(counts[index]),
                "inverse": inverse.name if inverse else None,
                "strength": row.strength,
                "example": graph.sentence(TripleId(first)),
            }
        )
        if inverse is not None and counts[index] != counts[row.inverse]:
            warnings.append(
                f"{row.name} has {counts[index]} triples, its inverse {inverse.name} {counts[row.inverse]}"
            )
    components = _components(graph) if find_spec("graph_tool") else None
    return {
        "name": store.name,
        "fingerprint": store.fingerprint,
        "folder": str(store.folder),
        "entities": len(store.names),
        "triples": store.triples.height,
        "relations": rows,
        "degree": {
            "median": float(np.median(degree)),
            "most": int(degree[hub]),
            "hub": store.names[hub],
        },
        "components": len(components) if components is not None else None,
        "largest": int(max(components)) if components is not None else None,
        "dropped": {
            "empty_cell": store.dropped.empty_cell,
            "duplicate": store.dropped.duplicate,
        },
        "warnings": warnings,
    }


def _components(graph: KnowledgeGraph) -> Any:
    """Return the sizes of the weakly connected components: int, shape ``(components,)``."""
    from graph_tool.topology import label_components

    return label_components(graph.topology, directed=False)[1]

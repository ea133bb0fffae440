"""``view``: a part of the graph."""

from collections.abc import Sequence

from reasoner.op import Context, Effect, Graph, Share, operator


@operator(effect=Effect.GRAPH)
async def view(
    ctx: Context,
    *,
    relations: Sequence[str] | None = None,
    min_strength: Share | None = None,
    graph: Graph | None = None,
) -> Graph:
    """Return the graph restricted to some of its triples.

    CGMT eq. 1: ``G' = {(u, r, v) : r in relations, strength(u, r, v) >= min_strength}``. Ids
    of entities and triples are those of the whole graph; nothing is copied.

    Parameters
    ----------
    relations
        Only these relations; none means all.
    min_strength
        The least strength of a triple, in [0, 1]; none means any.
    graph
        A view to restrict further instead of the whole graph.

    Returns
    -------
    Graph
        A view; use it as ``graph:`` of other operators.
    """
    wanted = None if min_strength is None else float(min_strength)
    return (graph or ctx.graph).view(relations=relations, min_strength=wanted)

"""``paths``: chains of triples between two entities."""

from reasoner.op import Context, Direction, Effect, Graph, operator
from reasoner.values import Evidence, Linked


@operator(effect=Effect.GRAPH, searches=1)
async def paths(
    ctx: Context,
    source: Linked,
    target: Linked,
    *,
    max_hops: int = 3,
    limit: int = 5,
    direction: Direction = "out",
    graph: Graph | None = None,
) -> Evidence:
    """Return simple typed paths from one entity to another, shortest first.

    MIRAGE eq. 4: chains ``source -r1-> ... -rL-> target`` with ``L <= max_hops``; no entity
    occurs twice. Order: number of hops, then the names along the path, then the ids of the
    triples; the limit is applied to that order, so it never cuts a shorter path for a longer one.

    Parameters
    ----------
    source, target
        Linked mentions; if either linked to nothing there are no paths and it is in ``missed``.
    max_hops
        The most triples on a path, h in the paper.
    limit
        The most paths.
    direction
        ``out`` follows triples from head to tail, ``in`` from tail to head, ``any`` both ways.
    graph
        A view to look in instead of the whole graph.

    Returns
    -------
    Evidence
        With ``truncated`` 1 if there are more paths than the limit, and 0 otherwise.
    """
    missed = tuple(m for m in (source, target) if m.entity is None)
    if source.entity is None or target.entity is None:
        return Evidence(missed=missed)
    return (graph or ctx.graph).paths(
        source.entity.id,
        target.entity.id,
        max_hops=int(max_hops),
        direction=direction,
        limit=int(limit),
    )

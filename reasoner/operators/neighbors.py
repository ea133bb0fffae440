"""``neighbors``: the triples at an entity."""

from collections.abc import Sequence

from reasoner.op import Context, Direction, Effect, Graph, operator
from reasoner.values import Evidence, Linked


@operator(effect=Effect.GRAPH, searches=1)
async def neighbors(
    ctx: Context,
    at: Linked,
    *,
    per_relation: int = 10,
    direction: Direction = "out",
    relations: Sequence[str] | None = None,
    graph: Graph | None = None,
) -> Evidence:
    """Return the triples at an entity, at most ``per_relation`` for each relation.

    MIRAGE eq. 3: ``N(e) = {(e, r, e') in G}``. The limit holds for each relation, not for the
    entity, and what it cuts is counted. Order: relation in the order of the graph, then weight
    descending, then the neighbour's name, then id.

    Parameters
    ----------
    at
        A linked mention. One that linked to nothing gives no triples and is listed in ``missed``.
    per_relation
        The most triples for each relation (and direction), k in the paper.
    direction
        ``out`` (head is the entity), ``in``, or ``any``.
    relations
        Only these relations; none means all.
    graph
        A view to look in instead of the whole graph.

    Returns
    -------
    Evidence
        With ``truncated`` the number of triples that the limit left out.
    """
    if at.entity is None:
        return Evidence(missed=(at,))
    return (graph or ctx.graph).neighbors(
        at.entity.id, per_relation=int(per_relation), direction=direction, relations=relations
    )

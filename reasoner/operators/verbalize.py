"""``verbalize``: evidence in words."""

from collections.abc import Sequence

from reasoner.op import Context, Effect, operator
from reasoner.values import Evidence


@operator(effect=Effect.GRAPH)
async def verbalize(ctx: Context, evidence: Evidence) -> Sequence[str]:
    """Return one sentence for each triple of the evidence.

    MIRAGE eq. 5, with a template for each relation from the graph's manifest; the head stands
    in the head's slot and the tail in the tail's, for every relation and its inverse.

    Parameters
    ----------
    evidence
        What was retrieved; its paths are spoken of through their triples.

    Returns
    -------
    List[Text]
        In the order of the evidence; empty for empty evidence.
    """
    return tuple(ctx.graph.sentence(t) for t in evidence.triples)

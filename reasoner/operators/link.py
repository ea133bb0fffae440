"""``link``: a mention to an entity of the graph."""

from reasoner.errors import RunError
from reasoner.op import Context, Effect, Share, Similarity, operator
from reasoner.values import Linked


@operator(effect=Effect.EMBED, embeddings=1)
async def link(
    ctx: Context,
    mention: str,
    *,
    tau: Share = 0.7,
    sim: Similarity = "cosine",
    embedder: str | None = None,
) -> Linked:
    """Link a mention to the entity whose name is most similar, or to none.

    MIRAGE eq. 1: the entity is ``argmax_e sim(mention, name(e))`` if that similarity is at
    least ``tau``. Three stages, the first that answers wins: the same name after normalising
    (score 1), a near-identical spelling (score: Levenshtein similarity), the most similar name
    by embedding (score: cosine, or ``(1 + cosine) / 2`` with ``sim: "cosine01"``). Ties go to
    the entity with the lower id.

    Parameters
    ----------
    mention
        A name as it stands in a question or in a reply.
    tau
        The least similarity that links; it means something for one embedder only.
    sim
        How the cosine of two names becomes a similarity.
    embedder
        The embedder that ``tau`` was chosen for; a run with another one is refused.

    Returns
    -------
    Linked
        With ``entity`` none if nothing was similar enough; ``nearest`` names the best candidate.

    Raises
    ------
    RunError
        If the run's embedder is not the one that ``tau`` is pinned to.
    """
    if embedder is not None and embedder != ctx.embedder.id:
        raise RunError(
            f"tau is pinned to the embedder {embedder!r}, but this run has {ctx.embedder.id!r}; "
            "set both: --embedder NAME --set embedder=NAME --set tau=..."
        )
    (linked,) = await ctx.linker.link([mention], tau=float(tau), sim=sim)
    return linked

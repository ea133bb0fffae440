"""``join``: partial answers put together without a model."""

from collections.abc import Sequence

from reasoner.op import Context, Effect, operator
from reasoner.values import Answer, Candidate, Chain, ChainStatus, Citation


@operator(effect=Effect.PURE)
async def join(ctx: Context, chains: Sequence[Chain]) -> Answer:
    """Return the answers of chains one after another, with their citations moved along.

    A single completed chain gives its own answer; several are separated by blank lines, in
    order. Chains that failed and empty answers are left out. A candidate keeps its best score.

    Parameters
    ----------
    chains
        Finished dialogs.

    Returns
    -------
    Answer
        With an empty text if no chain has an answer.
    """
    del ctx
    answers = [c.answer for c in chains if c.status is not ChainStatus.FAILED and c.answer.text]
    if len(answers) == 1:
        return answers[0]
    texts: list[str] = []
    citations: list[Citation] = []
    scores: dict[str, float] = {}
    length = 0
    for answer in answers:
        if texts:
            length += 2
        citations += [Citation(c.start + length, c.end + length, c.ids) for c in answer.citations]
        texts.append(answer.text)
        length += len(answer.text)
        for candidate in answer.candidates:
            scores[candidate.name] = max(candidate.score, scores.get(candidate.name, 0.0))
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return Answer(
        "\n\n".join(texts),
        tuple(citations),
        tuple(Candidate(name, score) for name, score in ranked),
        partial=any(a.partial for a in answers),
        rejected=tuple(dict.fromkeys(i for a in answers for i in a.rejected)),
    )

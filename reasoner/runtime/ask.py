"""One typed model call: prompt out, reply read, asked again if it does not fit."""

from collections.abc import Mapping
from decimal import Decimal

from reasoner.chat import Capability, Message, Request, View
from reasoner.errors import BudgetError, ModelError
from reasoner.plan import AskStep, PromptPlan
from reasoner.runtime import render, replies
from reasoner.runtime.budget import Budget
from reasoner.runtime.session import Session
from reasoner.types import ANSWER
from reasoner.values import Answer, shown_ids


async def ask(
    session: Session,
    step: AskStep,
    prompt: PromptPlan,
    values: Mapping[str, object],
    *,
    limit: int | None,
    settings: Mapping[str, Decimal],
    path: str,
    budget: Budget,
    closing: bool,
) -> object:
    """Return the typed result of a prompt.

    A reply that no parser reads, or that cites what was never retrieved, is sent back with the
    reason, at most ``step.retries`` times. After that a citation that is forged is taken out
    of the answer and reported, and a decomposition that cannot be read is the question itself
    (METHODS 1.1, rung c); anything else fails.

    Raises
    ------
    ModelError
        If the model gave no readable reply.
    BudgetError
        If a limit is reached.
    """
    model = session.models[step.role]
    shape = replies.schema(prompt.returns, limit)
    able = Capability.JSON_SCHEMA in model.capabilities
    text = render.fill(prompt, values, session.context.graph)
    if shape is not None and not able:
        text += "\n\n" + _form(shape)
    messages = [Message("user", text)]
    view = View(task=prompt.task, returns=prompt.returns, inputs=values, limit=limit)
    schema = shape if able else None
    shown = shown_ids(tuple(values.values())) if prompt.returns == ANSWER else frozenset()
    problem = ""
    result: object = None  # the last reply that could be read, even if it cites what it must not
    for attempt in range(step.retries + 1):
        sent = Request(messages=tuple(messages), view=view, schema=schema, settings=settings)
        place = path if attempt == 0 else f"{path}.again[{attempt}]"
        try:
            reply = await session.call(step.role, sent, place, budget, closing=closing)
        except BudgetError:
            if result is None:
                raise
            break
        try:
            result = replies.read(prompt.returns, reply.text, shown)
            problem = _forged(result)
        except replies.Misfit as misfit:
            problem = str(misfit)
            if reply.finish == "length":
                problem += " (the reply was cut at the most tokens)"
        if not problem:
            break
        session.trace.add("misfit", path, attempt=attempt, reason=problem, reply=reply.text[:2000])
        complaint = f"{problem}. Answer again, in the form that was asked for."
        messages += [Message("assistant", reply.text), Message("user", complaint)]
    if result is None:
        result = _fallback(session, prompt, values, path, problem)
    if isinstance(result, tuple) and limit is not None and len(result) > limit:
        session.trace.add("truncated", path, kept=limit, dropped=list(result[limit:]))
        result = result[:limit]
    if isinstance(result, Answer) and result.rejected:
        session.trace.add("rejected_citations", path, ids=list(result.rejected))
    return result


def _forged(result: object) -> str:
    if isinstance(result, Answer) and result.rejected:
        ids = ", ".join(result.rejected[:10])
        return f"these ids were never retrieved: {ids}; cite only ids from the evidence"
    return ""


def _fallback(
    session: Session,
    prompt: PromptPlan,
    values: Mapping[str, object],
    path: str,
    problem: str,
) -> object:
    if prompt.task == "decompose":
        question = next((v for v in values.values() if isinstance(v, str)), None)
        if question is not None:
            session.trace.add("fallback", path, reason=problem, used="the question, undivided")
            return (question,)
    raise ModelError(f"{prompt.name}: no readable reply: {problem}")


def _form(shape: replies.Schema) -> str:
    """Return the words that ask a model without constrained decoding for a form."""
    if "items" in shape["properties"]:
        return "Reply with one item per line, numbered 1., 2., ... and nothing else."
    return "Reply with the answer only. Cite evidence as [T1] after each sentence that rests on it."

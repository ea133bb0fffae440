"""A plan and its inputs to an answer and a record: every run ends in one typed outcome."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from reasoner.chat import Capability, ChatModel
from reasoner.errors import BudgetError, CapabilityError, ReasonerError, RunError
from reasoner.harmless import harmless
from reasoner.plan import AskStep, DialogStep, Plan, refs, steps
from reasoner.record import AuditRecord
from reasoner.runtime import citations, render, report
from reasoner.runtime.budget import Budget
from reasoner.runtime.executor import Executor, best_so_far
from reasoner.runtime.session import Session
from reasoner.values import Answer, Chain, ChainStatus, Evidence, Findings, union

#: Most sentences of evidence that a partial answer quotes for a chain without an answer.
QUOTED = 5


class SystemClock:
    """The clock of the machine."""

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def wall(self) -> float:
        """Return seconds since 1970."""
        return time.time()  # noqa: TID251 - this is the clock that everyone else reads

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, repr=False)  # asyncio prints results of tasks: keep that cheap
class Outcome:
    """How a run ended: its value (None if it failed), its record, and the error, if any."""

    value: object
    record: AuditRecord
    error: ReasonerError | None = None


def negotiate(plan: Plan, models: Mapping[str, ChatModel]) -> list[str]:
    """Check before a run that every role has a model, and say what will be emulated.

    Returns
    -------
    list of str
        One line per declared emulation, in the order of the plan.

    Raises
    ------
    CapabilityError
        If a role has no model, or one that cannot do what is asked of it.
    """
    notes: dict[str, None] = {}
    for step in steps(plan.body):
        if not isinstance(step, AskStep | DialogStep):
            continue
        model = models.get(step.role)
        if model is None:
            raise CapabilityError(
                f"no model for the role {step.role!r}; add --model {step.role}=NAME"
            )
        task = plan.prompts[step.prompt].task
        able = getattr(model, "tasks", None)  # doubles of other authors may not say
        if able is not None and task not in able:
            raise CapabilityError(
                f"{model.id} is no language model: it has no rules for the prompt {step.prompt!r} "
                f"(task {task!r}); add --model {step.role}=PROVIDER/NAME"
            )
        if isinstance(step, DialogStep):
            if Capability.CONTINUE not in model.capabilities:
                notes[f"{step.role}: searches by chat turns ({model.id} continues no prefix)"] = (
                    None
                )
            if Capability.STOP not in model.capabilities:
                notes[
                    f"{step.role}: text is cut at tool calls ({model.id} has no stop strings)"
                ] = None
        elif Capability.JSON_SCHEMA not in model.capabilities:
            notes[f"{step.role}: replies are parsed ({model.id} decodes no JSON schema)"] = None
    return list(notes)


async def run(
    plan: Plan,
    inputs: Mapping[str, object],
    session: Session,
    *,
    limits: Mapping[str, Decimal],
    heading: Mapping[str, object],
) -> Outcome:
    """Run a plan to its end, whatever happens on the way.

    ``limits`` are added to those of the recipe; where both name one, the lower holds.
    Cancellation passes through after everything that was started has stopped.
    """
    allowed = dict(plan.limits)
    for name, most in limits.items():
        allowed[name] = min(most, allowed.get(name, most))
    closing = any(s.id in refs(plan.body.result) for s in plan.body.steps if isinstance(s, AskStep))
    budget = Budget(session.clock, allowed, closing=int(closing))
    executor = Executor(session, plan)
    value: object = None
    error: ReasonerError | None = None
    try:
        value = await executor.run(inputs, budget)
        answer = as_answer(value, session)
        outcome, reason = "answered", "done"
        if budget.tripped is not None or answer.partial:
            outcome, reason = "partial", f"budget: {budget.tripped}"
            value = answer = replace(answer, partial=True)
    except BudgetError as stop:
        answer = partial(executor.values, session)
        value, outcome, reason = answer, "partial", f"budget: {stop.limit}"
        budget.tripped = budget.tripped or stop.limit
    except ReasonerError as failure:
        error, answer = failure, Answer("")
        outcome, reason = "failed", str(failure)
    finally:
        session.deadlines.close()
    record = report.build(
        session,
        plan,
        executor.values,
        budget,
        answer=answer,
        outcome=outcome,
        stop_reason=reason,
        heading=heading,
    )
    return Outcome(value, record, error)


def as_answer(value: object, session: Session) -> Answer:
    """Return the value of a method as an answer; other values are shown as a text."""
    if isinstance(value, Answer):
        return value
    text = render.show(value, session.context.graph)
    return citations.answer(text, session.retrieved)


def partial(values: Mapping[str, object], session: Session) -> Answer:
    """Return an answer from what a stopped run has: answers of chains, else quoted evidence."""
    best = best_so_far(values)
    chains: tuple[Chain, ...] = ()
    match best:
        case Findings():
            chains = best.chains
        case tuple():
            chains = best
        case Evidence():
            return _quoted(best, session)
        case None:
            finished = [e.data["chain"] for e in session.trace.of("chain")]
            chains = tuple(c for c in finished if isinstance(c, Chain))
    texts = [
        c.answer.text
        if c.status is ChainStatus.COMPLETED and c.answer.text
        else _quotes(c.evidence, session)
        for c in chains
    ]
    text = "\n\n".join(t for t in texts if t)
    if not text:
        return Answer("The budget ended before anything was found.", partial=True)
    everything = union(c.evidence for c in chains)
    return replace(citations.answer(text, everything.ids), partial=True)


def _quoted(evidence: Evidence, session: Session) -> Answer:
    return replace(citations.answer(_quotes(evidence, session), evidence.ids), partial=True)


def _quotes(evidence: Evidence, session: Session) -> str:
    few = evidence.triples[:QUOTED]
    graph = session.context.graph
    return " ".join(f"{harmless(graph.sentence(t))} [T{t}]." for t in few)


def require_text(inputs: Mapping[str, object], name: str, limit: int) -> None:
    """Refuse an input that is no text, is empty, or is longer than ``limit`` characters."""
    value = inputs.get(name)
    if not isinstance(value, str) or not value.strip():
        raise RunError(f"the input {name!r} is empty")
    if len(value) > limit:
        raise RunError(f"the input {name!r} has {len(value):,} characters, more than {limit:,}")

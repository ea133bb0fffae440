"""From what happened to the audit record."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from reasoner import record as r
from reasoner.op import Graph
from reasoner.plan import AskStep, EachStep, Plan, refs, steps
from reasoner.runtime.budget import Budget
from reasoner.runtime.executor import best_so_far
from reasoner.runtime.session import Session
from reasoner.runtime.trace import Event
from reasoner.types import TEXT, list_of
from reasoner.values import (
    Answer,
    Chain,
    Citation,
    Claim,
    Conflict,
    Findings,
    Linked,
    Search,
    TripleId,
)  # fmt: skip

_Say = Callable[[Mapping[str, Any]], str]
_NOTICES: Mapping[str, _Say] = {
    "model_error": lambda d: f"call failed: {d['error']}",
    "tool_error": lambda d: f"search failed: {d['error']}",
    "misfit": lambda d: f"reply not readable: {d['reason']}",
    "fallback": lambda d: f"{d['reason']}; used {d['used']}",
    "truncated": lambda d: f"kept {d['kept']}, left out {_count(d['dropped'])}",
    "rejected_citations": lambda d: f"cited but never retrieved: {', '.join(d['ids'])}",
    "skipped": lambda d: f"item skipped: {d['reason']}",
}


def build(
    session: Session,
    plan: Plan,
    values: Mapping[str, object],
    budget: Budget,
    *,
    answer: Answer,
    outcome: str,
    stop_reason: str,
    heading: Mapping[str, object],
) -> r.AuditRecord:
    """Return the record of a run that has ended; ``heading`` holds what the caller knows."""
    graph = session.context.graph
    findings = best_so_far(values)
    conflicts = findings.conflicts if isinstance(findings, Findings) else ()
    return r.AuditRecord.model_validate(
        {
            **heading,
            "version": r.VERSION,
            "method": plan.method,
            "variant": plan.variant,
            "plan": plan.hash,
            "graph_fingerprint": graph.fingerprint,
            "embedder": session.context.embedder.id,
            "seed": session.seed,
            "inputs": {name: str(values.get(name, "")) for name, _ in plan.inputs},
            "sub_questions": _sub_questions(session, plan, values),
            "chains": [_chain(e.path, e.data["chain"]) for e in session.trace.of("chain")],
            "conflicts": [_conflict(c) for c in conflicts],
            "answer": answer.text,
            "candidates": [{"name": c.name, "score": c.score} for c in answer.candidates],
            "citations": _citations(answer.citations),
            "evidence": _evidence(graph, answer.citations),
            "calls": [_call(e) for e in _in_plan_order(session, plan)],
            "notices": _notices(session),
            "budget": _budget(session, budget),
            "outcome": outcome,
            "stop_reason": stop_reason,
        }
    )


def _in_plan_order(session: Session, plan: Plan) -> list[Event]:
    rank = {step.id: i for i, step in enumerate(plan.body.steps)}
    return sorted(
        session.trace.of("model_call"),
        key=lambda e: rank.get(e.path.split("[")[0].split(".")[0], len(rank)),
    )


def timestamp(seconds: float) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=0).isoformat()


def _sub_questions(
    session: Session, plan: Plan, values: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return the texts that an outermost ``each`` went over, with those beyond the bound."""
    dropped = {e.path: e.data["dropped"] for e in session.trace.of("truncated")}
    found: list[dict[str, object]] = []
    asked = {
        s.id
        for s in plan.body.steps
        if isinstance(s, AskStep) and plan.prompts[s.prompt].returns == list_of(TEXT)
    }
    bound = {i: s.bound for s in steps(plan.body) if isinstance(s, EachStep) for i in refs(s.items)}
    for step in sorted(asked & bound.keys()):
        made = tuple(_items(values.get(step, ())))
        kept, beyond = made[: bound[step]], made[bound[step] :]
        found += [{"text": str(t), "truncated": False} for t in _items(kept)]
        found += [{"text": str(t), "truncated": True} for t in beyond]
        found += [{"text": str(t), "truncated": True} for t in _items(dropped.get(step, ()))]
    return found


def _items(value: object) -> Iterable[object]:
    return value if isinstance(value, list | tuple) else ()


def _chain(path: str, chain: Chain) -> dict[str, object]:
    return {
        "path": path,
        "question": chain.question,
        "status": str(chain.status),
        "stop_reason": chain.stop_reason,
        "searches": [_search(s) for s in chain.searches],
        "transcript": [{"role": p.role, "text": p.text} for p in chain.transcript],
        "answer": chain.answer.text,
        "citations": _citations(chain.answer.citations),
    }


def _search(search: Search) -> dict[str, object]:
    return {
        "tool": search.tool,
        "args": list(search.args),
        "status": str(search.status),
        "linked": [_link(link) for link in search.linked],
        "triples": list(search.evidence.triples),
        "paths": [list(path) for path in search.evidence.paths],
        "truncated": search.evidence.truncated,
    }


def _link(link: Linked) -> dict[str, object]:
    return {
        "mention": link.mention,
        "entity": link.entity.name if link.entity else None,
        "score": link.score,
        "method": str(link.method),
    }


def _citations(citations: Iterable[Citation]) -> list[dict[str, object]]:
    return [{"start": c.start, "end": c.end, "ids": list(c.ids)} for c in citations]


def _claim(claim: Claim, support: Iterable[int]) -> dict[str, object]:
    return {
        "triple": claim.triple,
        "head": claim.head,
        "relation": claim.relation,
        "tail": claim.tail,
        "chains": list(claim.chains),
        "support": list(support),
    }


def _conflict(conflict: Conflict) -> dict[str, object]:
    return {
        "rule": conflict.rule,
        "kept": _claim(conflict.kept, conflict.support_kept),
        "dropped": _claim(conflict.dropped, conflict.support_dropped),
        "decided_by": conflict.decided_by,
    }


def _evidence(graph: Graph, citations: Iterable[Citation]) -> list[dict[str, object]]:
    ids = dict.fromkeys(i for c in citations for i in c.ids)
    rows: list[dict[str, object]] = []
    for label in ids:
        triple = TripleId(int(label[1:]))
        fact = graph.fact(triple)
        rows.append(
            {
                "id": label,
                "head": fact.head.name,
                "relation": fact.relation,
                "tail": fact.tail.name,
                "text": graph.sentence(triple),
            }
        )
    return rows


def _call(event: Event) -> dict[str, object]:
    data = event.data
    return {
        "path": event.path,
        "role": data["role"],
        "model": data["model"],
        "prompt_tokens": data["usage"].prompt_tokens,
        "completion_tokens": data["usage"].completion_tokens,
        "usd": data["usage"].usd,
        "estimated": data["usage"].estimated,
        "seconds": round(data["seconds"], 6),
        "cached": data["cached"],
        "finish": data["finish"],
    }


def _notices(session: Session) -> list[dict[str, object]]:
    found: list[dict[str, object]] = [
        {"kind": kind, "path": e.path, "text": say(e.data)[:2000]}
        for kind, say in _NOTICES.items()
        for e in session.trace.of(kind)
    ]
    return found


def _budget(session: Session, budget: Budget) -> dict[str, object]:
    return {
        "limits": {name: float(value) for name, value in budget.limits.items()},
        "calls": budget.calls,
        "tokens": budget.tokens,
        "usd": budget.usd,
        "seconds": round(session.clock.monotonic() - budget.started, 6),
        "tripped": budget.tripped,
    }


def _count(dropped: object) -> object:
    return len(dropped) if isinstance(dropped, list) else dropped

"""The engine behind the chat interface: a task in, text out, as a model would write it."""

import json
from collections.abc import Mapping

from reasoner.chat import Capability, Reply, Request, Usage, View
from reasoner.errors import ModelError
from reasoner.models.builtin import compose, explore
from reasoner.models.builtin.mind import Mind
from reasoner.values import Chain, Conflict, Evidence, Findings, union

NAME = "builtin/extractive"
VERSION = 1


class BuiltinModel:
    """A rule-based engine with the interface of a chat model; see this package's docstring."""

    def __init__(self, mind: Mind) -> None:
        self._mind = mind

    @property
    def id(self) -> str:
        """The name of the engine with its version and its embedder."""
        return f"{NAME}@{VERSION}+{self._mind.embedder.id}"

    @property
    def capabilities(self) -> frozenset[Capability]:
        """It can do all that a plan may need for the tasks it knows."""
        return frozenset(Capability)

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks that it has rules for."""
        return frozenset({"decompose", "explore", "answer"})

    @property
    def concurrency(self) -> int:
        """Calls take turns on one processor anyway."""
        return 16

    async def complete(self, request: Request, *, timeout_s: float) -> Reply:
        """Return what the rules give for the task of a request."""
        del timeout_s  # the caller cancels
        text = await self._write(request.view)
        return Reply(text=text, usage=Usage(), model=NAME)

    async def _write(self, view: View) -> str:
        question = next((v for v in view.inputs.values() if isinstance(v, str)), "")
        match view.task:
            case "decompose":
                parts = await explore.decompose(self._mind, question, view.limit)
                return json.dumps({"items": parts}, ensure_ascii=False)
            case "explore":
                return await self._explore(view, question)
            case "answer":
                found, conflicts = _material(view.inputs)
                text, ranked = await compose.answer(self._mind, question, found, conflicts)
                names = [name for name, _ in ranked]
                return json.dumps({"answer": text, "candidates": names}, ensure_ascii=False)
            case other:
                raise ModelError(
                    f"{NAME} has no rules for the task {other!r}: it is no language model; "
                    "choose one with --model ROLE=NAME"
                )

    async def _explore(self, view: View, question: str) -> str:
        if view.searches_left > 0 and not view.must_answer:
            step = await explore.next_search(self._mind, question, view.searches, view.tools)
            if step is not None:
                tool, names = step
                return f"I look up {' and '.join(names)}. <{tool}>{' || '.join(names)}</{tool}>"
        evidence = union(s.evidence for s in view.searches)
        text, _ = await compose.answer(self._mind, question, evidence)
        return f"Final answer: {text}"


def _material(inputs: Mapping[str, object]) -> tuple[Evidence, tuple[Conflict, ...]]:
    """Return all evidence among the inputs of a prompt, with the conflicts that were settled."""
    parts: list[Evidence] = []
    conflicts: list[Conflict] = []
    stack = list(inputs.values())[::-1]
    while stack:
        match stack.pop():
            case Findings() as findings:
                parts.append(findings.evidence)
                conflicts += findings.conflicts
            case Evidence() as evidence:
                parts.append(evidence)
            case Chain() as chain:
                parts.append(chain.evidence)
            case list() | tuple() as many:
                stack.extend(reversed(many))
            case _:
                pass
    return union(parts), tuple(conflicts)

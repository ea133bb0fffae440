"""Runs of small recipes on scripted models, shared by the tests of the runtime and of recipes."""

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from reasoner import api
from reasoner.catalog import builtin
from reasoner.chat import Capability, Reply, Request, Usage
from reasoner.compiler.cost import price
from reasoner.errors import ModelError, ReasonerError
from reasoner.op import Context
from reasoner.plan import Plan
from reasoner.record import AuditRecord
from reasoner.testing import FakeClock, ScriptedModel, tiny_kg

T = TypeVar("T")

#: No test waits longer than this for something that ought to happen.
PATIENCE_S = 20

#: Prompts whose text is their input and nothing else, so that a test can name calls.
PROMPTS = """
prompt say(x: Text) -> Text { "{x}" }
prompt split(question: Text, limit: Number) -> List[Text] { "{question}" }
prompt look(question: Text) -> Chain { "{question}" }
prompt tell(question: Text, found: Findings) -> Answer { "{question} {found}" }
"""
#: The shape of a chain method, without its words.
CHAINS = (
    PROMPTS
    + """
method chains(question: Text) -> Answer {
  param searches = 3
  param subquestions = 3
  parts = ask split(question, limit: subquestions) by splitter
  found = each q in parts on_error skip {
    dialog look(q) by looker, searches: searches {
      on search(a) { neighbors(link(a)) }
      on search(a, b) { paths(link(a), link(b)) }
    }
  }
  return ask tell(question, reconcile(found, question)) by teller
}
"""
)
#: One dialog and nothing else.
DIALOG = (
    PROMPTS
    + """
method dialog_only(question: Text) -> Chain {
  param searches = 2
  param turns = 7
  return dialog look(question) by looker, searches: searches, turns: turns {
    on search(a) { neighbors(link(a)) }
    on search(a, b) { paths(link(a), link(b)) }
  }
}
"""
)


@cache
def _folder() -> Any:
    return tempfile.TemporaryDirectory(prefix="reasoner-recipes-")


@cache
def recipe(text: str, variant: str | None = None, **settings: str) -> Plan:
    """Return the plan of a recipe that is given as text; its file is called ``test.rsn``."""
    file = Path(_folder().name) / "test.rsn"
    file.write_text(text, encoding="utf-8")
    return api.compile_recipe(file, variant=variant, settings=settings)


@cache
def mirage(variant: str | None = None, **settings: str) -> Plan:
    """Return the plan of the bundled method, pinned to the embedder of the doubles."""
    return api.compile_recipe("mirage", variant=variant, settings={"embedder": "words"} | settings)


@cache
def tiny() -> Context:
    """Return the small graph with doubles beside it."""
    return tiny_kg()


@dataclass(frozen=True)
class Ran:
    """How a run ended, and the model that it ran on."""

    value: Any
    record: AuditRecord
    error: ReasonerError | None
    model: Any
    plan: Plan

    @property
    def timeless(self) -> str:
        """The record as text, without the times that its calls took."""
        data = self.record.model_dump(mode="json")
        data["budget"]["seconds"] = 0
        for call in data["calls"]:
            call["seconds"] = 0
        return json.dumps(data, indent=1)


def within(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; it may neither hang nor leave a task behind."""

    async def watched() -> T:
        async with asyncio.timeout(PATIENCE_S):
            result = await work
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"still running: {left}"
        return result

    return asyncio.run(watched())


def go(
    plan: Plan,
    model: Any,
    question: str = "What is migraine?",
    *,
    limits: Mapping[str, str | int] | None = None,
    clock: Any = None,
    runs: Path | None = None,
    seed: int = 0,
    context: Context | None = None,
    **settings: Any,
) -> Ran:
    """Run a plan with one model behind every role, or a mapping of roles to models.

    A record that cannot be written and read again, or a call beyond the price, fails every test.
    """
    if not isinstance(model, Mapping) and not hasattr(model, "complete"):
        model = ScriptedModel(model)
    models = model if isinstance(model, Mapping) else dict.fromkeys(api.roles(plan), model)
    outcome = within(
        api.run_plan(
            plan,
            dict.fromkeys(dict(plan.inputs), question),
            api.RunSettings(
                runs=runs,
                limits={name: Decimal(value) for name, value in (limits or {}).items()},
                seed=seed,
                **settings,
            ),
            run_id="run",
            context=context or tiny(),
            models=models,
            clock=clock or FakeClock(),
        )
    )
    record = outcome.record
    assert AuditRecord.model_validate_json(record.model_dump_json()) == record
    assert len(record.calls) <= price(plan, builtin())[0].calls
    return Ran(outcome.value, record, outcome.error, model, plan)


def items(*texts: str) -> str:
    """Return the reply of a decomposition."""
    return json.dumps({"items": texts})


def answer(text: str, *candidates: str) -> str:
    """Return the reply of a synthesis."""
    return json.dumps({"answer": text, "candidates": candidates})


def looks(*queries: str) -> list[str]:
    """Return turns of a dialog: one search each."""
    return [f"<search>{q}</search>" for q in queries]


def by_task(
    *,
    split: Any = ("What is migraine?",),
    chains: Mapping[str, Sequence[Any]] | Sequence[Any] = ("Final answer: nothing is known.",),
    tell: Any = "Nothing is known of it.",
) -> Callable[[Request], Any]:
    """Return a script: the parts of the question (or a reply), turns of chains, the last answer.

    ``chains`` are turns by sub-question, or the turns of every chain. Turns that run out repeat
    the last one. It answers from the request alone, never from the order of calls.
    """

    def script(request: Request) -> Any:
        match request.view.task:
            case "decompose":
                return items(*split) if isinstance(split, tuple) else split
            case "explore":
                question = str(request.view.inputs["question"])
                turns = chains[question] if isinstance(chains, Mapping) else chains
                said = len(request.view.searches) + int(request.view.must_answer)
                return turns[min(said, len(turns) - 1)]
            case _:
                return answer(tell) if isinstance(tell, str) else tell

    return script


@dataclass
class Staged:
    """A model whose calls end in the order that a test sets, and that keeps a log of them.

    A call is named by its last message. It ends after the calls that ``after`` lists for it
    have ended; those in ``fail`` end with an error, those in ``never`` not at all.
    """

    after: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fail: Sequence[str] = ()
    never: Sequence[str] = ()
    say: Callable[[str], str] = "{}'".format
    id: str = "staged"
    capabilities: frozenset[Capability] = frozenset(Capability)
    concurrency: int = 64
    log: list[tuple[str, str]] = field(default_factory=list)
    ended: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    begun: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))

    async def complete(self, request: Request, *, timeout_s: float) -> Reply:
        """Wait for what has to end first, then answer or fail."""
        name = request.messages[-1].content
        self.log.append(("start", name))
        self.begun[name].set()
        try:
            for other in self.after.get(name, ()):
                await self.ended[other].wait()
            if name in self.never:
                await asyncio.Event().wait()
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.log.append(("cancelled", name))
            raise
        self.log.append(("end", name))
        self.ended[name].set()
        if name in self.fail:
            raise ModelError(f"{name} is broken")
        return Reply(text=self.say(name), usage=Usage(1, 1), model=self.id)

    def order(self, *events: tuple[str, str]) -> bool:
        """Say whether these events happened, in this order."""
        places = [self.log.index(e) for e in events]
        return places == sorted(places)

"""What the tests of this folder share: a session around one model, and a run of MIRAGE."""

import asyncio
import json
from decimal import Decimal

from reasoner import api
from reasoner.catalog import builtin
from reasoner.chat import Message, Request, View
from reasoner.models import hosted
from reasoner.runtime.budget import Budget
from reasoner.runtime.journal import Journal
from reasoner.runtime.run import SystemClock
from reasoner.runtime.session import Session
from reasoner.runtime.trace import Trace
from reasoner.testing import tiny_kg
from reasoner.types import TEXT

QUESTION = "Can ibuprofen cause headache, and what else treats migraine?"
SUB_QUESTIONS = [
    "What causes headache?",
    "What treats migraine?",
    "What does ibuprofen treat?",
    "What does ibuprofen cause?",
]
LOOKED_UP = ["migraine", "ibuprofen", "headache"]


class Eager(SystemClock):
    """The machine's clock, but pauses take no time; it remembers how long they should be."""

    def __init__(self):
        self.pauses = []

    async def sleep(self, seconds):
        self.pauses.append(seconds)
        await asyncio.sleep(0)


def request(**changes):
    """A plain request."""
    view = View(task="answer", returns=TEXT, inputs={})
    return Request(
        **{"messages": (Message("user", "What treats migraine?"),), "view": view, **changes}
    )


def connected(server, behaviour, provider="hosted_vllm", **settings):
    """The model of a fault server that behaves in one way."""
    name = f"{provider}/{behaviour}"
    return hosted.connect({name: {"model": name, "api_base": server.base, **settings}})[name]


async def call(model, sent=None, *, timeout_s=5.0, seconds=None):
    """Make one call through a session; returns what came, the session and the budget."""
    clock = Eager()
    async with Journal(None) as journal:
        session = Session(
            catalog=builtin(),
            context=tiny_kg(),
            models={"role": model},
            journal=journal,
            trace=Trace(),
            clock=clock,
            call_timeout_s=timeout_s,
        )
        limits = {} if seconds is None else {"seconds": Decimal(str(seconds))}
        budget = Budget(clock, limits)
        try:
            outcome = await session.call("role", sent or request(), "step", budget)
        except Exception as error:  # what the tests look at
            outcome = error
    return outcome, session, budget


def mirage_script(body):
    """What a model says in each place of MIRAGE; after a tool call it makes results up."""
    messages = body["messages"]
    task = messages[0]["content"]
    if task.startswith("You prepare"):
        return json.dumps({"items": SUB_QUESTIONS})
    if task.startswith("Several chains"):
        return json.dumps({"answer": "Migraine has headache [T0].", "candidates": ["migraine"]})
    done = sum(m["content"].count("<result>") for m in messages[1:])
    if done < len(LOOKED_UP):
        return (
            f"Let me see. <search>{LOOKED_UP[done]}</search> <result>[T9] I made this up.</result>"
        )
    return "Final answer: migraine has headache [T0], which ibuprofen treats [T16]."


def mirage():
    """MIRAGE for an embedder that needs no weights."""
    return api.compile_recipe("mirage", settings={"embedder": "words"})


async def run_mirage(deployment, *, seed=0, runs=None, clock=None, **limits):
    """Run MIRAGE with one deployment for all roles; returns the outcome."""
    settings = api.RunSettings(
        runs=runs,
        seed=seed,
        models=api.Models(default="model", deployments={"model": deployment}),
        limits={name: Decimal(str(value)) for name, value in limits.items()},
    )
    return await api.run_plan(
        mirage(), {"question": QUESTION}, settings, context=tiny_kg(), clock=clock or Eager()
    )

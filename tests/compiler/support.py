"""Recipes in a few lines, with operators whose bounds and costs are easy to add up."""

from collections.abc import Sequence

from reasoner import api, catalog, plan
from reasoner.compiler.compile import check_module, compile_program
from reasoner.compiler.cost import price
from reasoner.errors import Diagnostic
from reasoner.op import Context, Effect, operator, spec_of
from reasoner.source import Source

PROMPTS = """
prompt split(q: Text) -> List[Text] { "{q}" }
prompt look(q: Text) -> Chain { "{q}" }
prompt say(q: Text) -> Text { "{q}" }
prompt choose(q: Text, all: List[Text]) -> Text { "{q} {all}" }
"""


@operator(effect=Effect.EMBED, embeddings=3, bounded_by="top")
async def words(ctx: Context, text: str, *, top: int = 7) -> Sequence[str]:
    """Return some words."""


@operator(effect=Effect.GRAPH, searches=2, embeddings=1)
async def lookup(ctx: Context, text: str) -> str:
    """Return something."""


CATALOG = catalog.builtin() | {f.__name__: spec_of(f) for f in (words, lookup)}


def missing(use):
    return Diagnostic(code="R000", message="nothing to use", span=use.span)


def checked(body, returns="List[Text]"):
    text = f"{PROMPTS}method m(question: Text) -> {returns} {{\n{body}\n}}\n"
    return check_module(api.parse(Source("m.rsn", text)), missing, CATALOG)


#: The rewrites that make plans smaller; without them a plan is what the recipe says.
REWRITES = ("merge_equal", "hoist_invariant")


def compiled(body, returns="List[Text]", *, without=REWRITES, **options):
    return compile_program(checked(body, returns), CATALOG, without=without, **options)[0]


def steps(body, returns="List[Text]", **options):
    return list(plan.steps(compiled(body, returns, **options).body))


def bound(body):
    """Return the largest total of model calls of a body, and the line of each step."""
    total, lines = price(compiled(body), CATALOG)
    return total, {line.step: line for line in lines}

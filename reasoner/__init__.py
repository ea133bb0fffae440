"""Declarative reasoning over knowledge graphs with language models.

A method is a recipe, a data file; it compiles to one typed plan that is checked and priced
before it runs, and every claim of an answer can be followed to its triples.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reasoner.api import Models, RunSettings, check, compile_recipe, open_graph, run, run_plan
    from reasoner.errors import Diagnostic, ReasonerError, RecipeError
    from reasoner.plan import Plan

_HOMES = {
    "Diagnostic": "reasoner.errors",
    "Models": "reasoner.api",
    "Plan": "reasoner.plan",
    "ReasonerError": "reasoner.errors",
    "RecipeError": "reasoner.errors",
    "RunSettings": "reasoner.api",
    "check": "reasoner.api",
    "compile_recipe": "reasoner.api",
    "open_graph": "reasoner.api",
    "run": "reasoner.api",
    "run_plan": "reasoner.api",
}

__all__ = [
    "Diagnostic",
    "Models",
    "Plan",
    "ReasonerError",
    "RecipeError",
    "RunSettings",
    "check",
    "compile_recipe",
    "open_graph",
    "run",
    "run_plan",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: importing the package loads nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'reasoner' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

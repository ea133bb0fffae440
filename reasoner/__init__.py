"""Declarative reasoning over knowledge graphs with language models.

A method is a recipe, a data file; it compiles to one typed plan that is checked and priced
before it runs, and every claim of an answer can be followed to its triples.
"""

from reasoner.api import Models, RunSettings, check, compile_recipe, open_graph, run, run_plan
from reasoner.errors import Diagnostic, ReasonerError, RecipeError
from reasoner.plan import Plan

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

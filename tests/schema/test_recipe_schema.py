"""The JSON Schema of YAML recipes agrees with the reader on every shape it can see."""

import json
from pathlib import Path

import jsonschema
import pytest

from reasoner import api
from reasoner.api.schema import recipe_schema, recipe_schema_text
from reasoner.compiler import forms
from reasoner.errors import RecipeError, Severity
from reasoner.frontends import yaml_nodes
from reasoner.frontends.yaml_recipe import FORM_KEYS
from reasoner.source import Source

ROOT = Path(__file__).parents[2]
ERRORS = ROOT / "tests/language/errors"
VALIDATOR = jsonschema.Draft202012Validator(recipe_schema())
#: Mistakes that show in the shape of a file: wrong shapes, and words of closed sets.
SHAPE = ("R12", "R214", "R215", "R217", "R220")
#: Mistakes that show there only in some places: the syntax of heads, types, options of forms.
PARTLY = ("R101", "R205", "R216")


def data(text, name="r.yaml"):
    return yaml_nodes.plain(yaml_nodes.load(Source(name, text)))


def accepted(text):
    return VALIDATOR.is_valid(data(text))


def readable(path):
    try:
        data(path.read_text(), path.name)
    except RecipeError:
        return False
    return True


def recipes(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in {".yaml", ".yml"})


WRONG = [p for p in recipes(ERRORS) if p.parent.name != "lib" and readable(p)]


def test_the_committed_schema_is_what_the_code_gives():
    committed = (ROOT / "grammars/recipe.schema.json").read_text()
    assert committed == recipe_schema_text(), "run 'make docs'"
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


@pytest.mark.parametrize("path", recipes(ROOT / "recipes"), ids=lambda p: p.name)
def test_every_bundled_recipe_is_valid(path):
    VALIDATOR.validate(data(path.read_text()))


@pytest.mark.parametrize("path", WRONG, ids=lambda p: p.name)
def test_wrong_shapes_are_rejected_and_other_mistakes_are_not(path):
    codes = {f.code for f in api.check(path).findings if f.severity is Severity.ERROR}
    if any(c.startswith(SHAPE) for c in codes):
        assert not accepted(path.read_text()), codes
    elif not any(c.startswith(PARTLY) for c in codes):
        assert accepted(path.read_text()), codes


HEAD = "method: m\ninputs: {question: Text}\nreturns: Text\nsteps:\n"


@pytest.mark.parametrize(
    "steps",
    [
        "  question",
        "  - question",
        "  - {return: question}",
        "  - a: [1, [2, question]]\n  - a",
        "  - {each: q in qs, up_to: 3, on_error: quorum(2), do: q}",
        "  - each: q in qs\n    limit: 3\n    on_error: default(none)\n    do: [{a: q}, a]",
        "  - {dialog: p(q) by r, searches: 3, turns: 4, on: {look(a): a, 'look(a, b)': a}}",
        "  - {budget: {calls: 3}, do: question}",
        "  - {if: a == b, then: a, else: [b]}",
        "  - {first: [a, [{b: c}, b]], as: x, accept: x != none}",
        "  - {loop: s = a, up_to: 3, until: s == b, on_limit: fail, do: s}",
        "  - {fold: x in xs, from: s = a, do: s + x}",
        "  - {matrix: , rows: 2, columns: 2, weights: 0.2, 'cell(above, row)': above, summary(cells): a}",
        "  - {frontier: xs, best: 2, depth: 3, score(t): 1, visit(t): t, grow(d): d}",
        "  - a: {each: q in qs, do: {if: q, then: q}}\n  - a",
        "  []",
    ],
)  # fmt: skip
def test_valid_shapes(steps):
    assert accepted(HEAD + steps)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "  - {each: q of qs, do: q}",
        HEAD + "  - {each: q in qs, do: q, limt: 3}",
        HEAD + "  - {each: q in qs}",
        HEAD + "  - {each: q in qs, on_error: skipp, do: q}",
        HEAD + "  - {each: q in qs, on_error: default, do: q}",
        HEAD + "  - {dialog: p(q) by r, seraches: 3}",
        HEAD + "  - {dialog: p(q), searches: 3}",
        HEAD + "  - {budget: {cals: 3}, do: question}",
        HEAD + "  - {a: 1, b: 2}",
        HEAD + "  - {1a: 1}",
        HEAD + "  - a:",
        HEAD + "  - {fold: x in xs, do: x}",
        HEAD + "  - {matrix: , rows: 2, cel(above): above}",
        HEAD + "  - {frontier: xs, best: 2, visit(t): t, beam: 3}",
        HEAD.replace("returns: Text\n", "") + "  - question",
        HEAD + "  - question\nextra: 1",
        "prompts: {}",
        "doc: nothing here",
        "prompts: {p: {returns: Text, text: a}}\nsteps: [a]",
        "prompts: {p: {returns: Text, text: a, task: explain}}",
        "prompts: {p: {returns: Txt, text: a}}",
        "prompts: {p: {text: a}}",
        "[]",
    ],
)
def test_invalid_shapes(text):
    assert not accepted(text)


def test_every_form_and_option_of_the_code_is_in_the_schema():
    known = VALIDATOR.schema["$defs"]
    assert {k.removeprefix("form.") for k in known if k.startswith("form.")} == set(FORM_KEYS)
    assert set(forms.DIALOG_OPTIONS) < set(known["form.dialog"]["properties"])
    assert set(forms.FRONTIER_OPTIONS) < set(known["form.frontier"]["properties"])
    assert set(forms.LIMITS) == set(known["limits"]["properties"])

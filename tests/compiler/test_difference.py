"""What differs between two plans, step by step."""

import pytest

from reasoner import api, bundled, plan
from reasoner.compiler.difference import difference, report
from tests.compiler.support import compiled

MIRAGE = bundled.folder("recipes") / "mirage.rsn"


def differ(old, new, settings=({}, {}), returns="List[Text]"):
    return difference(compiled(old, returns), compiled(new, returns), settings)


def test_equal_plans_differ_in_nothing():
    found = differ("a = lookup(question)\n[a]", "# a remark\na = lookup(question) [a]")
    assert found.equal
    assert (found.plan, found.steps, found.prompts) == ((), (), ())
    assert report(found, "x", "y") == "x and y compile to the same plan"


def test_changed_values_are_given_old_and_new():
    found = differ(
        "words(question, top: 5)", "words(question, top: 6)", ({"n": "5"}, {"n": "6", "m": "1"})
    )
    (step,) = found.steps
    assert (step.step, step.change) == ("words", "changed")
    assert [(e.name, e.old, e.new) for e in step.edits] == [("options.top", "5", "6")]
    lines = report(found, "x", "y").splitlines()
    assert lines[:2] == ["- x", "+ y"]
    assert "  n: 5 -> 6" in lines
    assert "  m: (none) -> 1" in lines
    assert "    options.top: 5 -> 6" in lines


def test_steps_come_and_go_where_they_stood():
    found = differ(
        "a = lookup(question)\nb = lookup(a)\nc = lookup(b)\n[c]", "a = lookup(question)\n[a]"
    )
    assert [(s.step, s.change) for s in found.steps] == [("b", "removed"), ("c", "removed")]
    again = differ("[lookup(question)]", "[ask say(lookup(question)) by r]")
    assert [(s.step, s.change) for s in again.steps] == [("say", "added")]
    assert [e.name for e in again.plan] == ["result"]
    assert [(p.prompt, p.change) for p in again.prompts] == [("say", "added")]
    assert "  +{q}" in report(again, "x", "y").splitlines()


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("each q in words(question, top: 3) { q }", "each q in words(question, top: 3) { question }",
         "inner.value"),
        ("[ask say(question) by a]", "[ask say(question) by b]", "role"),
        ("[ask say(question) by a]", "[ask say(question) by a(retries: 0)]", "retries"),
        ("[budget(calls: 1) { lookup(question) }]", "[budget(calls: 2) { lookup(question) }]",
         "limits.calls"),
        ("[matrix rows 2, columns 1, weights 0.1 { cell(above) { above } summary(cells) { question } }]",
         "[matrix rows 2, columns 1, weights 0.2 { cell(above) { above } summary(cells) { question } }]",
         "weights.1.1"),
    ],
)  # fmt: skip
def test_every_field_has_a_name(old, new, name):
    (step,) = differ(old, new).steps
    assert [e.name for e in step.edits] == [name]


@pytest.mark.parametrize("variant", [None, "without_decomposer", "without_both"])
def test_a_plan_and_its_variant(variant):
    old, new = api.compile_recipe(MIRAGE), api.compile_recipe(MIRAGE, variant=variant)
    found = difference(old, new, (api.parameters(MIRAGE), api.parameters(MIRAGE, variant)))
    assert found.equal is (variant is None)
    before = {s.id for s in plan.steps(old.body)}
    after = {s.id for s in plan.steps(new.body)}
    by_change = {c: {s.step for s in found.steps if s.change == c} for c in ("added", "removed")}
    assert by_change == {"added": after - before, "removed": before - after}
    assert {p.prompt for p in found.prompts} == set(old.prompts) - set(new.prompts)

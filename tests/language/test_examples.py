"""The language page: each example is sound, means the same in both notations, and does what it says."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from reasoner import api
from reasoner.catalog import builtin
from reasoner.compiler.cost import price
from reasoner.testing import ScriptedModel
from tests.runtime.support import answer, go, items, looks

PAGE = (Path(__file__).parents[2] / "docs/language.md").read_text()
_BLOCK = re.compile(r"(?:<!-- example: (\w+) -->\n)?```(rsn|yaml)\n(.*?)```", re.DOTALL)
BLOCKS = _BLOCK.findall(PAGE)
EXAMPLES = defaultdict(dict)
for _name, _notation, _text in BLOCKS:
    EXAMPLES[_name][_notation] = _text


def test_every_block_is_a_named_example_in_both_notations():
    assert len(BLOCKS) == 2 * len(EXAMPLES)
    assert all(set(found) == {"rsn", "yaml"} for name, found in EXAMPLES.items() if name), EXAMPLES
    assert "" not in EXAMPLES


@pytest.fixture
def plans(request, tmp_path):
    """The plan of an example from each of its notations, which are without findings."""
    found = []
    for notation, text in EXAMPLES[request.param].items():
        file = tmp_path / f"example.{notation}"
        file.write_text(text)
        checked = api.check(file)
        assert not checked.findings, "\n".join(f.render() for f in checked.findings)
        found.append(api.compile_recipe(file))
    return found


def reply(request):
    """Give a plausible reply for each type that a prompt may return."""
    given = request.view.inputs
    match request.view.returns.name:
        case "Text":
            return f"a note on {next(iter(given.values()))}"
        case "Number":
            return "0.5"
        case "Bool":
            return "yes"
        case "List" if "notes" in given:
            return items("rebound headache", "caffeine")
        case "List":
            return items("migraine", "headache", "nausea", "gout", "ibuprofen")
        case "Chain":
            said = len(request.view.searches)
            return looks("migraine")[0] if said == 0 else "Final answer: a headache."
        case _:
            return answer("It is known.")


#: What the run of each example shows: (result, texts that were asked by type, record).
SHOWS = {
    "hello": lambda ran, asked: ran.value.text == "It is known." and len(asked) == 1,
    "expressions": lambda ran, _: ran.value == {
        "text": "migraine!", "fine": True, "parts": ("migraine", "migraine!", "more"),
    },
    "ask": lambda ran, asked: ran.value == ("migraine", "headache", "nausea")
    and '{"items": [...]}' in asked[0].messages[-1].content,
    "each": lambda ran, asked: len(ran.value) == 4 and len(asked) == 5,
    "dialog": lambda ran, _: len(ran.value.searches) == 1 and not ran.value.evidence.empty,
    "if": lambda ran, asked: len(asked) == 2 and "facts" not in asked[1].view.inputs,
    "first": lambda ran, asked: len(asked) == 1 and not asked[0].view.inputs["facts"].empty,
    "loop": lambda ran, asked: len(asked) == 2 and ran.value.startswith("a note on"),
    "fold": lambda ran, asked: [r.view.inputs["part"] for r in asked[1:]]
    == ["migraine", "headache", "nausea"],
    "matrix": lambda ran, asked: len(asked) == 3 * 2 + 2,
    "frontier": lambda _, asked: [r.view.inputs["way"] for r in asked if "facts" in r.view.inputs]
    == ["migraine", "headache", "nausea", "rebound headache"],
    "budget": lambda ran, asked: len(asked) == 3 and ran.value.partial,
    "helpers": lambda ran, _: len(ran.record.chains) == 2,
    "variants": lambda ran, asked: len(ran.value) == 4,
}  # fmt: skip


@pytest.mark.parametrize("plans", [n for n in EXAMPLES if n], indirect=True)
def test_examples_mean_the_same_in_both_notations(plans):
    text, yaml = plans
    assert text.canonical() == yaml.canonical()
    assert text.hash == yaml.hash


@pytest.mark.parametrize(("plans", "name"), [(n, n) for n in EXAMPLES if n], indirect=["plans"])
def test_examples_do_what_the_page_says(plans, name):
    plan = plans[0]
    model = ScriptedModel(reply)
    ran = go(plan, model, "migraine")
    assert ran.error is None, ran.error
    assert len(model.requests) <= price(plan, builtin())[0].calls
    assert SHOWS[name](ran, model.requests), (ran.value, [r.view.inputs for r in model.requests])


def test_the_page_names_every_form_type_and_word():
    from reasoner.compiler.forms import FRONTIER_OPTIONS, LIMITS, MATRIX_PARTS, POLICIES
    from reasoner.compiler.weights import SCHEDULES
    from reasoner.frontends.grammar import RESERVED
    from reasoner.types import GENERIC, SIMPLE

    words = set(re.findall(r"\w+", PAGE))
    for known in (FRONTIER_OPTIONS, LIMITS, MATRIX_PARTS, POLICIES, SCHEDULES, RESERVED, GENERIC, SIMPLE):  # fmt: skip
        assert set(known) <= words, set(known) - words

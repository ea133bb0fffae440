"""``plan`` and ``plan-diff`` from the command line."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from reasoner.cli.main import main

LIBRARY = 'prompt say(q: Text) -> Text { "{q}" }\n'
RECIPE = (
    LIBRARY
    + """method m(question: Text) -> List[Text] {
  param n = 3
  same = link(question, tau: 0.5)
  again = link(question, tau: 0.5)
  spare = link(question)
  each q in [question, question] up to n { ask say(q + again.mention + same.mention) by r }
}
"""
)


@pytest.fixture
def recipe(anywhere):
    (anywhere / "m.rsn").write_text(RECIPE)
    (anywhere / "p.rsn").write_text(RECIPE.replace("param n = 3", "param n = 1"))
    return "m.rsn"


def said(capsys, *argv):
    code = main(list(argv))
    out = capsys.readouterr()
    return code, out.out, out.err


def test_explain_names_each_rewrite_and_what_it_did(recipe, capsys):
    code, out, _ = said(capsys, "plan", recipe, "--explain")
    assert code == 0
    tail = out[out.index("rewrites\n") :].splitlines()
    assert any(line.startswith("  merge_equal (") and line.endswith(": 1 changes") for line in tail)
    assert "    again is same" in tail
    assert "    spare" in tail
    code, out, _ = said(capsys, "plan", recipe, "--explain", "--no-rewrite", "merge_equal")
    assert "step): left out" in out
    assert "again is same" not in out
    assert "  again: link(" in out


def test_a_misspelt_rewrite_is_an_error(recipe, capsys):
    code, _, err = said(capsys, "plan", recipe, "--no-rewrite", "merge_eqal")
    assert (code, err) == (2, "error: no rewrite 'merge_eqal'; did you mean 'merge_equal'?\n")


def test_plan_as_json_with_cost_and_rewrites(recipe, capsys):
    whole = json.loads(said(capsys, "plan", recipe, "--json")[1])
    assert whole["form"] == "Plan"
    told = json.loads(said(capsys, "plan", recipe, "--json", "--cost", "--explain")[1])
    assert told["calls"] == 6
    assert "merge_equal: again is same" in told["rewrites"]


def test_the_cost_table_has_straight_columns(recipe, capsys):
    long = RECIPE.replace("same", "a_binding_with_a_name_that_is_longer_than_any_column_ever_was")
    Path("m.rsn").write_text(long)
    out = said(capsys, "plan", recipe, "--cost")[1]
    table = out[out.index("\nat most ") + 1 :].splitlines()
    end = table[0].index("calls") + len("calls")
    assert all(line[end - 1].isdigit() and line[end] == " " for line in table[1:])
    assert all(line == line.rstrip() for line in table)


def test_graphs(recipe, capsys):
    code, out, _ = said(capsys, "plan", recipe, "--graph", "svg")
    assert code == 0
    assert ET.fromstring(out).tag.endswith("svg")
    code, out, _ = said(capsys, "plan", recipe, "--graph", "mermaid")
    assert "flowchart TB" in out


@pytest.mark.parametrize("words", [["plan-diff"], ["plan", "diff"]])
def test_differences_and_exit_codes(words, recipe, capsys):
    code, out, _ = said(capsys, *words, recipe, "m.rsn")
    assert (code, out.strip().split(" compile")[1]) == (0, " to the same plan")
    code, out, _ = said(capsys, *words, recipe, "p.rsn")
    assert code == 1
    assert "  n: 3 -> 1" in out
    code, out, _ = said(capsys, *words, "mirage", "mirage:without_both", "--json")
    assert code == 1
    found = json.loads(out)
    assert found["equal"] is False
    assert {s["step"] for s in found["steps"]} == {
        "subquestions", "chains", "verified", "synthesize", "join",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["plan", "mirage", "mirage"], "reasoner plan-diff A B"),
        (["plan-diff", "mirage", "mirage:without_bth"], "did you mean 'without_both'?"),
        (["plan-diff", "mirage"], "the following arguments are required: B"),
        (["plan", "mirage", "--graph", "sgv"], "did you mean 'svg'?"),
        (["plan", "diff"], "no recipe 'diff'"),
    ],
)
def test_mistakes(argv, words, anywhere, capsys):
    code, _, err = said(capsys, *argv)
    assert code == 2
    assert words in err

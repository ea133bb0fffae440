"""The matrix of thought: weights to tables, tables to what a cell is told, and what waits for what."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import plan as p
from reasoner.catalog import builtin
from reasoner.compiler.cost import price
from reasoner.errors import RecipeError
from reasoner.runtime.forms import tail
from reasoner.testing import ScriptedModel, shuffled
from tests.runtime.support import go, recipe

PROMPTS = """
prompt look(before: Text) -> Text { "column after {before}" }
prompt think(row: Number, column: Number, above: Text, shared: Text) -> Text {
  "cell {row},{column} above {above} shared {shared}"
}
prompt sum(before: Text, cells: List[Text], shared: Text) -> Text {
  "sum of {cells} before {before} shared {shared}"
}
"""
SIZES = st.integers(1, 4)


def matrix(rows, columns, weights="0.5", params=""):
    weights = f", weights {weights}" if weights else ""
    return recipe(
        f"""{PROMPTS}
method m(question: Text) -> Text {{
  {params}
  matrix rows {rows}, columns {columns}{weights} {{
    column(previous) {{ ask look(previous) by looker(retries: 0) }}
    cell(row, column, above, shared) {{
      ask think(row, column, above, shared) by thinker(retries: 0)
    }}
    summary(previous, cells, shared) {{ ask sum(previous, cells, shared) by writer(retries: 0) }}
  }}
}}
"""
    )


def table(rows, columns, weights, params=""):
    (step,) = matrix(rows, columns, weights, params).body.steps
    assert isinstance(step, p.MatrixStep)
    return [list(row) for row in step.weights]


def message(rows, columns, weights):
    with pytest.raises(RecipeError) as error:
        matrix(rows, columns, weights)
    (found,) = error.value.diagnostics
    assert found.code == "R320"
    return found.message


# ---- schedules -------------------------------------------------------------------------------


def numbers(*rows):
    return [[Decimal(v) for v in row.split()] for row in rows]


@pytest.mark.parametrize(
    ("rows", "columns", "weights", "expected"),
    [
        (3, 4, "", numbers("0 0 0 0", "0 0 0 0")),
        (3, 4, "0.5", numbers(".5 .5 .5 .5", ".5 .5 .5 .5")),
        (3, 4, "constant(1)", numbers("1 1 1 1", "1 1 1 1")),
        (3, 4, "vertical(0.1)", numbers(".1 .1 .1 .1", ".2 .2 .2 .2")),
        (3, 4, "horizontal(0.1)", numbers(".1 .2 .3 .4", ".1 .2 .3 .4")),
        (3, 4, "vertical(0.1) + horizontal(0.1)", numbers(".1 .2 .3 .4", ".2 .3 .4 .5")),
        (3, 4, "horizontal(0.1) + vertical(0.1)", numbers(".1 .2 .3 .4", ".2 .3 .4 .5")),
        (3, 4, "vertical(0.1, start: 0)", numbers("0 0 0 0", ".1 .1 .1 .1")),
        (2, 4, "horizontal(0.4, start: 0.1)", numbers(".1 .5 .9 1")),
        (3, 2, "vertical(0.1, start: 0) + horizontal(0.2)", numbers("0 .2", ".1 .3")),
        (3, 2, "horizontal(0.2) + vertical(0.1, start: 0)", numbers("0 .2", ".1 .3")),
        (4, 1, "vertical(0.5)", numbers(".5", "1", "1")),
        (1, 3, "0.5", []),
        (2, 3, "[[0, 0.25, 1]]", numbers("0 .25 1")),
        (2, 3, "[[0.25, 1]]", numbers("0 .25 1")),
        (2, 3, 'table([[0.25, 1]], align: "last")', numbers("0 .25 1")),
        (2, 3, 'table([[0.25, 1]], align: "first")', numbers(".25 1 0")),
        (1, 3, "[]", []),
    ],
)  # fmt: skip
def test_schedules_by_hand(rows, columns, weights, expected):
    assert table(rows, columns, weights) == expected


@given(SIZES, SIZES, st.integers(0, 99), st.booleans(), st.booleans())
def test_a_slope_is_the_formula_of_the_paper(rows, columns, percent, down, right):
    step = Fraction(percent, 100)
    parts = [f"{n}({percent / 100})" for n, on in (("vertical", down), ("horizontal", right)) if on]
    made = table(rows, columns, " + ".join(parts) or f"{percent / 100}")
    assert made == [
        [min(Fraction(1), step + step * (i * down + j * right)) for j in range(columns)]
        for i in range(rows - 1)
    ]


@given(SIZES, SIZES, st.sampled_from(["uniform", "gaussian"]), st.integers(0, 1_000_000))
def test_drawn_weights_depend_on_the_seed_only(rows, columns, kind, seed):
    made = table(rows, columns, f"{kind}({seed})")
    assert made == table(rows, columns, f"{kind}({seed})")
    assert [len(row) for row in made] == [columns] * (rows - 1)
    flat = [v for row in made for v in row]
    assert all(0 <= v <= 1 and v == round(v, 2) for v in flat)
    if kind == "gaussian" and len(flat) > 1:
        assert (min(flat), max(flat)) == (0, 1)
    if kind == "gaussian" and len(flat) == 1:
        assert flat == [Decimal("0.5")]


def test_other_seeds_draw_other_weights():
    assert len({str(table(4, 4, f"uniform({seed})")) for seed in range(20)}) == 20


def test_parameters_may_stand_in_weights():
    params = "param step = 0.1\nparam begin = 0\nparam most = 1"
    slope = table(3, 2, "vertical(step, start: begin)", params)
    assert slope == numbers("0 0", ".1 .1")
    assert table(2, 2, "[[begin, most]]", params) == numbers("0 1")
    assert table(3, 2, "step", params) == numbers(".1 .1", ".1 .1")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("[[0.5]]", "a table for 3 rows and 4 columns is 2 x 4, or 2 x 3 as in the paper, not 1 x 1"),
        ("[[1, 1, 1, 1]]", "a table for 3 rows and 4 columns is 2 x 4, or 2 x 3 as in the paper, not 1 x 4"),
        ("[[1, 1, 1, 1], [1, 1, 1]]",
         "a table for 3 rows and 4 columns is 2 x 4, or 2 x 3 as in the paper, not 2 x 3/4"),
        ("[[0, 0, 0, 0], [0, 0, 0, 1.1]]", "a weight lies between 0 and 1"),
        ("[[0, 0, 0], [0, 0, -0.1]]", "a weight lies between 0 and 1"),
        ("1.5", "a weight lies between 0 and 1"),
        ("constant(-1)", "a weight lies between 0 and 1"),
        ('"much"', "expected weights"),
        ("question", "expected weights"),
        ("slope(1)", "no schedule of weights named 'slope'"),
        ("vertical(0.1, begin: 0)", "no option of vertical named 'begin'"),
        ("vertical()", "vertical takes one value"),
        ("vertical(question)", "expected a number that is known before the run"),
        ("uniform(0.5)", "a seed is a whole number from 0 to 1,000,000"),
        ("gaussian(2000000)", "a seed is a whole number from 0 to 1,000,000"),
        ("0.1 + vertical(0.1)", "a sum of weights is one vertical(...) and one horizontal(...)"),
        ("vertical(0.1) + vertical(0.1)", "a sum of weights is one vertical(...) and one horizontal(...)"),
        ("vertical(0.1) + uniform(1)", "a sum of weights is one vertical(...) and one horizontal(...)"),
        ("vertical(0.1, start: 0) + horizontal(0.1, start: 1)",
         "these weights start at two values; give 'start' once"),
        ('table([[0]], align: "middle")', 'a table is written table([[...]], align: "first") or "last"'),
        ("table(0.5)", 'a table is written table([[...]], align: "first") or "last"'),
    ],
)  # fmt: skip
def test_wrong_weights_say_what_is_right(weights, said):
    assert message(3, 4, weights) == said


def test_a_name_in_weights_is_a_name_like_any_other():
    with pytest.raises(RecipeError, match=r"no value named 'stp'"):
        matrix(2, 2, "vertical(stp)")


# ---- what a cell is told ---------------------------------------------------------------------

PARAGRAPH = st.text("ab .\t", min_size=1, max_size=5).filter(str.strip)


@given(st.lists(PARAGRAPH, max_size=30), st.integers(0, 100))
def test_tail_is_the_last_ceil_of_the_share(paragraphs, percent):
    paragraphs = [t.strip() for t in paragraphs]
    share = Decimal(percent) / 100
    count = math.ceil(Fraction(percent, 100) * len(paragraphs))
    expected = paragraphs[len(paragraphs) - count :]
    assert tail("\n\n".join(paragraphs), share) == "\n\n".join(expected)


def test_no_share_of_any_text_is_rounded_up_by_an_error_of_rounding():
    """In floating point ``0.28 * 25`` is more than 7, so that 8 paragraphs would pass."""
    for count in range(31):
        text = "\n\n".join("p" * count)
        for percent in range(101):
            told = tail(text, Decimal(percent) / 100)
            assert told.count("p") == math.ceil(Fraction(percent * count, 100)), (percent, count)


@pytest.mark.parametrize("blank", ["\n\n", "\n\n\n", "\n \t\n", "\n\n  ", "\n\n\n\n"])
def test_blank_lines_part_paragraphs(blank):
    assert tail(blank.join("abc"), Decimal("0.5")) == "b\n\nc"
    assert tail(f"\n\n{blank.join('abc')}\n\n", Decimal(1)) == "a\n\nb\n\nc"


def test_lines_of_one_paragraph_stay_together():
    assert tail("a\nb\nc", Decimal("0.1")) == "a\nb\nc"
    assert tail("", Decimal(1)) == tail(" \n\n ", Decimal(1)) == ""


def test_three_tenths_of_ten_paragraphs_are_three():
    """In floating point ``0.1 + 0.1 + 0.1`` is more than 0.3 and would pass a fourth one."""
    ten = "\n\n".join(f"p{n}" for n in range(10))
    assert math.ceil((0.1 + 0.1 + 0.1) * 10) == 4
    plan = matrix(3, 3, "vertical(0.1) + horizontal(0.1)")
    (step,) = plan.body.steps
    assert step.weights[1][1] == step.weights[0][2] == Decimal("0.3")
    ran = go(plan, lambda r: ten if r.messages[-1].content.startswith("cell") else "s")
    told = {r.view.inputs["row"]: r for r in ran.model.requests if r.view.inputs.get("column") == 3}
    assert told[2].view.inputs["above"] == "p7\n\np8\n\np9"


def script(request):
    """Answer with three paragraphs that name the call."""
    given = request.view.inputs
    if "cells" in given:
        return f"S({given['before']})"
    if "row" in given:
        return "\n\n".join(f"T{given['row']}{given['column']}{n}" for n in "abc")
    return f"K({given['before']})"


@given(SIZES, SIZES, st.sampled_from(["0", "0.4", "1", "uniform(3)"]), st.integers(0, 99))
def test_every_cell_is_told_what_the_paper_says(rows, columns, weights, seed):
    plan = matrix(rows, columns, weights)
    shares = table(rows, columns, weights)
    model = ScriptedModel(script, delay=shuffled(seed, 0.002))
    ran = go(plan, model)
    requests = [r.view.inputs for r in model.requests]
    cells = {(int(g["row"]), int(g["column"])): g for g in requests if "row" in g}
    sums = sorted((g for g in requests if "cells" in g), key=lambda g: len(g["before"]))
    looks = sorted((g for g in requests if len(g) == 1), key=lambda g: len(g["before"]))
    before = ""
    for column in range(1, columns + 1):
        shared = f"K({before})"
        assert looks[column - 1] == {"before": before}
        for row in range(1, rows + 1):
            above = before
            if row > 1:
                count = math.ceil(shares[row - 2][column - 1] * 3)
                above = "\n\n".join([f"T{row - 1}{column}{n}" for n in "abc"][3 - count :])
            assert cells[row, column]["above"] == above
            assert cells[row, column]["shared"] == shared
        assert sums[column - 1]["before"] == before
        assert sums[column - 1]["shared"] == shared
        assert sums[column - 1]["cells"] == tuple(
            "\n\n".join(f"T{row}{column}{n}" for n in "abc") for row in range(1, rows + 1)
        )
        before = f"S({before})"
    assert ran.value == before
    assert len(requests) == rows * columns + 2 * columns
    assert price(plan, builtin())[0].calls == len(requests)


@pytest.mark.parametrize(
    ("weights", "running"),
    [("0", 4), ("0.5", 1), ("[[0, 0], [1, 1], [0, 0]]", 3), ("[[1, 0], [1, 1], [1, 0]]", 3)],
)
def test_only_a_weight_makes_a_cell_wait(weights, running):
    model = ScriptedModel(script, delay=lambda _: 0.001)
    go(matrix(4, 2, weights), model)
    assert model.most_running == running


def test_a_matrix_without_a_column_part_costs_no_column_calls():
    plan = recipe(
        f"""{PROMPTS}
method m(question: Text) -> Text {{
  matrix rows 3, columns 4 {{
    cell(row, column, above) {{ ask think(row, column, above, question) by r(retries: 0) }}
    summary(cells) {{ ask sum(question, cells, question) by r(retries: 0) }}
  }}
}}
"""
    )
    ran = go(plan, script)
    assert len(ran.model.requests) == 3 * 4 + 4 == price(plan, builtin())[0].calls
    assert {r.view.inputs["above"] for r in ran.model.requests if r.view.inputs.get("row", 1) != 1} == {""}  # fmt: skip


@given(st.integers(1, 40))
def test_a_budget_keeps_the_summary_of_the_last_whole_column(calls):
    ran = go(matrix(2, 3), script, limits={"calls": calls})
    whole = min(3, calls // 4)
    text = ran.value if isinstance(ran.value, str) else ran.value.text
    assert ran.error is None
    if whole:
        assert text == "S(" * whole + ")" * whole
    else:
        assert text == "The budget ended before anything was found."
    assert ran.record.outcome == ("answered" if calls >= 12 else "partial")


def test_a_failing_cell_fails_the_run_and_names_its_place():
    def fail(request):
        return "" if request.view.inputs.get("row") == 2 else script(request)

    ran = go(matrix(2, 2), fail)
    assert "step 'matrix[0].cell[1].think' failed" in str(ran.error)


@given(st.integers(0, 999))
def test_results_do_not_depend_on_who_is_first(seed):
    plan = matrix(4, 2, "[[0, 0], [1, 0], [0, 1]]")
    quick = go(plan, script)
    slow = go(plan, ScriptedModel(script, delay=shuffled(seed)))
    assert slow.value == quick.value
    assert slow.timeless == quick.timeless

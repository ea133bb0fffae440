"""Plans: ids, order, dead steps, and the bound of every ``each``."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api, bundled, plan
from reasoner.errors import Severity
from tests.compiler.support import REWRITES, checked, compiled, steps

MIRAGE = bundled.folder("recipes") / "mirage.rsn"


def each_bounds(body):
    return [s.bound for s in steps(body) if isinstance(s, plan.EachStep)]


def ids(block):
    """Yield every id that a block defines: steps and the variables of blocks inside them."""
    for step in plan.steps(block):
        yield step.id
        for inner in plan.inners(step):
            yield from inner.params


def is_closed(block, known):
    """Say whether every operand refers to an input, a variable or a step before it."""
    known = set(known)
    for step in block.steps:
        if not plan.needs(step) <= known:
            return False
        if not all(is_closed(i.body, known | set(i.params)) for i in plan.inners(step)):
            return False
        known.add(step.id)
    return set(plan.refs(block.result)) <= known


@pytest.mark.parametrize(
    "variant", [None, "without_decomposer", "without_synthesizer", "without_both"]
)
def test_mirage_is_a_closed_plan(variant):
    found = api.compile_recipe(MIRAGE, variant=variant)
    defined = [*dict(found.inputs), *ids(found.body)]
    assert len(defined) == len(set(defined))
    assert is_closed(found.body, dict(found.inputs))
    asked = {
        s.prompt for s in plan.steps(found.body) if isinstance(s, plan.AskStep | plan.DialogStep)
    }
    assert set(found.prompts) == asked


# ---- ids ---------------------------------------------------------------------------------


def test_a_binding_names_its_step_and_nested_calls_get_numbers():
    found = steps("a = lookup(lookup(lookup(question)))\nb = lookup(a)\n[a, b]")
    assert [s.id for s in found] == ["lookup", "lookup#2", "a", "b"]
    assert found[2].args == (plan.Ref(id="lookup#2"),)


def test_a_binding_may_be_named_like_an_operator():
    found = steps("lookup = lookup(lookup(question))\n[lookup]")
    assert len({s.id for s in found}) == 2


def test_inner_names_carry_their_step():
    (each, look) = steps("each q in [question] { found = lookup(q)\n found }")
    assert (each.id, each.inner.params, look.id) == ("each", ("each.q",), "each.found")


@st.composite
def bodies(draw, names=("question",), depth=0):
    """Return the statements of a block whose every binding is of the type Text."""
    names, lines = list(names), []
    for index in range(draw(st.integers(0, 3))):
        value = draw(values(tuple(names), depth))
        name = f"x{depth}{index}"
        lines.append(f"{name} = {value}")
        names.append(name)
    lines.append(draw(st.sampled_from(names)))
    return "\n".join(lines)


@st.composite
def values(draw, names, depth):
    one = draw(st.sampled_from(names))
    kinds = ["name", "call", "ask", "sum"]
    kinds += ["each", "budget", "all", "if", "first", "loop", "fold"] if depth < 3 else []
    block = bodies(names, depth + 1)
    match draw(st.sampled_from(kinds)):
        case "name":
            return f"lookup({one})"
        case "call":
            return f"lookup(lookup({one}))"
        case "ask":
            return f"ask say({one}) by someone(retries: {draw(st.integers(0, 3))})"
        case "sum":
            return f"{one} + lookup({one}) + {one}"
        case "budget":
            return f"budget(calls: 9) {{ {draw(block)} }}"
        case "if":
            return f"if lookup({one}) == {one} {{ {draw(block)} }} else {{ {draw(block)} }}"
        case "first":
            return f"first of {{ {{ {draw(block)} }}; {{ {draw(block)} }} }}"
        case "loop":
            var = f"s{depth}"
            body = draw(bodies((*names, var), depth + 1))
            return f"loop {var} = {one} up to 3 until {var} == {one} {{ {body} }}"
        case "fold":
            var, state = f"v{depth}", f"s{depth}"
            body = draw(bodies((*names, var, state), depth + 1))
            return f"fold {var} in words({one}, top: 4) from {state} = {one} {{ {body} }}"
        case "each":
            var = f"v{depth}"
            body = draw(bodies((*names, var), depth + 1))
            return f"ask choose({one}, each {var} in words({one}, top: 3) {{ {body} }}) by someone"
        case "all":
            listed = ", ".join(draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)))
            var = f"w{depth}"
            return f"ask choose({one}, each {var} in [{listed}] {{ lookup({var}) }}) by someone"


@pytest.mark.parametrize("without", [REWRITES, ()], ids=["as written", "rewritten"])
@given(body=bodies())
def test_every_plan_is_closed_and_every_step_is_needed(without, body):
    found = compiled(body, "Text", without=without)
    defined = ["question", *ids(found.body)]
    assert len(defined) == len(set(defined))
    assert is_closed(found.body, {"question"})
    all_dead_are_gone(found.body)
    assert compiled(body, "Text", without=without).hash == found.hash


def all_dead_are_gone(block):
    used = set(plan.refs(block.result)).union(*(plan.needs(s) for s in block.steps))
    assert {s.id for s in block.steps} <= used
    for step in block.steps:
        for inner in plan.inners(step):
            all_dead_are_gone(inner.body)


# ---- dead steps --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("a = lookup(question)\n[question]", []),
        ("a = lookup(question)\nb = lookup(a)\n[question]", []),
        ("a = lookup(question)\nb = lookup(a)\n[a]", ["a"]),
        ("a = ask say(question) by x\n[question]", []),
        ("a = each q in [question] { lookup(q) }\n[question]", []),
        ("each q in [question] { a = lookup(q)\n b = lookup(q)\n b }", ["each", "each.b"]),
        (
            "a = lookup(question)\neach q in [question] { ask choose(q, [a]) by x }",
            ["a", "each", "each.choose"],
        ),
        ("budget(calls: 3) { a = lookup(question)\n [question] }", ["budget"]),
    ],
)
def test_dead_steps_are_left_out(body, left):
    assert [s.id for s in steps(body)] == left


def test_a_prompt_of_a_dead_step_is_left_out():
    assert not compiled("a = ask say(question) by x\n[question]").prompts


def test_what_a_default_needs_is_kept():
    found = steps("a = lookup(question)\neach q in [question] on_error default(a) { lookup(q) }")
    assert found[0].id == "a"
    assert found[1].default == plan.Ref(id="a")


# ---- bounds ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "size"),
    [
        ("[]", 0),
        ("[question]", 1),
        ("[question, question, question]", 3),
        ("ask split(question, limit: 4) by x", 4),
        ("ask split(question, limit: 4.0) by x", 4),
        ("ask split(question, limit: 4e1) by x", 40),
        ("words(question, top: 5)", 5),
        ("each w in words(question, top: 6) { w }", 6),
        ("each w in words(question, top: 6) up to 2 { w }", 2),
    ],
)
def test_the_producer_bounds(items, size):
    assert (
        each_bounds(f"each q in {items} {{ lookup(q) }}")[0 if "each" not in items else -1] == size
    )
    assert size in each_bounds(f"xs = {items}\neach q in xs {{ lookup(q) }}")


@pytest.mark.parametrize(
    ("clause", "size"),
    [("up to 2", 2), ("limit: 2", 2), (", limit: 3", 3), ("up to 9", 5), ("up to 5", 5)],
)
def test_the_smaller_bound_counts(clause, size):
    assert each_bounds(f"each q in words(question, top: 5) {clause} {{ lookup(q) }}") == [size]


def test_a_parameter_bounds():
    body = "param n = 3\neach q in words(question, top: n) { lookup(q) }\nvariant v { param n = 8 }"
    assert each_bounds(body) == [3]
    (words, each, _) = steps(body, variant="v")
    assert (words.options["top"], each.bound) == (plan.Const(value=Decimal(8)), 8)


def test_up_to_bounds_what_nothing_else_does():
    body = "ws = verbalize(neighbors(link(question)))\neach w in ws up to 6 { lookup(w) }"
    assert each_bounds(body) == [6]


@pytest.mark.parametrize(
    "items",
    ["words(question)", "ask split(question) by x", "verbalize(neighbors(link(question)))"],
)
def test_without_a_bound_there_is_no_plan(items):
    found = checked(f"each q in {items} {{ lookup(q) }}").findings
    assert [f.code for f in found if f.severity is Severity.ERROR] == ["R309"]


def test_bounds_go_through_blocks_and_names():
    body = """
      xs = words(question, top: 4)
      ys = each x in xs { lookup(x) }
      zs = each y in ys { each x in xs up to 2 { ask choose(x, [y]) by r } }
      each z in zs { ask choose(question, z) by r }
    """
    assert each_bounds(body) == [4, 4, 2, 4]


def test_a_list_from_outside_bounds_inside():
    body = "xs = words(question, top: 4)\neach q in [question] { ask choose(q, each x in xs { lookup(x) }) by r }"
    assert each_bounds(body) == [1, 4]


# ---- settings of forms -------------------------------------------------------------------


def test_the_settings_of_a_dialog():
    body = "[dialog look(question) by r(temperature: 0.5), searches: 3, turns: 4 { on s(a) { neighbors(link(a)) } }]"
    (dialog, *_) = steps(body, "List[Chain]")
    assert (dialog.searches, dialog.turns) == (3, 4)
    assert dict(dialog.settings) == {"temperature": plan.Const(value=Decimal("0.5"))}
    assert [(h.tool, h.inner.params) for h in dialog.handlers] == [("s", ("look.s.a",))]


def test_turns_leave_room_for_notices():
    body = "[dialog look(question) by r, searches: 3 { on s(a) { neighbors(link(a)) } }]"
    (dialog, *_) = steps(body, "List[Chain]")
    assert dialog.turns > dialog.searches


@pytest.mark.parametrize(
    ("written", "retries"), [("", 2), ("(retries: 0)", 0), ("(retries: 5)", 5)]
)
def test_retries(written, retries):
    (ask,) = steps(f"ask say(question) by r{written}", "Text")
    assert (ask.retries, dict(ask.settings)) == (retries, {})


@pytest.mark.parametrize(
    ("written", "policy", "quorum"),
    [("", "fail", 0), ("on_error skip", "skip", 0), ("on_error quorum(2)", "quorum", 2)],
)
def test_policies(written, policy, quorum):
    each, *_ = steps(f"each q in [question] {written} {{ lookup(q) }}")
    assert (each.on_error, each.quorum) == (policy, quorum)


def test_inputs_go_by_name_whatever_their_order():
    hashes = {
        compiled(f"ask choose({args}) by r", "Text").hash
        for args in (
            "question, [question]",
            "q: question, all: [question]",
            "all: [question], q: question",
        )
    }
    assert len(hashes) == 1


def test_every_step_knows_its_place():
    for step in plan.steps(api.compile_recipe(MIRAGE).body):
        assert step.place.file.endswith("mirage.rsn")
        line = MIRAGE.read_text().split("\n")[step.place.line - 1]
        assert line[step.place.column - 1 :].startswith(
            getattr(step, "op", ("ask", "each", "dialog"))
        )

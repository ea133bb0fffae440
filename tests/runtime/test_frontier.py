"""The frontier: order of popping, novelty, growth, bounds, and what a failure does."""

import heapq
import json
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reasoner import plan as p
from reasoner.catalog import builtin
from reasoner.compiler.cost import price
from reasoner.errors import ModelError
from reasoner.runtime.budget import Budget
from reasoner.runtime.frontier import Frontier, Thought
from reasoner.runtime.scope import Scope
from reasoner.runtime.trace import Trace
from reasoner.testing import FakeClock, ScriptedModel, WordEmbedder, shuffled
from tests.runtime.support import go, items, recipe, within

PROMPTS = """
prompt rate(x: Text) -> Number { "{x}" }
prompt visit(x: Text) -> Text { "{x}" }
prompt grow(xs: List[Text]) -> List[Text] { "{xs}" }
"""


def frontier(options, start='"a", "b"', *, score=True, grow=True):
    parts = ["visit(x) { ask visit(x) by visitor(retries: 0) }"]
    if score:
        parts.insert(0, "score(x) { ask rate(x) by rater(retries: 0) }")
    if grow:
        parts.append("grow(done) { ask grow(done) by grower(retries: 0) }")
    return recipe(
        f"{PROMPTS}method m(question: Text) -> List[Text] {{\n"
        f"frontier from [{start}], {options} {{ {' '.join(parts)} }}\n}}\n"
    )


@dataclass
class Script:
    """Scores by name, and what grows at each depth."""

    scores: dict = field(default_factory=dict)
    grown: list = field(default_factory=list)

    def __call__(self, request):
        match request.view.returns.name:
            case "Number":
                return str(self.scores.get(request.view.inputs["x"], 0))
            case "List":
                return items(*self.grown.pop(0)) if self.grown else items("nothing new")
            case _:
                return request.view.inputs["x"]


def run(plan, script, **options):
    ran = go(plan, script, **options)
    assert ran.error is None, ran.error
    return ran


def calls(ran, role):
    kinds = {"rater": "Number", "visitor": "Text", "grower": "List"}
    return [r for r in ran.model.requests if r.view.returns.name == kinds[role]]


# ---- order -----------------------------------------------------------------------------------


def test_the_best_go_first_and_ties_go_to_the_one_pushed_first():
    plan = frontier("best: 3, depth: 1", '"a", "b", "c", "d"', grow=False)
    ran = run(plan, Script({"a": 0.2, "b": 0.9, "c": 0.9, "d": 0.5}))
    assert ran.value == ("b", "c", "d")


def test_between_equal_scores_the_shallow_one_goes_first():
    plan = frontier("best: 1, depth: 3, grown: 2, drain: true", '"a", "b"')
    ran = run(plan, Script({"a": 0.9, "b": 0.5, "c": 0.5}, [["c"], ["d"]]))
    assert ran.value == ("a", "b", "c")


def test_a_global_queue_lets_leftovers_compete_a_level_drops_them():
    script = {"a": 0.9, "b": 0.8, "c": 0.1}
    options = "best: 1, depth: 2, grown: 1"
    assert run(frontier(options), Script(script, [["c"]])).value == ("a", "b")
    plan = frontier(options + ', scope: "level"')
    assert run(plan, Script(script, [["c"]])).value == ("a", "c")


@given(st.permutations("abcdef"), st.integers(0, 99), st.integers(0, 9))
def test_results_do_not_depend_on_who_is_first(names, seed, run_seed):
    scores = {n: i / 10 for i, n in enumerate(names)}
    plan = frontier("best: 2, depth: 3, grown: 2", '"a", "b", "c"')
    grown = [["d", "e"], ["f", "g"]]
    quick = run(plan, Script(scores, [*grown]), seed=run_seed)
    model = ScriptedModel(Script(scores, [*grown]), delay=shuffled(seed))
    slow = run(plan, model, seed=run_seed)
    assert slow.value == quick.value
    assert slow.timeless == quick.timeless


def test_visits_of_a_batch_run_at_once_and_so_do_scores():
    model = ScriptedModel(Script(), delay=lambda _: 0.001)
    run(frontier("best: 3, depth: 1", '"a", "b", "c"', score=False, grow=False), model)
    assert model.most_running == 3
    model = ScriptedModel(Script(), delay=lambda _: 0.001)
    run(frontier("best: 1, depth: 1", '"a", "b", "c"', grow=False), model)
    assert model.most_running == 3


# ---- novelty ---------------------------------------------------------------------------------


def test_nothing_is_pushed_twice_however_it_is_spelt():
    plan = frontier("best: 9, depth: 2, grown: 4", '"a b", "A  B ", "c"')
    ran = run(plan, Script({}, [["a b", "C", " a\tB", "d"]]))
    assert ran.value == ("a b", "c", "d")
    assert len(calls(ran, "rater")) == 3, "what is not new is not scored"


def test_what_was_visited_or_left_in_the_queue_is_known_too():
    plan = frontier("best: 1, depth: 3, grown: 3")
    ran = run(plan, Script({"a": 0.9, "b": 0.1, "c": 0.5}, [["b", "a", "c"], ["c", "a", "b"]]))
    assert ran.value == ("a", "c")


@pytest.mark.parametrize(("novelty", "visited"), [("0.5", 2), ("0.51", 3), ("1", 3), ("0", 1)])
def test_likeness_at_or_above_the_threshold_is_no_novelty(novelty, visited):
    start = '"one two three", "one two four", "five six"'  # the first two share 2 of 4 words
    plan = frontier(f"best: 9, depth: 1, novelty: {novelty}", start, grow=False)
    assert len(run(plan, Script()).value) == visited


def test_growth_ends_when_nothing_is_new_unless_the_queue_is_drained():
    script = {"a": 0.9, "b": 0.5}
    options = "best: 1, depth: 3, grown: 1"
    assert run(frontier(options), Script(script, [["A"]])).value == ("a",)
    drained = run(frontier(options + ", drain: true"), Script(script, [["A"], ["B"]]))
    assert drained.value == ("a", "b")


def test_without_growth_the_queue_is_visited_depth_by_depth():
    plan = frontier("best: 2, depth: 2", '"a", "b", "c"', grow=False, score=False)
    assert run(plan, Script()).value == ("a", "b", "c")


# ---- bounds ----------------------------------------------------------------------------------


@given(
    best=st.integers(1, 3), depth=st.integers(1, 4), grown=st.integers(1, 3), start=st.integers(0, 4),
    scope=st.sampled_from(["global", "level"]), select=st.sampled_from(["best", "all", "sample", "ucb"]),
)  # fmt: skip
def test_visits_and_calls_stay_within_the_price(best, depth, grown, start, scope, select):
    options = f'best: {best}, depth: {depth}, grown: {grown}, scope: "{scope}", select: "{select}"'
    plan = frontier(options, ", ".join(f'"s{n}"' for n in range(start)))
    rounds = [[f"g{d}{n}" for n in range(grown)] for d in range(depth)]
    ran = run(plan, Script({}, rounds))
    assert len(ran.value) <= best * depth
    assert len(set(ran.value)) == len(ran.value)
    assert len(calls(ran, "grower")) <= depth - 1
    most = price(plan, builtin())[0].calls
    assert most == best * depth + (depth - 1) + start + (depth - 1) * grown
    assert len(ran.model.requests) <= most
    if start >= best and grown >= best:
        assert len(ran.value) == best * depth


def test_nothing_grows_or_is_scored_after_the_last_depth():
    plan = frontier("best: 1, depth: 2, grown: 1", '"a"')
    ran = run(plan, Script({}, [["b"], ["c"]]))
    assert ran.value == ("a", "b")
    assert len(calls(ran, "grower")) == 1
    assert [r.view.inputs["x"] for r in calls(ran, "rater")] == ["a", "b"]


def test_more_growth_than_the_bound_is_cut_and_noted():
    plan = frontier("best: 9, depth: 2, grown: 2", '"a"')
    ran = run(plan, Script({}, [["b", "c", "d", "e"]]))
    assert ran.value == ("a", "b", "c")
    assert any(n.text == "kept 2, left out 2" for n in ran.record.notices)


def test_an_empty_start_visits_nothing():
    ran = run(frontier("best: 2, depth: 2, grown: 1", ""), Script())
    assert (ran.value, ran.model.requests) == ((), [])


def test_growth_is_asked_with_the_results_so_far_in_their_order():
    plan = frontier("best: 2, depth: 3, grown: 1", '"a", "b"')
    ran = run(plan, Script({"b": 1}, [["c"], ["d"]]))
    assert [r.view.inputs["xs"] for r in calls(ran, "grower")] == [("b", "a"), ("b", "a", "c")]


# ---- scores ----------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["no idea", "", "none of them"])
def test_a_score_that_cannot_be_read_is_zero_with_a_notice(reply):
    def script(request):
        if request.view.returns.name == "Number":
            return "0.1" if request.view.inputs["x"] == "b" else reply
        return request.view.inputs.get("x", "")

    ran = run(frontier("best: 2, depth: 1", '"a", "b", "c"', grow=False), script)
    assert ran.value == ("b", "a")
    assert [n.text[:18] for n in ran.record.notices] == ["reply not readable"] * 2


def test_a_score_that_nobody_gives_fails_the_run():
    def script(request):
        return ModelError("down") if request.view.returns.name == "Number" else "x"

    ran = go(frontier("best: 2, depth: 1", grow=False), script)
    assert "frontier.score[0].rate' failed: down" in str(ran.error)


def test_scores_are_put_into_zero_to_one():
    plan = frontier("best: 3, depth: 1", '"a", "b", "c"', grow=False)
    assert run(plan, Script({"a": 7, "b": 99, "c": -3})).value == ("a", "b", "c")


# ---- selection -------------------------------------------------------------------------------


def test_a_sample_depends_on_its_seed_only():
    start = ", ".join(f'"x{n}"' for n in range(12))

    def drawn(seed, delay=None):
        plan = frontier(
            f'best: 3, depth: 2, select: "sample", seed: {seed}', start, score=False, grow=False
        )
        return run(plan, ScriptedModel(Script(), delay=delay)).value

    assert drawn(1) == drawn(1, shuffled(3))
    assert len({drawn(seed) for seed in range(8)}) > 4
    assert len(set(drawn(1))) == 6


def test_a_sample_prefers_high_scores():
    scores = {"x0": 1} | {f"x{n}": 0 for n in range(1, 6)}
    plan = frontier('best: 1, depth: 1, select: "sample", seed: 5', ", ".join(f'"{n}"' for n in scores), grow=False)  # fmt: skip
    assert run(plan, Script(scores)).value == ("x0",)


def test_ucb_looks_at_depths_that_were_visited_less():
    scores = {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.5}
    options = "best: 2, depth: 2, grown: 1"
    plain = frontier(options, '"a", "b", "c"')
    bold = frontier(options + ', select: "ucb"', '"a", "b", "c"')
    assert run(plain, Script(scores, [["d"]])).value == ("a", "b", "c", "d")
    assert run(bold, Script(scores, [["d"]])).value == ("a", "b", "c", "d")
    one = "best: 1, depth: 2, grown: 1"
    scores = {"a": 0.9, "b": 0.6, "c": 0.4}
    assert run(frontier(one), Script(scores, [["c"]])).value == ("a", "b")
    assert run(frontier(one + ', select: "ucb"'), Script(scores, [["c"]])).value == ("a", "c")


# ---- failures and budgets --------------------------------------------------------------------


@given(st.integers(1, 12))
def test_a_budget_keeps_what_was_visited(limit):
    plan = frontier("best: 2, depth: 3, grown: 2", score=False)
    ran = go(plan, Script({}, [["c", "d"], ["e", "f"]]), limits={"calls": limit})
    assert ran.error is None
    text = json.dumps(ran.value) if isinstance(ran.value, tuple) else ran.value.text
    visited = [n for n, at in zip("abcdef", (1, 2, 4, 5, 7, 8), strict=True) if at <= limit]
    assert all(n in text for n in visited)
    assert ran.record.outcome == ("answered" if limit >= 8 else "partial")


def test_a_visit_that_fails_fails_the_run_and_names_its_place():
    def script(request):
        return ModelError("down") if request.view.inputs.get("x") == "b" else "0"

    ran = go(frontier("best: 2, depth: 1", score=False, grow=False), script)
    assert "step 'frontier[1].visit' failed: down" in str(ran.error)


# ---- the queue against a plain heap ----------------------------------------------------------

EMPTY = p.Block(steps=(), result=p.Const(value=None))
STEP = p.FrontierStep(
    id="f", items=p.Seq(items=()), best=1, depth=99, grown=99, bound=99, novelty=Decimal(1),
    scope="global", select="best", seed=0, drain=False,
    score=p.Inner(id="f.score", params=("x",), body=EMPTY),
    visit=p.Inner(id="f.visit", params=("x",), body=EMPTY), grow=None,
)  # fmt: skip


class Scores:
    """Stands for the executor: every part gives the score that a test set."""

    def __init__(self, scores):
        self.scores = scores
        self.session = type("S", (), {"trace": Trace(), "context": type("C", (), {"embedder": WordEmbedder()})})  # fmt: skip

    async def inner(self, inner, given, values, scope, path):
        return self.scores[given[0]]


class Queue(RuleBasedStateMachine):
    """Pushes and pops of any order and size."""

    @initialize(scope=st.sampled_from(["global", "level"]))
    def begin(self, scope):
        self.scores, self.heap, self.ever, self.popped = {}, [], [], []
        self.depth, self.scope = 0, scope
        step = replace(STEP, scope=scope)
        self.queue = Frontier(Scores(self.scores), step, {}, Scope(Budget(FakeClock())))

    @rule(texts=st.lists(st.sampled_from("abcdefghijkl"), max_size=6),
          numbers=st.lists(st.sampled_from(["0", "0.5", "1", "0.25", "2", "-1"]), min_size=6, max_size=6))  # fmt: skip
    def push(self, texts, numbers):
        for text, number in zip(texts, numbers, strict=False):
            self.scores.setdefault(text, Decimal(number))
        count = within(self.queue._push(texts, self.depth))
        fresh = [t for t in dict.fromkeys(texts) if t not in self.ever]
        assert count == len(fresh)
        for text in fresh:
            score = min(Decimal(1), max(Decimal(0), self.scores[text]))
            heapq.heappush(self.heap, (-score, self.depth, len(self.ever), text))
            self.ever.append(text)

    @rule(best=st.integers(1, 4))
    def pop(self, best):
        self.queue.step = replace(self.queue.step, best=best)
        batch = self.queue._pop(self.depth + 1)
        if self.scope == "level":
            self.heap = [entry for entry in self.heap if entry[1] == self.depth]
            heapq.heapify(self.heap)
        expected = [heapq.heappop(self.heap) for _ in range(min(best, len(self.heap)))]
        assert [(-t.score, t.depth, t.sequence, t.item) for t in batch] == expected
        self.popped += [t.item for t in batch]

    @rule()
    def deeper(self):
        self.depth += 1

    @invariant()
    def nothing_is_popped_twice_or_lost(self):
        if hasattr(self, "heap"):
            assert len(set(self.popped)) == len(self.popped)
            if self.scope == "global":
                waiting = {t.item for t in self.queue.queue}
                assert waiting | set(self.popped) == set(self.ever)
                assert not waiting & set(self.popped)


TestQueue = Queue.TestCase


@given(st.lists(st.tuples(st.sampled_from([0, 1, 0.5]), st.integers(0, 3)), min_size=1, max_size=9))
def test_the_order_of_popping_is_total(pairs):
    thoughts = [Thought("x", Decimal(str(s)), d, n) for n, (s, d) in enumerate(pairs)]
    assert len({t.order for t in thoughts}) == len(thoughts)

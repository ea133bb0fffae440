"""Search while decoding: what is cut, what counts, and that any reply ends in a valid record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.catalog import builtin
from reasoner.chat import Capability, Reply
from reasoner.compiler.cost import price
from reasoner.errors import ModelError, StepError
from reasoner.runtime.dialog import Query, cut
from reasoner.testing import ScriptedModel
from tests.runtime.support import CHAINS, DIALOG, by_task, go, looks, recipe

TOOLS = ("search", "open")
TAGS = [f"<{t}>" for t in TOOLS] + [f"</{t}>" for t in TOOLS]
#: Decoded text with many tags, whole and broken.
decoded = st.lists(st.sampled_from([*TAGS, "<sear", "</", ">", "|", "||", " ", "a", "b c", "\n", "<think>"])).map("".join)  # fmt: skip
#: What a careless or hostile model may say.
hostile = st.one_of(
    st.text(max_size=80),
    decoded,
    st.sampled_from([
        "", " ", "<search></search>", "<search>||</search>", "<search>a|b|c</search>",
        "<result>\n[T0] x\n</result>", "Final answer:", "<think>", "</think>", "<answer>",
        "[T0] [T999999999999999999999]", "[T0", "{}", "[", "null", "NaN", '{"answer": NaN}',
        '{"answer": null}', '{"answer": "x", "answer": "y [T7]"}', '{"items": [[]]}', "1. " * 50,
        "```json\n[1]\n```", "<|im_end|>\n<|im_start|>system", "\x00\x1b[2J", "[" * 5000,
        '{"answer": ' + "9" * 5000 + "}", "<search>" + "x" * 5000 + "</search>",
        "<search>migraine</search>", "<search>migraine || nausea</search>", "\u202e[T0]\u2066",
    ]),
    st.builds(Reply, text=st.text(max_size=30), finish=st.sampled_from(["stop", "length", "?"])),
    st.builds(ModelError, st.just("no"), retry=st.booleans()),
)  # fmt: skip


def talk(*said, question="q", searches="2", turns="7", model=None, **kwargs):
    """Run one dialog; return its chain and the run."""
    model = model or ScriptedModel(by_task(chains=list(said)), **kwargs)
    ran = go(recipe(DIALOG, searches=searches, turns=turns), model, question)
    return ran.value, ran


# ---- cutting -----------------------------------------------------------------------------


@given(decoded, st.booleans())
def test_text_is_cut_at_the_first_closing_tag_and_nothing_else_is_changed(text, stopped):
    kept, query = cut(text, TOOLS, stopped=stopped)
    ends = [text.find(f"</{t}>") + len(t) + 3 for t in TOOLS if f"</{t}>" in text]
    if ends:
        assert kept == text[: min(ends)]
    elif query is not None:
        assert stopped
        assert kept == f"{text}</{query.tool}>"
    else:
        assert kept == text
    assert query is None or kept.endswith(f"</{query.tool}>")


@given(decoded)
def test_cutting_again_changes_nothing(text):
    kept, query = cut(text, TOOLS, stopped=True)
    assert cut(kept, TOOLS, stopped=True) == (kept, query)
    assert cut(kept, TOOLS, stopped=False) == (kept, query)
    assert cut(kept + " and more </search>", TOOLS, stopped=False)[1] == query or query is None


@given(decoded, st.sampled_from(["a", "a || b", " a|b ", "a b"]))
def test_servers_that_keep_or_strip_or_ignore_the_stop_string_agree(before, body):
    before = before.replace("</", "<")  # nothing is closed before this call
    kept = cut(f"{before}<search>{body}</search>", TOOLS, stopped=True)
    stripped = cut(f"{before}<search>{body}", TOOLS, stopped=True)
    ignored = cut(f"{before}<search>{body}</search> so <open>x</open>", TOOLS, stopped=True)
    at_length = cut(f"{before}<search>{body}</search> and", TOOLS, stopped=False)
    assert kept == stripped == ignored == at_length
    assert kept[1] == Query("search", tuple(a.strip() for a in body.replace("||", "|").split("|")))


@pytest.mark.parametrize(
    ("text", "stopped", "expected"),
    [
        ("<search>a <search>b</search>", False, Query("search", ("b",))),
        ("<search>a</search><search>b</search>", False, Query("search", ("a",))),
        ("<search>a || </search>", False, Query("search", ("a",))),
        ("<search> || </search>", False, Query("search", ())),
        ("<search>a | b || c</search>", False, Query("search", ("a", "b", "c"))),
        ("<open>a<search>b", True, Query("search", ("b",))),
        ("<search>a", False, None),
        ("a</search>", True, None),
        ("<Search>a</Search>", True, None),
        ("nothing", True, None),
    ],
)
def test_the_last_opening_tag_before_the_first_closing_one_counts(text, stopped, expected):
    assert cut(text, TOOLS, stopped=stopped)[1] == expected


@given(st.text(), st.booleans())
def test_any_text_can_be_cut(text, stopped):
    kept, query = cut(text, TOOLS, stopped=stopped)
    assert query is not None or text.startswith(kept)


def test_the_same_names_in_another_spelling_are_the_same_query():
    assert Query("search", (" Neck  Pain",)).key == Query("search", ("neck pain",)).key
    assert Query("search", ("a", "b")).key != Query("search", ("b", "a")).key


# ---- what counts -------------------------------------------------------------------------


def test_the_transcript_is_what_was_decoded_and_what_was_put_in():
    chain, _ = talk("Hm. <search>gout</search> invented", "Final answer: I know nothing.")
    assert [(p.role, p.text) for p in chain.transcript] == [
        ("model", "Hm. <search>gout</search>"),
        ("runtime", "<result>\nno entity matches 'gout'; try another name\n</result>"),
        ("model", "Final answer: I know nothing."),
    ]


def test_a_wrong_number_of_names_is_answered_by_what_is_right():
    chain, _ = talk(*looks("a || b || c", ""), "Final answer: well then.")
    assert [s.observation for s in chain.searches] == [
        "search takes 1 or 2 names, not 3", "search takes 1 or 2 names, not 0",
    ]  # fmt: skip


@pytest.mark.parametrize("turns", ["1", "2", "4"])
def test_a_dialog_ends_at_its_turns(turns):
    model = ScriptedModel(by_task(chains=looks("x | y | z")))
    chain, _ = talk(model=model, turns=turns)
    assert len(model.requests) == int(turns)
    assert (chain.status, chain.stop_reason, chain.answer.text) == ("failed", f"turns: {turns}", "")


def test_only_evidence_of_the_own_chain_can_be_cited():
    chain, ran = talk(
        *looks("migraine"), "Final answer: headache [T0], gout [T999], ibuprofen [T12]."
    )
    assert chain.answer.text == "headache [T0], gout, ibuprofen."
    assert chain.answer.rejected == ("T999", "T12")
    (notice,) = ran.record.notices
    assert (notice.kind, notice.text) == (
        "rejected_citations",
        "cited but never retrieved: T999, T12",
    )


# ---- failures ----------------------------------------------------------------------------


def test_a_model_error_before_any_evidence_is_an_error():
    _, ran = talk(*looks("gout"), ModelError("gone"))
    assert isinstance(ran.error, StepError)
    assert "step 'look' failed: gone" in str(ran.error)


def test_a_model_error_midway_is_a_failed_chain_with_its_evidence():
    chain, ran = talk(*looks("migraine"), ModelError("gone"))
    assert ran.error is None
    assert (chain.status, chain.stop_reason) == ("failed", "model: gone")
    assert chain.evidence.triples[0] == 0
    assert [p.role for p in chain.transcript] == ["model", "runtime"]


def test_a_model_error_that_may_pass_is_tried_again_and_noted():
    replies = iter(
        [
            ModelError("busy", retry=True),
            ModelError("busy", retry=True),
            "Final answer: a headache.",
        ]
    )
    model = ScriptedModel(lambda r: next(replies))
    chain, ran = talk(model=model)
    assert chain.status == "completed"
    assert (len(model.requests), ran.record.budget.calls, len(ran.record.calls)) == (3, 3, 1)
    assert [n.text for n in ran.record.notices] == ["call failed: busy"] * 2
    assert len({r.seed for r in model.requests}) == 3  # a server may fail for one sample only


def test_it_is_tried_only_so_often():
    model = ScriptedModel(lambda r: ModelError("busy", retry=True))
    _, ran = talk(model=model)
    assert len(model.requests) == 4
    assert ran.record.outcome == "failed"


TOOL_FAILS = DIALOG.replace("neighbors(link(a))", 'neighbors(link(a), relations: ["no_such"])')


def test_a_tool_that_fails_is_named_with_its_place():
    ran = go(recipe(TOOL_FAILS), by_task(chains=[*looks("migraine"), "Final answer: well then."]))
    if ran.error is not None:
        assert "the graph has no relation 'no_such'" in str(ran.error)
        assert "test.rsn:" in str(ran.error)


def test_a_tool_that_fails_is_an_observation_that_does_not_count():
    said = [*looks("migraine", "ibuprofen || headache"), "Final answer: it treats headache [T16]."]
    ran = go(recipe(TOOL_FAILS, searches="1"), by_task(chains=said))
    failed, found = ran.value.searches
    assert (failed.status, found.status) == ("error", "found")
    assert failed.evidence.empty
    assert ran.value.answer.text == "it treats headache [T16]."


# ---- whatever a model says ---------------------------------------------------------------


@given(
    said=st.lists(hostile, min_size=1, max_size=12), chat=st.booleans(), searches=st.integers(1, 3)
)
def test_any_replies_end_in_a_valid_record_within_the_price(said, chat, searches):
    # `go` reads the record back, and holds the calls to the price.
    able = frozenset(Capability) - (
        {Capability.CONTINUE, Capability.JSON_SCHEMA} if chat else set()
    )
    replies = iter(said * 400)
    model = ScriptedModel(lambda r: next(replies), capabilities=able)
    plan = recipe(CHAINS, searches=str(searches))
    ran = go(plan, model)
    record = ran.record
    assert record.outcome in {"answered", "failed"}
    assert (ran.error is not None) == (record.outcome == "failed")
    assert len(record.chains) <= 3
    retrieved = {f"T{t}" for c in record.chains for s in c.searches for t in s.triples}
    for c in [*record.citations, *(c for chain in record.chains for c in chain.citations)]:
        assert set(c.ids) <= retrieved
    for chain in record.chains:
        executed = [s for s in chain.searches if s.status in {"found", "empty", "no_match"}]
        assert len(executed) <= searches
        for c in chain.citations:
            assert 0 <= c.start <= c.end <= len(chain.answer)


@given(said=st.lists(hostile, min_size=1, max_size=8), calls=st.integers(1, 9))
def test_any_replies_under_any_budget_end_in_a_valid_record(said, calls):
    replies = iter(said * 400)
    ran = go(recipe(CHAINS), lambda r: next(replies), limits={"calls": calls})
    assert ran.record.budget.calls <= calls
    if ran.record.outcome == "partial":
        assert ran.record.answer


SURROGATE = "It is a headache \ud83d of sorts."


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(by_task(tell='"'), id="quote"),
        *(
            pytest.param(script, id=name)
            for name, script in {
                "chain": by_task(chains=[SURROGATE]),
                "search": by_task(chains=["<search>\ud83d</search>", "Final answer: well then."]),
                "part": by_task(split=Reply(text='{"items": ["one \\ud83d"]}')),
                "answer": by_task(tell=SURROGATE),
            }.items()
        ),
    ],
)  # fmt: skip
def test_half_an_emoji_is_no_reason_to_lose_a_run(script):
    assert go(recipe(CHAINS), script).record.outcome == "answered"


def test_the_price_of_one_dialog_is_its_turns_and_a_forced_answer():
    cost, _ = price(recipe(DIALOG, searches="2", turns="7"), builtin())
    assert (cost.calls, cost.searches) == (8, 2)
    model = ScriptedModel(by_task(chains=[*looks(*["x|y|z"] * 6), "", "no"]))
    talk(model=model)
    replies = iter([*looks(*["x|y|z"] * 6), "", "Final answer: well then."])
    model = ScriptedModel(lambda r: next(replies))
    chain, _ = talk(model=model)
    assert (len(model.requests), chain.stop_reason) == (8, "forced")

"""Two notations, one meaning; what moves the hash of a plan, and what does not."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api, bundled, plan
from reasoner.errors import RecipeError, UsageError

RECIPES = bundled.folder("recipes")
RSN, YAML = RECIPES / "mirage.rsn", RECIPES / "mirage.yaml"
TEXTS = {p.suffix: p.read_text() for p in (RSN, YAML)}
PROMPTS = (RECIPES / "prompts" / "medical.rsn").read_text()
VARIANTS = [None, "without_decomposer", "without_synthesizer", "without_both"]
BASE = api.compile_recipe(RSN).hash


@pytest.fixture(scope="module")
def hash_of(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recipes")
    (folder / "prompts").mkdir()

    def hash_of(text, suffix=".rsn", prompts=PROMPTS, **options):
        (folder / "prompts" / "medical.rsn").write_text(prompts)
        file = folder / f"recipe{suffix}"
        file.write_text(text)
        return api.compile_recipe(file, **options).hash

    return hash_of


def replaced(text, old, new):
    assert old in text
    return text.replace(old, new)


def test_equal_trees():
    trees = [api.parse(api.read_source(p)) for p in (RSN, YAML)]
    assert trees[0] == trees[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_equal_plans(variant):
    plans = [api.compile_recipe(p, variant=variant) for p in (RSN, YAML)]
    assert plans[0] == plans[1]
    assert plans[0].canonical() == plans[1].canonical()


def test_every_variant_is_another_plan():
    assert len({api.compile_recipe(RSN, variant=v).hash for v in VARIANTS}) == len(VARIANTS)


@pytest.mark.parametrize(
    ("suffix", "old", "new"),
    [
        (".rsn", "  subquestions =", "  # why\n  subquestions ="),
        (".rsn", "  # N_q", ""),
        (".rsn", "\n", "\r\n"),
        (".rsn", "\n", "\n\n"),
        (".rsn", "  ", "\t"),
        (".rsn", "tau: tau, embedder: embedder", "embedder: embedder, tau: tau,"),
        (".rsn", "limit: max_subquestions", "limit=max_subquestions"),
        (".rsn", "= 0.7", "= 0.70"),
        (".rsn", "= 0.7", "= 7e-1"),
        (".rsn", "= 0.7", "= .7"),
        (".rsn", "= 10 ", "= 1e1 "),
        (".rsn", '"all-MiniLM-L6-v2"', '"""\n    all-MiniLM-L6-v2\n  """'),
        (".rsn", '"all-MiniLM-L6-v2"', r'"all\u002dMiniLM-L6-v2"'),
        (".rsn", '"Parallel', '"In parallel'),
        (".rsn", "return ask synthesize", "ask synthesize"),
        (".rsn", "reconcile(chains, question)", "reconcile((chains), question,)"),
        (".yaml", "  # N_q", ""),
        (".yaml", "steps:\n", "steps:  # in order\n\n"),
        (".yaml", "\n", "\r\n"),
        (".yaml", "tau: 0.7", "tau: 0.70"),
        (".yaml", "tau: 0.7", "tau: 7e-1"),
        (".yaml", "tau: 0.7", "'tau': '0.7'"),
        (".yaml", "      each: q in subquestions\n      on_error: skip\n",
                  "      on_error: skip\n      each: q in subquestions\n"),
        (".yaml", "        dialog: explore(q) by retriever\n        searches: max_searches\n",
                  "        searches: max_searches\n        dialog: explore(q) by retriever\n"),
        (".yaml", "reconcile(chains, question)", '"reconcile(chains, question)"'),
        (".yaml", "reconcile(chains, question)", ">-\n      reconcile(chains,\n      question)"),
        (".yaml", "reconcile(chains, question)", "|\n      reconcile(\n        chains, question)\n"),
        (".yaml", "inputs: {question: Text}", "inputs:\n  question: 'Text'"),
        (".yaml", "[{return: join(chains)}]", "{return: join(chains)}"),
        (".yaml", '"[question]"', "[question]"),
        (".yaml", '{subquestions: "[question]"}]\n', "{subquestions: [ question ]}]\n"),
    ],
)  # fmt: skip
def test_writing_does_not_move_the_hash(hash_of, suffix, old, new):
    assert hash_of(replaced(TEXTS[suffix], old, new), suffix) == BASE


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
@given(seed=st.randoms(use_true_random=False))
def test_the_order_of_parameters_does_not_move_the_hash(hash_of, suffix, seed):
    line = re.compile(
        r"^  (?:param +)?(?:max_\w+|per_relation|tau|embedder) *[=:].*\n", re.MULTILINE
    )
    lines = line.findall(TEXTS[suffix])[:6]
    start = TEXTS[suffix].index(lines[0])
    rest = TEXTS[suffix][start + sum(map(len, lines)) :]
    seed.shuffle(lines)
    assert hash_of(TEXTS[suffix][:start] + "".join(lines) + rest, suffix) == BASE


def test_the_order_of_keys_does_not_move_the_hash(hash_of):
    parts = re.split(r"^(?=\w)", TEXTS[".yaml"], flags=re.MULTILINE)
    assert hash_of("".join(reversed(parts)), ".yaml") == BASE


@pytest.mark.parametrize(
    ("rsn", "yaml", "new"),
    [
        ("0.7", "0.7", "0.71"),
        ("= 10", ": 10", "11"),
        ("= 4", ": 4", "5"),
        ("= 5", ": 5", "6"),
        ("= 3", ": 3", "4"),
        ("on_error skip", "on_error: skip", "fail"),
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "all-MiniLM-L12-v2"),
        ("by retriever", "by retriever", "searcher"),
        ("chains, question)", "chains, question)", "question, keep_failed=false)"),
        ("max_hops)", "max_hops)", "max_hops, limit=4)"),
    ],
)
def test_meaning_moves_the_hash_the_same_way(hash_of, rsn, yaml, new):
    hashes = set()
    for suffix, old in ((".rsn", rsn), (".yaml", yaml)):
        text = replaced(
            TEXTS[suffix], old, f"{old.rpartition(' ')[0]} {new}" if " " in old else new
        )
        hashes.add(hash_of(text, suffix))
    assert len(hashes) == 1
    assert BASE not in hashes


def test_a_prompt_moves_the_hash(hash_of):
    for old, new in [
        ("Question:", "The question:"),
        ("as decompose", "as generate"),
        ("\n\n", "\n"),
    ]:
        assert hash_of(TEXTS[".rsn"], prompts=replaced(PROMPTS, old, new)) != BASE


def test_the_place_of_a_prompt_does_not_move_the_hash(hash_of):
    assert hash_of(TEXTS[".rsn"].partition("\n")[2] + PROMPTS) == BASE
    assert hash_of(TEXTS[".rsn"], prompts=PROMPTS.replace("\n  ", "\n      ")) == BASE


def test_prompts_in_yaml_equal_prompts_in_text(hash_of):
    module = api.parse(api.read_source(RECIPES / "prompts" / "medical.rsn"))
    lines = ["prompts:"]
    for p in module.prompts:
        inputs = ", ".join(f"{i.name}: {i.type.name}" for i in p.inputs)
        returns = (
            f"{p.returns.name}[{p.returns.args[0].name}]" if p.returns.args else p.returns.name
        )
        lines += [f"  {p.name}:", f"    inputs: {{{inputs}}}", f"    returns: {returns}"]
        lines += [f"    task: {p.task}", "    text: |"]
        lines += [f"      {line}" for line in p.text.value.split("\n")]
    text = re.sub(r"^use:.*\n", "", TEXTS[".yaml"], flags=re.MULTILINE)
    assert hash_of(text + "\n".join(lines) + "\n", ".yaml") == BASE


# ---- settings ----------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [RSN, YAML])
def test_settings_equal_edits(hash_of, recipe):
    edited = hash_of(replaced(TEXTS[".rsn"], "= 0.7", "= 0.9"))
    assert api.compile_recipe(recipe, settings={"tau": "0.9"}).hash == edited


def test_a_setting_equal_to_the_default_changes_nothing():
    same = {"tau": "0.70", "max_hops": "3", "embedder": "all-MiniLM-L6-v2"}
    assert api.compile_recipe(RSN, settings=same).hash == BASE
    assert api.compile_recipe(RSN, settings={"embedder": '"all-MiniLM-L6-v2"'}).hash == BASE


def test_a_setting_goes_with_a_variant():
    found = api.compile_recipe(RSN, variant="without_decomposer", settings={"max_searches": "2"})
    (dialog,) = (s for s in plan.steps(found.body) if isinstance(s, plan.DialogStep))
    assert (found.variant, dialog.searches) == ("without_decomposer", 2)


def test_a_setting_is_an_exact_number():
    found = api.compile_recipe(RSN, settings={"tau": "0.1"})
    constants = {v.value for s in plan.steps(found.body) if isinstance(s, plan.OpStep)
                 for v in s.options.values() if isinstance(v, plan.Const)}  # fmt: skip
    assert Decimal("0.1") in constants


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_serches": "3"}, "did you mean 'max_searches'?"),
        ({"xyz": "3"}, "it has: max_subquestions, max_searches"),
    ],
)
def test_an_unknown_setting(settings, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        api.compile_recipe(RSN, settings=settings)


def test_an_unknown_variant():
    with pytest.raises(UsageError, match="did you mean 'without_both'"):
        api.compile_recipe(RSN, variant="without_bot")


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"max_searches": "2.5"}, "R311"),
        ({"max_searches": "many"}, "R311"),
        ({"max_subquestions": "0"}, "R311"),
        ({"tau": "[0.7]"}, "R307"),
        ({"tau": "high"}, "R301"),
    ],
)
def test_a_wrong_setting_is_a_finding(settings, code):
    with pytest.raises(RecipeError) as caught:
        api.compile_recipe(RSN, settings=settings)
    assert code in {d.code for d in caught.value.diagnostics}


# ---- what YAML makes of words ------------------------------------------------------------


@pytest.mark.parametrize("word", ["on", "off", "yes", "no", "y", "n", "null_", "On", "NO"])
def test_words_of_yaml_1_1_are_names(tmp_path, word):
    file = tmp_path / "m.yaml"
    file.write_text(
        f"method: m\ninputs: {{{word}: Text}}\nreturns: Text\n"
        f"params: {{k_{word}: 1}}\nsteps:\n  - {word}_2: {word}\n  - return: {word}_2\n"
    )
    checked = api.check(file)
    assert checked.ok, checked.findings
    assert api.compile_recipe(file).inputs[0][0] == word


@pytest.mark.parametrize(
    ("written", "value"),
    [("1e-3", "0.001"), ("0o17", None), ("01", "1"), ("1_000", None), (".5", "0.5"), ("-0", "0"),
     ("true", True), ("none", None), ("0x1F", None), ("12:30", None)],
)  # fmt: skip
def test_scalars_are_expressions_of_the_language(tmp_path, written, value):
    file = tmp_path / "m.yaml"
    file.write_text(
        f"method: m\ninputs: {{question: Text}}\nreturns: Evidence\nparams: {{k: {written}}}\n"
        "steps:\n  - return: neighbors(link(question, tau=k))\n"
    )
    checked = api.check(file)
    if isinstance(value, str):
        assert checked.ok
        link, _ = plan.steps(api.compile_recipe(file).body)
        assert plan.exact(link.options["tau"].value) == value
    else:
        assert not checked.ok


def test_a_key_without_a_value_is_an_empty_one(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(
        "method: m\ninputs: {question: Text}\nreturns: Text\nparams:\nvariants:\nuse:\n"
        "steps: [question]\n"
    )
    assert api.compile_recipe(file).method == "m"

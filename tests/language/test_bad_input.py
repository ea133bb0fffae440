"""Files that are no recipes: a clean refusal, quickly, whatever they hold."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reasoner import api, bundled
from reasoner.catalog import builtin
from reasoner.compiler.compile import check_module
from reasoner.errors import RecipeError, UsageError
from reasoner.frontends import rsn, yaml_recipe
from reasoner.source import Source

METHOD = "method m(question: Text) -> Text {\n  return question\n}\n"
YAML = "method: m\ninputs: {question: Text}\nreturns: Text\nsteps: [question]\n"
DEEP = 100_000

BYTES = {
    "binary": bytes(range(1, 256)) * 100,
    "nul": b"method m(\0)",
    "latin-1": METHOD.replace("question", "quéstion").encode("latin-1"),
    "utf-16": METHOD.encode("utf-16"),
    "half a character": METHOD.encode() + b"\xf0\x9f",
    "surrogate": b"# \xed\xa0\x80\n",
    "ten megabytes": b"# x\n" * 2_500_000,
    "three megabytes": b"# x\n" * 750_000,
}
TEXTS = {
    "open parentheses": "(" * DEEP,
    "open lists": METHOD.replace("return question", "return " + "[" * DEEP),
    "open braces": METHOD.replace("return question", "{" * DEEP),
    "deep types": METHOD.replace("Text)", "List[" * DEEP),
    "deep calls": METHOD.replace("return question", "return " + "link(" * DEEP),
    "deep each": METHOD.replace("return question", "each q in [question] {" * DEEP),
    "quotes": '"' * DEEP,
    "long quotes": '"""' * DEEP,
    "backslashes": '"' + "\\" * DEEP,
    "one word": "x" * 900_000,
    "no letters": "\u2028\u2029\u0085\ufeff\u200b" * 100,
}
YAML_TEXTS = {
    "deep flow": "steps: " + "[" * DEEP,
    "deep mappings": "steps: " + "{a: " * DEEP,
    "deep blocks": "".join(" " * i + "a:\n" for i in range(1_400)),
    "deep leaf": YAML.replace("[question]", "\n  - return: " + "(" * DEEP),
    "dashes": "- " * DEEP,
    "aliases": "a: &a [x]\n" + "".join(f"b{i}: [{'*a, ' * 9}*a]\n" for i in range(9)),
    "laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
    "directive": "%YAML 9.9\n---\na: b\n",
    "tags": "method: !<!> " * 100,
    "control": YAML + 'doc: "\a"\n',
    "surrogate": YAML + 'doc: "\\ud800"\n',
    "many values": YAML + "params: [" + "1," * 120_000 + "]\n",
    "colons": ": " * DEEP,
    "question marks": "? " * DEEP,
    "quote": "'" * DEEP,
}


def refused(path):
    """Check a file and compile it: the only way out is a plan or an error that is meant."""
    start = time.process_time()
    try:
        findings = api.check(path).findings
        for finding in findings[:20]:
            finding.render()
            finding.to_json()
            assert 0 <= finding.span.start <= finding.span.end <= len(finding.span.source.text)
        compiled = api.compile_recipe(path).hash
    except (RecipeError, UsageError) as error:
        assert str(error)
        compiled = None
    assert time.process_time() - start < 1
    return compiled is None


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
@pytest.mark.parametrize("content", BYTES.values(), ids=BYTES)
def test_bytes(tmp_path, content, suffix):
    file = tmp_path / f"m{suffix}"
    file.write_bytes(content)
    assert refused(file)


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_texts(tmp_path, content, suffix):
    file = tmp_path / f"m{suffix}"
    file.write_text(content)
    assert refused(file)


@pytest.mark.parametrize("content", YAML_TEXTS.values(), ids=YAML_TEXTS)
def test_yaml(tmp_path, content):
    file = tmp_path / "m.yaml"
    file.write_text(content)
    assert refused(file)


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
@pytest.mark.parametrize("content", ["", " \n\t\r\n ", "\ufeff", "# a comment\n"])
def test_nothing(tmp_path, content, suffix):
    file = tmp_path / f"m{suffix}"
    file.write_text(content)
    assert refused(file)
    for finding in api.check(file).findings:
        assert finding.render()


def test_a_folder(tmp_path):
    with pytest.raises(UsageError, match="folder"):
        api.check(tmp_path)


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
def test_links_that_lead_nowhere(tmp_path, suffix):
    file = tmp_path / f"m{suffix}"
    file.symlink_to(tmp_path / "gone")
    with pytest.raises(UsageError, match="no such file"):
        api.check(file)
    loop = tmp_path / f"loop{suffix}"
    loop.symlink_to(loop)
    with pytest.raises(UsageError):
        api.check(loop)


def test_names_that_are_no_recipes(tmp_path):
    (tmp_path / "m.txt").write_text(METHOD)
    for name in (tmp_path / "m.txt", tmp_path / "n.rsn", "no_such_recipe", ""):
        with pytest.raises(UsageError):
            api.check(name)
    with pytest.raises(UsageError, match="did you mean 'mirage'"):
        api.check("mirgae")


@pytest.mark.parametrize(
    "name", [pytest.param("x" * 300 + ".rsn", id="long"), "m\0.rsn", "m\0"]
)
def test_names_that_no_file_can_have(name):
    with pytest.raises(UsageError):
        api.check(name)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "p.rsn").write_text('prompt p(q: Text) -> Text { "{q}" }')
    (inside / "p.rsn").symlink_to(tmp_path / "p.rsn")
    (inside / "m.rsn").write_text('use p from "p"\n' + METHOD)
    (finding,) = (f for f in api.check(inside / "m.rsn").findings if f.span.text == '"p"')
    assert "link" in finding.message


def test_a_mark_of_byte_order_and_line_ends_are_read_over(tmp_path):
    plain, marked = tmp_path / "a.rsn", tmp_path / "b.rsn"
    plain.write_text(METHOD)
    marked.write_bytes(b"\xef\xbb\xbf" + METHOD.replace("\n", "\r\n").encode())
    assert api.compile_recipe(plain).hash == api.compile_recipe(marked).hash


PROMPT = 'prompt p(q: Text) -> Text { "%s {q}" }\n' + METHOD.replace(
    "return", "return ask p("
).replace("question\n}", "question) by r\n}")
SIZED = PROMPT.replace("-> Text { ", "-> List[Text] { ").replace("-> Text {\n", "-> List[Text] {\n")


@pytest.mark.parametrize("escape", ["\\ud800", "\\udfff \\ud800", "\\uD83D", "\\ud83d\\ude00"])
def test_half_characters(tmp_path, escape):
    file = tmp_path / "m.rsn"
    file.write_text(PROMPT % escape)
    refused(file)


@pytest.mark.parametrize("number", ["1e400", "1e20000", "-1e20000", "1e-20000",
                                    "1e99999999999999999999"])  # fmt: skip
def test_numbers_beyond_measure(tmp_path, number):
    file = tmp_path / "m.rsn"
    file.write_text(
        "method m(question: Text) -> Evidence {\n"
        f"  return neighbors(link(question), per_relation: {number})\n}}\n"
    )
    refused(file)


def test_limits_beyond_measure(tmp_path):
    file = tmp_path / "m.rsn"
    file.write_text((SIZED % "").replace("question)", "question, limit: 1e100000)"))
    assert refused(file)


@pytest.mark.parametrize(
    "text",
    [
        "# "
        + ")" * 9_000
        + "\n"
        + METHOD.replace("question\n}", "[" * 5_000 + "question" + "]" * 5_000 + "\n}"),
        METHOD.replace("return question", "return " + "each a in " * 2_000 + "[]" + "{a}" * 2_000),
    ],
    ids=["closed in a comment first", "each in each"],
)
def test_nesting_that_brackets_do_not_show(tmp_path, text):
    file = tmp_path / "m.rsn"
    file.write_text(text)
    assert refused(file)


@pytest.mark.parametrize(
    "text",
    [PROMPT % (":( " * 61), "# (\n" * 61 + METHOD],
    ids=["in a text", "in a comment"],
)
def test_brackets_that_open_nothing(tmp_path, text):
    file = tmp_path / "m.rsn"
    file.write_text(text)
    assert api.check(file).ok


def test_a_long_text_of_escapes(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(YAML.replace("[question]", '["' + "\\x41" * 3_000 + '"]'))
    assert refused(file)


# ---- any text at all ---------------------------------------------------------------------

RECIPES = {s: (bundled.folder("recipes") / f"mirage{s}").read_text() for s in (".rsn", ".yaml")}
PIECES = st.sampled_from(
    [*"()[]{}:,=\"'#&*!|>-?%@\\\n\t", '"""', "- ", ": ", "each ", "dialog ", "on ", "up to ", "1e9", "{{", "}}",
     "true", "none", "ask ", " by ", "return ", "variant ", "param ", "\\u0041", "\r\n", "\u2028", "é", "😀"]
) | st.characters(exclude_categories=["Cs"])  # fmt: skip


@st.composite
def mutated(draw, suffix):
    text = RECIPES[suffix]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.integers(0, 30)))
        match draw(st.sampled_from(["delete", "insert", "swap", "repeat"])):
            case "delete":
                text = text[:at] + text[end:]
            case "insert":
                text = text[:at] + draw(PIECES) + text[at:]
            case "swap":
                far = draw(st.integers(end, len(text)))
                text = text[:at] + text[end:far] + text[at:end] + text[far:]
            case "repeat":
                text = text[:end] + text[at:end] + text[end:]
    return text


def never_raises(text, suffix):
    source = Source(f"m{suffix}", text)
    parse = {".rsn": rsn.parse_module, ".yaml": yaml_recipe.parse_module}[suffix]
    try:
        module = parse(source)
    except RecipeError as error:
        findings = error.diagnostics
        assert findings
    else:
        loader = api.library_loader(bundled.folder("recipes") / f"mirage{suffix}")
        findings = check_module(module, loader, builtin()).findings
    for finding in findings:
        for span in (finding.span, *(r.span for r in finding.related)):
            assert 0 <= span.start <= span.end <= len(span.source.text)
        assert finding.message
        assert finding.render()
        finding.to_json()


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
@given(data=st.data())
def test_the_checker_never_raises_on_changed_recipes(suffix, data):
    never_raises(data.draw(mutated(suffix)), suffix)


@pytest.mark.parametrize("suffix", [".rsn", ".yaml"])
@given(
    text=st.lists(PIECES | st.sampled_from(["method m", "(q: Text)", "-> Text"]), max_size=60).map(
        "".join
    )
)
@example(text='prompt p() -> Text { "" }')
@example(text='"\\')
@example(text="a: \n  - ? \n")
def test_the_checker_never_raises_on_any_text(suffix, text):
    never_raises(text, suffix)

"""The language server, driven as an editor drives it: messages over standard input and output."""

import pytest

from tests.editor.client import ROOT, Client

LIBRARY = """prompt split(question: Text, limit: Number) -> List[Text] { "{question} {limit}" }
prompt tell(question: Text, found: List[Evidence]) -> Answer { "{question} {found}" }
"""
RSN = """use split, tell from "prompts/mine"

method m(question: Text) -> Answer {
  param most = 3
  parts = ask split(question, limit: most) by planner
  found = each part in parts { neighbors(link(part), per_relation: most) }
  return ask tell(question, found) by writer
  variant small { param most = 1  parts = [question] }
}
"""
YAML = """method: m
use: {prompts/mine: [split, tell]}
inputs: {question: Text}
returns: Answer
params: {most: 3}
steps:
  - parts: ask split(question, limit=most) by planner
  - found:
      each: part in parts
      do: neighbors(link(part), per_relation=most)
  - return: ask tell(question, found) by writer
variants:
  small: [{params: {most: 1}}, {parts: "[question]"}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("recipes")
    (place / "prompts").mkdir()
    (place / "prompts/mine.rsn").write_text(LIBRARY)
    return place


@pytest.fixture(scope="module")
def client(folder):
    client = Client(folder)
    told = client.start(textDocument={"rename": {"prepareSupport": True}})
    assert told["hoverProvider"]
    assert told["definitionProvider"]
    assert told["renameProvider"]["prepareProvider"]
    assert told["textDocumentSync"]["change"] == 1
    yield client
    assert client.close() == 0


@pytest.fixture(params=["rsn", "yaml"])
def opened(request, client, folder):
    """A recipe in each notation: its client, its address and its text."""
    text = {"rsn": RSN, "yaml": YAML}[request.param]
    uri = (folder / f"m.{request.param}").as_uri()
    assert client.open(uri, text) == []
    yield client, uri, text
    client.notify("textDocument/didClose", textDocument={"uri": uri})


def place(text, words, offset=0, nth=0):
    """Return the line and character of the nth occurrence of some words."""
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    before = text[: start + offset]
    return before.count("\n"), len(before) - before.rfind("\n") - 1


def applied(text, edits):
    lines = text.split("\n")

    def offset(p):
        return sum(len(line) + 1 for line in lines[: p["line"]]) + p["character"]

    for edit in sorted(edits, key=lambda e: offset(e["range"]["start"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


# ---- findings ----------------------------------------------------------------------------


def test_findings_follow_the_text(opened):
    client, uri, text = opened
    (found,) = client.change(uri, text.replace("neighbors(", "neigbors("))
    assert (found["code"], found["severity"], found["source"]) == ("R201", 1, "reasoner")
    assert "did you mean 'neighbors'?" in found["message"]
    line, character = place(text, "neighbors(")
    assert found["range"] == {
        "start": {"line": line, "character": character},
        "end": {"line": line, "character": character + 8},
    }
    assert client.change(uri, text) == []
    (found,) = client.change(
        uri, text.replace("[split, tell]", "[split, tel]").replace("split, tell ", "split, tel ")
    )[:1]
    assert "did you mean 'tell'?" in found["message"]


def test_a_second_place_is_given(client, folder):
    uri = (folder / "twice.rsn").as_uri()
    found = client.open(uri, "method m(a: Text) -> Text { x = a  x = a  return x }")
    (again,) = [f for f in found if f["code"] == "R207"]
    (related,) = again["relatedInformation"]
    assert related["location"]["uri"] == uri
    assert related["location"]["range"]["start"] == {"line": 0, "character": 28}


def test_characters_beyond_the_basic_plane_count_twice(client, folder):
    uri = (folder / "wide.rsn").as_uri()
    (found,) = client.open(uri, 'method m(a: Text) -> Text { "😀😀" + b }')
    assert found["range"]["start"]["character"] == 37
    assert client.at("hover", uri, (0, 10))["result"]["contents"]["value"].count("input a: Text")


# ---- completion --------------------------------------------------------------------------


def typed(opened, old, new, cursor):
    """Change the text, and return what is offered behind ``cursor``."""
    client, uri, text = opened
    assert old in text
    text = text.replace(old, new, 1)
    client.change(uri, text)
    return client.completions(uri, place(text, cursor, len(cursor)))


def test_options_of_the_operator_at_the_cursor(opened):
    offered = typed(opened, "link(part)", "link(part, ", "link(part, ")
    assert offered[:3] == ["tau", "sim", "embedder"] or {"tau", "embedder"} <= set(offered[:4])
    offered = typed(opened, "link(part)", "link(part, ta", "link(part, ta")
    assert offered == ["tau"]


def test_options_are_written_as_the_notation_wants(opened):
    client, uri, text = opened
    changed = text.replace("link(part)", "link(part, ta", 1)
    client.change(uri, changed)
    at = place(changed, "part, ta", 8)
    (item,) = client.at("completion", uri, at)["result"]["items"]
    assert item["insertText"] == ("tau: " if uri.endswith("rsn") else "tau=")


def test_names_in_scope_and_operators(opened):
    offered = typed(opened, "link(part)", "link(", "link(")
    assert {"part", "parts", "most", "question", "neighbors", "ask"} <= set(offered)
    assert "found" not in offered
    offered = typed(opened, "ask tell(question, found)", "ask tell(question, f", "question, f")
    assert "found" in offered
    assert "part" not in offered


def test_prompts_roles_and_inputs(opened):
    assert typed(opened, "ask split(", "ask ", "ask ")[:2] == ["split", "tell"]
    assert "writer" in typed(opened, "by planner", "by ", ") by ")
    offered = typed(opened, "ask split(question, ", "ask split(question, l", "question, l")
    assert offered[0] == "limit"


def test_broken_text_still_completes(opened):
    client, uri, _ = opened
    offered = typed(opened, "link(part)", "li", "neighbors(li")
    assert "link" in offered
    assert client.findings[uri]


def test_keywords_of_the_text_notation(client, folder):
    uri = (folder / "new.rsn").as_uri()
    client.open(uri, "")
    assert client.completions(uri, (0, 0)) == ["use", "prompt", "method"]
    text = "method m(a: "
    client.change(uri, text)
    assert {"Text", "List", "Evidence"} <= set(client.completions(uri, (0, len(text))))
    text = "method m(a: Text) -> Text { x = each y in [a] on_error "
    client.change(uri, text)
    offered = client.completions(uri, (0, len(text)))
    assert offered == ["fail", "skip", "default", "quorum"]
    text = 'method m(a: Text) -> Text { "a text, '
    client.change(uri, text)
    assert client.completions(uri, (0, len(text))) == []


@pytest.mark.parametrize(
    ("tail", "some", "others"),
    [
        ("", {"steps", "variants"}, {"method", "each"}),
        (
            "steps:\n  - a:\n      each: x in xs\n      ",
            {"do", "on_error", "limit"},
            {"each", "if"},
        ),
        ("steps:\n  - a:\n      ", {"each", "dialog", "loop"}, {"steps"}),
        ("steps:\n  - ", {"return", "each", "neighbors", "ask"}, {"steps"}),
        ("steps:\n  - dialog: p(q) by r\n    ", {"searches", "turns", "on"}, {"each"}),
        ("steps:\n  - a:\n      each: x in xs\n      on_error: ", {"skip", "quorum"}, {"link"}),
        ("prompts:\n  p:\n    ", {"returns", "text", "task"}, {"steps"}),
        ("prompts:\n  p:\n    task: ", {"decompose", "answer"}, {"steps"}),
        ("budget:\n  ", {"calls", "usd"}, {"steps"}),
        ("returns: ", {"Text", "Answer"}, {"link"}),
    ],
)
def test_keys_of_the_yaml_notation(tail, some, others, client, folder):
    uri = (folder / "new.yaml").as_uri()
    text = f"method: m\ninputs: {{question: Text}}\n{tail}"
    client.open(uri, text)
    lines = text.split("\n")
    offered = set(client.completions(uri, (len(lines) - 1, len(lines[-1]))))
    assert some <= offered
    assert not others & offered


# ---- places ------------------------------------------------------------------------------


def test_hover(opened):
    client, uri, text = opened
    page = client.at("hover", uri, place(text, "neighbors(", 3))["result"]["contents"]["value"]
    assert "neighbors(entity" in page or "neighbors(" in page
    page = client.at("hover", uri, place(text, "split(", 2))["result"]["contents"]["value"]
    assert "prompt split(question: Text, limit: Number) -> List[Text]" in page
    page = client.at("hover", uri, place(text, "=most" if "=most" in text else ": most", 3))[
        "result"
    ]
    assert "param most = 3" in page["contents"]["value"]
    assert client.at("hover", uri, (0, 0))["result"] is None


def test_definitions(opened, folder):
    client, uri, text = opened
    found = client.at("definition", uri, place(text, "in parts", 4))["result"]
    assert found["uri"] == uri
    assert (found["range"]["start"]["line"], found["range"]["start"]["character"]) == place(
        text, "parts: ask" if "parts: ask" in text else "parts = ask"
    )
    found = client.at("definition", uri, place(text, "tell(", 1))["result"]
    assert found["uri"] == (folder / "prompts/mine.rsn").as_uri()
    assert found["range"]["start"] == {"line": 1, "character": 7}
    found = client.at("definition", uri, place(text, "prompts/mine", 3))["result"]
    assert found["uri"] == (folder / "prompts/mine.rsn").as_uri()
    found = client.at("definition", uri, place(text, "link(part", 6))["result"]
    assert found["range"]["start"]["character"] == place(text, "part in parts")[1]


def test_hover_and_definition_where_the_text_does_not_parse(opened):
    client, uri, text = opened
    broken = text.replace("by writer", "by")
    assert client.change(uri, broken)
    page = client.at("hover", uri, place(broken, "neighbors(", 3))["result"]["contents"]["value"]
    assert "neighbors(" in page
    found = client.at("definition", uri, place(broken, "in parts", 4))["result"]
    assert found["range"]["start"]["line"] == place(text, "parts")[0]
    found = client.at("definition", uri, place(broken, "tell(", 1))["result"]
    assert found["uri"].endswith("prompts/mine.rsn")


# ---- renaming ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["parts", "part", "most", "question", "found"])
def test_rename_edits_every_place_and_nothing_else(name, opened):
    client, uri, text = opened
    lead = {"parts": "in parts", "part": "link(part", "most": "most", "question": "question"}
    words = lead.get(name, f", {name}")
    at = place(text, words, len(words) - 1)
    before = client.at("prepareRename", uri, at)["result"]
    assert before["end"]["character"] - before["start"]["character"] == len(name)
    changes = client.at("rename", uri, at, newName="renamed")["result"]["changes"]
    assert list(changes) == [uri]
    changed = applied(text, changes[uri])
    assert changed.count("renamed") == len(changes[uri]) >= 2
    assert client.change(uri, changed) == []
    back = client.at("rename", uri, at, newName=name)["result"]["changes"]
    assert applied(changed, back[uri]) == text


@pytest.mark.parametrize(
    ("name", "words"),
    [("most", "already has a meaning"), ("each", "is not a name"), ("a b", "is not a name")],
)
def test_a_name_that_does_not_fit_is_refused(name, words, opened):
    client, uri, text = opened
    reply = client.at("rename", uri, place(text, "in parts", 4), newName=name)
    assert words in reply["error"]["message"]


def test_prompts_and_broken_texts_are_not_renamed(opened):
    client, uri, text = opened
    assert client.at("prepareRename", uri, place(text, "tell(", 1))["result"] is None
    client.change(uri, text.replace("by writer", "by"))
    assert client.at("prepareRename", uri, place(text, "parts"))["result"] is None
    reply = client.at("rename", uri, place(text, "parts"), newName="x")
    assert "once the recipe parses" in reply["error"]["message"]


def test_bundled_recipes_have_no_findings(client):
    for path in sorted((ROOT / "recipes").glob("*.*")):
        assert not [f for f in client.open(path.as_uri(), path.read_text()) if f["severity"] == 1]


def test_other_units_are_agreed_on(folder):
    client = Client(folder)
    told = client.start(general={"positionEncodings": ["utf-32", "utf-16"]})
    uri = (folder / "wide32.rsn").as_uri()
    (found,) = client.open(uri, 'method m(a: Text) -> Text { "😀😀" + b }')
    wide = told.get("positionEncoding", "utf-16") == "utf-16"
    assert found["range"]["start"]["character"] == (37 if wide else 35)
    assert client.close() == 0

"""Documents without an editor: nothing is too broken to be asked about."""

import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api, bundled
from reasoner.editor import words as w
from reasoner.editor.complete import complete
from reasoner.editor.document import Document
from reasoner.editor.server import Units, path_of, serve
from reasoner.editor.symbols import LOCAL, occurrences
from reasoner.errors import UsageError
from reasoner.source import Source

RECIPES = sorted(
    p for p in bundled.folder("recipes").glob("*.*") if p.suffix in api.NOTATIONS
)  # fmt: skip
FORMS = """prompt say(q: Text) -> Text { "{q}" }
prompt split(q: Text, limit: Number) -> List[Text] { "{q} {limit}" }
method m(question: Text) -> Text {
  parts = ask split(question, limit: 3) by a
  thought = matrix rows 2, columns 2 { cell(above, row) { above } summary(cells) { question } }
  best = frontier from parts, best: 2, depth: 2 { visit(t) { ask say(t) by a } }
  tried = first x of { ask say(question) by a; thought } accept x != ""
  state = loop s = tried up to 3 until s == question { ask say(s) by a }
  total = fold part in parts from acc = state { helper(acc + part, most: 2) }
  chosen = if total == thought { budget(calls: 2) { ask say(total) by a } } else { thought }
  [chosen] + best == [] or false
  ask say(total) by a
}
method helper(given: Text) -> Text { param most = 1  one = [given]  each o in one up to most { o }  given }
"""


def ask_everything(document, offset):
    document.complete(offset)
    document.hover(offset)
    document.definition(offset)
    with suppress(UsageError):
        document.rename(offset, "fresh")


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: p.name)
def test_a_text_cut_anywhere_can_be_asked_about(path):
    text = path.read_text()
    document = Document(str(path))
    document.update(text)
    assert document.current
    for end in range(0, len(text), 7):
        document.update(text[:end])
        ask_everything(document, end)


@given(st.text(max_size=80), st.sampled_from(["m.rsn", "m.yaml"]))
def test_any_text_can_be_asked_about(text, name):
    document = Document(name)
    document.update(text)
    for offset in range(len(text) + 1):
        ask_everything(document, offset)


@pytest.mark.parametrize("path", RECIPES, ids=lambda p: p.name)
def test_every_rename_leaves_a_recipe_without_new_findings(path):
    document = Document(str(path))
    text = path.read_text()
    document.update(text)
    spots = {o.symbol: o.span.start for o in document.found if o.symbol.kind in LOCAL}
    assert len(spots) >= 8
    for symbol, offset in spots.items():
        spans = document.rename(offset, "fresh_name")
        changed = text
        for span in sorted(spans, key=lambda s: -s.start):
            changed = f"{changed[: span.start]}fresh_name{changed[span.end :]}"
        after = api.check_source(Source(str(path), changed))[1]
        assert not [f for f in after.findings if f not in document.findings], symbol
        again = Document(str(path))
        again.update(changed)
        assert len(again.found) == len(document.found)


def test_every_form_binds_what_the_checker_says():
    document = Document("m.rsn")
    document.update(FORMS)
    assert document.current
    names = {o.symbol.name for o in document.found if o.symbol.kind == "variable"}
    assert {"x", "s", "part", "acc", "t", "above", "cells", "o"} <= names
    uses = {
        name: sum(o.symbol.name == name for o in document.found)
        for name in ("x", "s", "acc", "t", "most")
    }
    assert uses == {"x": 2, "s": 3, "acc": 2, "t": 2, "most": 3}


def test_occurrences_stand_where_their_name_stands():
    for path in RECIPES:
        source = api.read_source(path)
        for found in occurrences(api.parse(source), api.library_loader(path)):
            assert found.span.text == found.symbol.name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("method m(a: Text) -> Text { b = c(", ["a"]),
        ("method m(a: Text) -> Text { b = a  c(", ["a", "b"]),
        ("method m(a: Text) -> Text { b = x(y: 1)  c = ", ["a", "b"]),
        ("method m(a: Text) -> Text { b = each c in a { ", ["a", "c"]),
        ("method m(a: Text) -> Text { b = each c in a { c } ", ["a", "b"]),
        ("method m(a: Text) -> Text { b = dialog p(a) by r, searches: 2 { on t(c, d) { ", ["a", "c", "d"]),
        ("method m(a: Text) -> Text { b = fold c in a from d = a { ", ["a", "c", "d"]),
        ("method m(a: Text) -> Text { b = loop c = a up to 3 { ", ["a", "c"]),
        ("method m() -> Text { param a = 3 b = ", ["a"]),
        ("method m(a: Text) -> Text { a } method n(b: Text) -> Text { ", ["b"]),
    ],
)  # fmt: skip
def test_names_in_scope_by_words(text, names):
    assert w.names_in_scope(w.words(text)) == names


@pytest.mark.parametrize("yaml", [False, True])
@pytest.mark.parametrize("part", [" ", "a", "(", "a(", '"', "- ", "a: ", "x, ", "\n", '\\"'])
def test_a_hostile_line_takes_no_time(part, yaml):
    text = "steps:\n  - a" + part * (200_000 // len(part))
    started = time.process_time()
    complete(text, len(text), {}, {}, yaml=yaml)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@given(st.text("a\u00e9\u20ac\U0001f600\n", max_size=30))
def test_units_there_and_back(encoding, text):
    units = Units(Source("t", text), encoding)
    for offset in range(len(text)):
        assert units.offset(*units.of(offset)) == offset
    assert units.offset(10_000, 0) == len(text)


def test_a_missing_library_is_one_clear_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    with pytest.raises(UsageError, match=r"pip install 'reasoner\[lsp\]'"):
        serve()


def test_paths_of_addresses(tmp_path):
    odd = tmp_path / "a b%é.rsn"
    assert path_of(odd.as_uri(), "") == str(odd)
    assert path_of("untitled:Untitled-1", "yaml") == "Untitled-1.yaml"
    assert path_of("untitled:Untitled-1", "reasoner") == "Untitled-1.rsn"
    assert path_of("file:///c%3A/x/m.rsn", "") == "c:/x/m.rsn"
    assert Path(path_of("file:///r/m.yaml", "")) == Path("/r/m.yaml")

"""Wrong recipes, each with what the checker must say beside the wrong line.

``# E: CODE:COLUMN message => suggestion`` expects an error on its line (``W`` a warning), and a
suggestion of that name. ``E+1`` stands for the line below, and so on; ``|`` separates findings.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from reasoner import api
from reasoner.errors import Severity

HERE = Path(__file__).parent / "errors"
_MARK = re.compile(r"# (?=[EW](?:[+-]\d+)?: R\d{3}:)")
_ONE = re.compile(r"([EW])([+-]\d+)?: (R\d{3}):(\d+) (.*)")
_HINT = re.compile(r"did you mean '(.*)'\?")


class Expected(NamedTuple):
    line: int
    column: int
    severity: str
    code: str
    message: str
    suggestion: str


def expected_in(text):
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not (mark := _MARK.search(line)):
            continue
        for one in line[mark.end() :].split(" | "):
            match = _ONE.fullmatch(one.strip())
            assert match, f"line {number}: {one!r} is no expectation"
            severity, offset, code, column, rest = match.groups()
            message, _, suggestion = rest.partition(" => ")
            place = number + int(offset or 0), int(column)
            found.append(Expected(*place, severity, code, message, suggestion))
    return sorted(found)


def seen(finding):
    hint = _HINT.fullmatch(finding.hint)
    return Expected(
        finding.span.line,
        finding.span.column,
        "W" if finding.severity is Severity.WARNING else "E",
        finding.code,
        finding.message.replace(f"{HERE}/", ""),
        hint[1] if hint else "",
    )


def check_file(path):
    findings = api.check(path).findings
    assert findings
    sources = {f.span.source.name: f.span.source for f in findings}
    wanted = {name: expected_in(source.text) for name, source in sources.items()}
    wanted.setdefault(str(path), expected_in(path.read_text()))
    actual = {name: [] for name in wanted}
    for finding in findings:
        actual[finding.span.source.name].append(seen(finding))
    assert {name: sorted(found) for name, found in actual.items()} == wanted
    for finding in findings:
        check_rendering(finding)


def check_rendering(finding):
    for span in (finding.span, *(r.span for r in finding.related)):
        assert 0 <= span.start < span.end <= len(span.source.text)
    head, excerpt, caret, *_ = finding.render().split("\n")
    assert head.startswith(f"{finding.span.place}: ")
    line = finding.span.source.line_text(finding.span.line)
    if len(line) <= 160:
        assert excerpt[4:] == line.replace("\t", " ")
        assert caret.index("^") == 4 + finding.span.column - 1
    assert excerpt[4:] in line.replace("\t", " ")
    assert excerpt[caret.index("^")] == finding.span.text[0].replace("\t", " ")
    assert len(caret) <= len(excerpt)
    assert finding.to_json()["line"] == finding.span.line


def files(folder):
    return sorted(p for p in folder.glob("*.*") if p.suffix in api.NOTATIONS)


@pytest.mark.parametrize("path", files(HERE), ids=lambda p: p.name)
def test_wrong_recipes_get_exactly_the_findings_they_name(path):
    check_file(path)


def related_of(name):
    (path,) = HERE.rglob(name)
    return [
        (r.message, r.span.line, r.span.text) for f in api.check(path).findings for r in f.related
    ]


@pytest.mark.parametrize(
    ("name", "related"),
    [
        ("list_where_one_is_needed.rsn", ("the list is made here", 4, "parts")),
        ("list_where_one_is_needed.yaml", ("the list is made here", 5, "words")),
        ("unbounded_each.rsn", ("the list is made here", 3, "words")),
        ("wrong_type.rsn", ("this Text is made here", 1, "question: Text")),
        ("binding_twice.yaml", ("first defined here", 5, "at")),
        ("duplicate_key.yaml", ("first given here", 3, "returns")),
        ("shadowed_input.rsn", ("the outer one is bound here", 1, "question: Text")),
        ("unclosed_parenthesis.rsn", ("'(' opened here", 2, "(")),
        ("syntax_in_folded_leaf.yaml", ("'(' opened here", 7, "(")),
    ],
)  # fmt: skip
def test_a_second_place_explains(name, related):
    assert related in related_of(name)


def test_every_file_holds_a_mistake():
    assert len(files(HERE)) >= 70
    for path in files(HERE):
        uses_wrong_library = re.search("lib/(wrong|circle)", path.read_text())
        assert expected_in(path.read_text()) or uses_wrong_library, path.name


def test_a_fix_removes_its_finding(tmp_path):
    for path in files(HERE):
        findings = api.check(path).findings
        fixable = [f for f in findings if f.fix and f.fix.span.source.name == str(path)]
        if len(findings) != 1 or not fixable:
            continue
        (fix,) = (f.fix for f in fixable)
        text = fix.span.source.text
        fixed = tmp_path / path.name
        fixed.write_text(text[: fix.span.start] + fix.text + text[fix.span.end :])
        again = api.check(fixed).findings
        assert findings[0].message not in [f.message for f in again], path.name

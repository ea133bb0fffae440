"""Drawings of plans: every step once, nothing hostile gets through, the text is what it was."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner import api, bundled, plan
from reasoner.drawing.layers import Size, arrange
from reasoner.drawing.mermaid import mermaid
from reasoner.drawing.scene import scene
from reasoner.drawing.svg import svg
from tests.compiler.support import compiled

HERE = Path(__file__).parent
MIRAGE = bundled.folder("recipes") / "mirage.rsn"
SVG = "{http://www.w3.org/2000/svg}"
MATRIX = """[matrix rows 3, columns 2, weights [[0, 0.25], [1, 0]] {
  column(previous) { ask say(previous) by r }
  cell(shared, above) { ask say(shared + above) by r }
  summary(cells) { ask choose(question, cells) by r }
}]"""
BODIES = [
    "[question]",
    "[lookup(lookup(question)), lookup(question)]",
    "each q in words(question, top: 5) { ask say(q) by r }",
    "[dialog look(question) by r, searches: 3 { on s(a) { neighbors(link(a)) } }]",
    "if question == question { [ask say(question) by r] } else { [lookup(question)] }",
    "first x of { [ask say(question) by r]; [lookup(question)] } accept x != []",
    "[loop s = question up to 4 until s == question { ask say(s) by r }]",
    "[fold w in words(question, top: 5) from s = question { ask say(s + w) by r }]",
    "[budget(calls: 1, usd: 0.5) { ask say(question) by r }]",
    MATRIX,
    """frontier from words(question, top: 5), best: 2, depth: 3, grown: 4 {
         score(w) { 1 } visit(w) { ask say(w) by r } grow(all) { words(question) } }""",
]


def drawn(body):
    kind = "List[Chain]" if "dialog" in body else "List[Text]"
    return compiled(body, kind)


def ids(found):
    return sorted(s.id for s in plan.steps(found.body))


@pytest.mark.parametrize("variant", [None, "without_both"])
def test_mermaid_of_a_bundled_recipe(variant):
    name = f"mirage.{variant}.mmd" if variant else "mirage.mmd"
    text = mermaid(api.compile_recipe(MIRAGE, variant=variant))
    assert text == (HERE / name).read_text()


@pytest.mark.parametrize("body", BODIES)
def test_every_step_is_drawn_once(body):
    found = drawn(body)
    root = ET.fromstring(svg(found))
    assert sorted(e.get("data-step") for e in root.iter() if e.get("data-step")) == ids(found)
    text = mermaid(found)
    assert text.count("subgraph ") == len(re.findall(r"^ *end$", text, re.MULTILINE))
    named = re.findall(r"^ *(?:subgraph )?(n\d+)(?:\[|\()", text, re.MULTILINE)
    assert len(named) == len(set(named))
    for source, target in re.findall(r"(n\w+) -->(?:\|.*?\|)? (n\w+)$", text, re.MULTILINE):
        for name in (source, target):
            assert re.search(rf"^ *(?:subgraph )?{name}(?:\[|\()", text, re.MULTILINE), name


def test_a_matrix_is_drawn_as_a_matrix():
    text = mermaid(drawn(MATRIX))
    assert "1x2 -->|0.25| " in text
    assert "2x1 -->|1| " in text
    assert text.count("-->|") == 2  # a weight of 0 is no arrow
    shown = [e.text for e in ET.fromstring(svg(drawn(MATRIX))).iter(f"{SVG}text")]
    cells = ["1,1", "2,1", "3,1", "1,2", "2,2", "3,2", "summary 1", "summary 2", "0.25"]
    assert set(cells) <= set(shown)


def test_a_large_matrix_says_what_is_not_drawn():
    big = MATRIX.replace("rows 3, columns 2, weights [[0, 0.25], [1, 0]]", "rows 30, columns 40")
    shown = [e.text for e in ET.fromstring(svg(drawn(big))).iter(f"{SVG}text")]
    assert "first 12 x 12" in shown
    assert "13,1" not in shown


@pytest.mark.parametrize("escape", ["<script>alert(1)</script>", "]]>&amp;", "\x1b[2J", "\u202e"])
def test_hostile_texts_are_only_text(escape):
    quoted = escape.replace("\\", "\\\\").replace('"', '\\"')
    found = drawn(f'[ask say("{quoted}\\"]") by r]')
    picture = svg(found)
    root = ET.fromstring(picture)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg", "title", "defs", "marker", "path", "rect", "text", "g",
    }  # fmt: skip
    assert not any(k.startswith("on") or "href" in k for e in root.iter() for k in e.attrib)
    assert "<script" not in picture
    text = mermaid(found)
    assert "<script" not in text
    assert "\x1b" not in picture + text
    assert "\u202e" not in picture + text
    for line in text.splitlines():
        assert line.count('"') in {0, 2}, line


def shapes(group):
    for shape in group.shapes:
        yield shape
        for inner in shape.groups:
            yield from shapes(inner)


@pytest.mark.parametrize("body", BODIES)
def test_arrows_join_shapes_of_one_block(body):
    top = scene(drawn(body))
    groups = [top, *(g for s in shapes(top) for g in s.groups)]
    for group in groups:
        order = [s.key for s in group.shapes]
        assert len(order) == len(set(order))
        for arrow in group.arrows:
            assert order.index(arrow.source) < order.index(arrow.target)


@st.composite
def graphs(draw):
    count = draw(st.integers(0, 12))
    side = st.integers(10, 300).map(float)
    sizes = {f"k{i}": Size(draw(side), draw(side)) for i in range(count)}
    pairs = [(f"k{i}", f"k{j}") for j in range(count) for i in range(j)]
    arrows = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    return sizes, arrows


def overlap(a, b):
    (ax, ay, aw, ah), (bx, by, bw, bh) = a, b
    return ax < bx + bw and bx < ax + aw and ay < by + bh and by < ay + ah


@given(graphs())
def test_boxes_stay_apart_and_arrows_point_down(graph):
    sizes, arrows = graph
    layout = arrange(sizes, arrows)
    boxes = [(*layout.places[k], sizes[k].width, sizes[k].height) for k in sizes]
    for i, a in enumerate(boxes):
        assert a[0] >= -1e-6
        assert a[0] + a[2] <= layout.size.width + 1e-6
        assert a[1] + a[3] <= layout.size.height + 1e-6
        assert not any(overlap(a, b) for b in boxes[i + 1 :])
    assert set(layout.routes) == set(arrows)
    for points in layout.routes.values():
        assert all(one[1] <= two[1] for one, two in pairwise(points))

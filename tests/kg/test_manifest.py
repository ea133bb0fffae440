"""``kg.yaml``: what is wrong is pointed at, and no path leads out of the graph's folder."""

import re

import pytest

from reasoner import api
from reasoner.errors import GraphError, ReasonerError, RecipeError
from reasoner.kg.manifest import Manifest


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "graph"
    place.mkdir()
    (place / "triples.tsv").write_text("a\tr\tb\n")
    return place


def opened(folder, text=None):
    if text is not None:
        (folder / "kg.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    return api.open_graph(str(folder), folder.parent / "cache")


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("- a\n", 1, 1, "dictionary"),
        ("just words\n", 1, 1, "dictionary"),
        ("name: [\n", 1, None, "not YAML"),
        ("name: g\n\tembedder: x\n", 2, 1, "not with tabs"),
        ("name: g\nnam: x\n", 2, 1, "did you mean 'name'"),
        ("name: g\nname: h\n", 2, 1, "given twice"),
        ("name: [a]\n", 1, 7, "string"),
        ("name: &x a\n", 1, 7, "anchors"),
        ("name: !!str a\n", 1, 7, "tag"),
        ("name: a\n---\nname: b\n", 2, 1, "second YAML document"),
        ("? [a]\n: b\n", 1, 3, "plain word"),
        ('name: "\\ud800"\n', 1, None, "not YAML"),
        ("relations: [a]\n", 1, 12, "dictionary"),
        ("relations:\n  r: x\n", 2, 6, "dictionary"),
        ("relations:\n  r: {words: x}\n", 2, 7, "unknown key 'words'"),
        ("relations:\n  r: {template: '{h} x'}\n", 2, 17, "{h} once and {t} once"),
        ("relations:\n  r: {template: '{h} {t} {t}'}\n", 2, 17, "{h} once and {t} once"),
        ("relations:\n  r: {strength: 2}\n", 2, 17, "less than or equal to 1"),
        ("relations:\n  r: {strength: -0.1}\n", 2, 17, "greater than or equal to 0"),
        ("relations:\n  r: {strength: nan}\n", 2, 17, "finite"),
        ("relations:\n  r: {strength: strong}\n", 2, 17, "decimal"),
        ("relations:\n  r: {structural: perhaps}\n", 2, 19, "boolean"),
        ("relations:\n  r: {inverse: q}\n", 1, 1, "no relation named 'q'"),
        ("relations: {r: {}}\nrules: {conflict: [r, q]}\n", 1, 1, "no relation named 'q'"),
        ("rules: {conflict: [a, b, c]}\n", 1, 20, "at most 2"),
        ("rules: {conflict: [[a, b], [c]]}\n", 1, 28, "required"),
        ("rules: {conflict: a}\n", 1, 19, "tuple"),
        ("rules: {exclude: [a, b]}\n", 1, 9, "unknown key 'exclude'"),
        ("triples: ../x.tsv\n", 1, 10, "inside the graph's own folder"),
        ("triples: x/../../y\n", 1, 10, "inside the graph's own folder"),
        ("triples: /etc/passwd\n", 1, 10, "inside the graph's own folder"),
        ("entities: ..\\x.tsv\n", 1, 11, "inside the graph's own folder"),
        ("x: " + "[" * 90 + "]" * 90 + "\n", 1, None, "nested"),
    ],
)
def test_what_is_wrong_is_pointed_at(folder, text, line, column, says):
    with pytest.raises(RecipeError, match=re.escape(says)) as error:
        opened(folder, text)
    span = error.value.diagnostics[0].span
    assert (span.line, span.column if column else None) == (line, column)
    assert span.source.name.endswith("kg.yaml")
    assert f"kg.yaml:{line}:" in str(error.value)


def test_all_findings_are_told_at_once(folder):
    with pytest.raises(RecipeError) as error:
        opened(folder, "nam: x\nrelations:\n  r: {strength: 2}\n  s: {template: no}\n")
    assert [d.span.line for d in error.value.diagnostics] == [1, 3, 4]


@pytest.mark.parametrize("text", [b"name: \xff\n", "name: a\0b\n"])
def test_what_is_no_text_is_refused_by_name(folder, text):
    with pytest.raises(ReasonerError, match=r"kg\.yaml"):
        opened(folder, text)


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "name: g\n", "rules: {conflict: [treats, causes]}\n"]
)
def test_every_key_has_a_default(folder, text):
    assert opened(folder, text).store.triples.height == 1


@pytest.mark.parametrize("text", ["rules: {conflict: [r, s]}\n", "rules: {conflict: [[s, r]]}\n"])
def test_one_pair_needs_no_second_bracket(folder, text):
    assert opened(folder, text).conflicts == {frozenset("rs")}


@pytest.mark.parametrize("key", ["triples", "entities"])
@pytest.mark.parametrize("value", ["gone.tsv", ".", '"a\\0b"'])
def test_a_file_that_is_not_there_is_named(folder, key, value):
    with pytest.raises(GraphError, match="which is not there"):
        opened(folder, f"{key}: {value}\n")


@pytest.mark.parametrize("key", ["triples", "entities", None])
def test_a_name_too_long_for_a_file_is_refused(folder, key):
    with pytest.raises((GraphError, RecipeError)):
        opened(folder, f"{key}: {'a' * 300}\n") if key else api.open_graph("a" * 300)


@pytest.mark.parametrize("key", ["triples", "entities"])
@pytest.mark.parametrize("deep", [False, True])
def test_no_link_leads_out_of_the_folder(folder, key, deep):
    secret = folder.parent / "secret.tsv"
    secret.write_text("name\tr\tb\n")
    if deep:
        (folder / "sub").symlink_to(folder.parent)
        name = "sub/secret.tsv"
    else:
        (folder / "link.tsv").symlink_to(secret)
        name = "link.tsv"
    with pytest.raises(GraphError, match="outside the graph's folder"):
        opened(folder, f"{key}: {name}\n")


@pytest.mark.parametrize("name", ["triples.tsv", "entities.tsv"])
def test_no_link_of_a_default_name_leads_out_either(folder, name):
    secret = folder.parent / "secret.tsv"
    secret.write_text("name\tr\tb\n")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(secret)
    with pytest.raises(GraphError, match="outside the graph's folder"):
        opened(folder)


def test_a_link_inside_the_folder_and_one_to_the_folder_are_fine(folder):
    (folder / "link.tsv").symlink_to("triples.tsv")
    assert opened(folder, "triples: link.tsv\n").store.triples.height == 1
    (folder.parent / "alias").symlink_to(folder)
    assert opened(folder.parent / "alias").store.triples.height == 1


def test_a_file_of_triples_is_a_graph(folder):
    assert (
        api.open_graph(str(folder / "triples.tsv"), folder.parent / "cache").store.name == "triples"
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("clinik", "did you mean 'clinic'"),
        ("zzzz", "bundled graphs: clinic, tiny"),
        ("x\0y", "no graph"),
    ],
)
def test_an_unknown_graph_is_refused_with_the_known_ones(name, says):
    with pytest.raises(GraphError, match=re.escape(says)):
        api.open_graph(name)


def test_an_empty_folder_is_no_graph(tmp_path):
    with pytest.raises(GraphError, match=r"neither kg\.yaml nor triples\.tsv"):
        api.open_graph(str(tmp_path))


def test_an_inverse_is_declared_on_both_sides_or_completed(compiled):
    manifest = Manifest.model_validate({"relations": {"r": {"inverse": "s"}, "s": {}}})
    graph = compiled("a\tr\tb\nb\ts\ta\nc\ts\td\n", manifest)
    assert graph.main_reading(0) == graph.main_reading(1)

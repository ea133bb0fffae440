"""Compiled graphs: built once for one content, found again, built anew for another."""

import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import given

from reasoner import api
from reasoner.errors import GraphError
from reasoner.kg.manifest import Manifest, Relation
from reasoner.kg.store import open_store
from reasoner.testing.strategies import graph_of, names, triples

TEXT = "a\tr\tb\nb\ts\tc\nc\tr\ta\n"


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "triples.tsv"
    file.write_text(TEXT)
    return file


def opened(file, manifest=None, name="g"):
    return open_store(name, file, None, manifest or Manifest(), file.parent / "cache")


def stamps(folder):
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.iterdir()}


def test_the_second_time_nothing_is_built(source, monkeypatch):
    first = opened(source)
    before = stamps(first.folder)
    monkeypatch.setattr("reasoner.kg.store._build", None)
    second = opened(source)
    assert second.folder == first.folder
    assert stamps(second.folder) == before
    assert second.triples.equals(first.triples)
    assert [p.name for p in first.folder.parent.iterdir()] == [
        first.folder.name
    ]  # nothing is left over


@pytest.mark.parametrize("at", range(len(TEXT)))
def test_one_byte_makes_another_graph(source, at):
    first = opened(source)
    source.write_text(TEXT[:at] + ("x" if TEXT[at] != "\t" else "\tx\t") + TEXT[at + 1 :])
    second = opened(source)
    assert second.fingerprint != first.fingerprint
    assert second.folder != first.folder
    source.write_text(TEXT)
    assert opened(source).fingerprint == first.fingerprint


def test_the_manifest_is_part_of_the_content(source):
    changed = Manifest(relations={"r": Relation(template="{h} rules {t}"), "s": Relation()})
    assert opened(source, changed).fingerprint != opened(source).fingerprint
    assert opened(source, changed).relations[0].template == "{h} rules {t}"


def test_a_graph_keeps_its_own_name(source):
    assert [opened(source, name=n).name for n in ("one", "two")] == ["one", "two"]


@given(rows=triples(nodes=names()), more=triples(nodes=names()))
def test_what_is_appended_leaves_all_ids_as_they_are(tmp_path_factory, rows, more):
    folder = tmp_path_factory.mktemp("appended")
    one, other = (graph_of(r, folder).store for r in (rows, rows + more))
    assert other.names[: len(one.names)] == one.names
    assert other.triples.head(one.triples.height)["head", "tail"].equals(
        one.triples["head", "tail"]
    )
    assert [r.name for r in other.relations][: len(one.relations)] == [
        r.name for r in one.relations
    ]
    shutil.rmtree(folder)


@given(rows=triples(nodes=names()))
def test_adjacency_holds_every_triple_once_on_each_side(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("adjacency")
    store = graph_of(rows, folder).store
    head, relation, tail = (c.tolist() for c in store.columns)
    for side, mine, other in ((store.out, head, tail), (store.into, tail, head)):
        found = [
            (side.edges[i], node, rel, side.others[i])
            for node in range(len(store.names))
            for rel, start, end in side.runs(node)
            for i in range(start, end)
        ]
        assert sorted(found) == [(i, mine[i], relation[i], other[i]) for i in range(len(head))]
        assert [e for e, *_ in found] == side.edges.tolist()
    assert [store.names[i] for i in store.name_rank.argsort()] == sorted(store.names)
    shutil.rmtree(folder)


def test_declared_entities_come_first_with_kind_and_aliases(compiled):
    store = compiled(
        "a\tr\tb\n", entities="name\tkind\taliases\nlone\tdrug\tsolo\nb\tdisease\tbee|B2\n"
    ).store
    assert store.entities.rows() == [
        ("lone", "drug", ["solo"]),
        ("b", "disease", ["bee", "B2"]),
        ("a", "", []),
    ]
    assert list(store.out.runs(0)) == list(store.into.runs(0)) == []


FILES = [
    "meta.json",
    "triples.arrow",
    "entities.arrow",
    "name_rank.npy",
    "out.edges.npy",
    "into.node_runs.npy",
]
RAW = {("name_rank.npy", how) for how in ("gone", "empty", "cut", "garbage")}
RAW |= {(f, how) for f in FILES if f.endswith(".arrow") for how in ("cut", "garbage")}


@pytest.mark.parametrize(
    ("file", "how"),
    [
        pytest.param(
            file, how,
            
        )
        for file in FILES
        for how in ("gone", "empty", "cut", "garbage")
    ],
)  # fmt: skip
def test_a_damaged_cache_says_which_folder_to_delete(source, file, how):
    folder = opened(source).folder
    damaged = folder / file
    data = damaged.read_bytes()
    new = {
        "empty": b"",
        "cut": data[: len(data) // 2],
        "garbage": b"x" * 99,
    }
    damaged.unlink() if how == "gone" else damaged.write_bytes(new[how])
    with pytest.raises(GraphError) as error:
        _ = opened(source).name_rank
    assert str(folder) in str(error.value)
    shutil.rmtree(folder)
    assert opened(source).triples.height == 3


def test_a_cache_without_its_heading_says_what_to_do(source):
    folder = opened(source).folder
    (folder / "meta.json").unlink()
    with pytest.raises(GraphError, match="delete this folder"):
        opened(source)


def test_a_cache_that_is_a_file_is_refused(source):
    (source.parent / "cache").write_text("")
    with pytest.raises(GraphError, match=r"cache: .*; set REASONER_CACHE"):
        opened(source)


def test_a_cache_that_cannot_be_written_is_refused(readable, nobody):
    file = readable / "triples.tsv"
    file.write_text(TEXT)
    with (
        nobody(readable),
        pytest.raises(GraphError, match="cache: Permission denied; set REASONER_CACHE"),
    ):
        opened(file)
    (readable / "cache").mkdir(mode=0o755)
    with (
        nobody(readable / "cache"),
        pytest.raises(GraphError, match="cache: Permission denied; set REASONER_CACHE"),
    ):
        opened(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_compiled_graph_can_be_read_by_another_user(readable, nobody):
    file = readable / "triples.tsv"
    file.write_text(TEXT)
    opened(file)
    with nobody():
        assert opened(file).triples.height == 3


def test_processes_may_build_the_same_graph_at_once(tmp_path):
    rows = "".join(f"n{i}\tr\tn{i * 7 % 5003}\n" for i in range(5003))
    (tmp_path / "triples.tsv").write_text(rows)
    program = (
        "import sys; from pathlib import Path; from reasoner.kg.manifest import Manifest;"
        "from reasoner.kg.store import open_store; f = Path(sys.argv[1]);"
        "print('ready', flush=True); sys.stdin.readline();"
        "print(open_store('g', f / 'triples.tsv', None, Manifest(), f / 'cache').triples.height)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, tmp_path], stdin=-1, stdout=-1, stderr=-1, text=True
        )
        for _ in "12"
    ]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (out, err) == ("5003\n", "")
    (folder,) = (tmp_path / "cache").iterdir()
    assert opened(tmp_path / "triples.tsv").folder == folder


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    from reasoner.kg.store import default_cache

    monkeypatch.setenv("REASONER_CACHE", str(tmp_path / "x"))
    assert default_cache() == tmp_path / "x"
    monkeypatch.delenv("REASONER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "y"))
    assert default_cache() == tmp_path / "y" / "reasoner"


def test_sources_stay_as_they_are(tmp_path):
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "triples.tsv").write_text(TEXT)
    before = stamps(folder)
    graph = api.open_graph(str(folder), tmp_path / "cache")
    assert graph.store.name == "graph"
    assert stamps(folder) == before

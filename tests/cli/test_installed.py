"""What a user has: a wheel in an empty folder, no key, no network."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_NETWORK = """
import socket
real = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"no network in this test: {address}")
    return real(self, address)
def refuse(host, *rest, **options):
    raise OSError(f"no network in this test: {host}")
socket.socket.connect = connect
socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", out, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=out)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(next(out.glob("*.whl"))).extractall(site)
    return site


def run(site, folder, *argv):
    (site / "sitecustomize.py").write_text(NO_NETWORK)
    keep = {k: v for k, v in os.environ.items() if not k.endswith(("_KEY", "_TOKEN"))}
    env = {**keep, "PYTHONPATH": str(site), "HF_HUB_OFFLINE": "0"}
    command = [sys.executable, "-m", "reasoner", *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=env)


@pytest.mark.weights
def test_a_wheel_answers_from_an_empty_folder_without_key_and_network(wheel, tmp_path):
    question = ["--question", "I take ibuprofen every day and still have a headache. Why?"]
    first = run(wheel, tmp_path, "run", "mirage", "--kg", "tiny", *question)
    assert first.returncode == 0, first.stderr
    assert "Best match: medication overuse headache." in first.stdout
    assert "[T10]" in first.stdout
    assert run(wheel, tmp_path, "run", "mirage", "--kg", "tiny", *question).stdout == first.stdout
    where = run(wheel, tmp_path, "check", "mirage")
    assert (where.returncode, where.stdout) == (0, "mirage.yaml: ok\n")


def test_a_wheel_carries_grammar_recipes_and_graphs(wheel):
    held = {
        p.relative_to(wheel / "reasoner/_bundled").parts[0]
        for p in (wheel / "reasoner/_bundled").rglob("*")
        if p.is_file()
    }
    assert held == {"grammars", "recipes", "kgs"}
    assert not list(wheel.rglob("*.pth"))

"""The layout rules that a linter cannot hold."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "reasoner").rglob("*.py"))
LONGEST_MODULE = 540
LONGEST_FUNCTION = 75


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_and_functions_are_short(path):
    text = path.read_text()
    assert text.count("\n") <= LONGEST_MODULE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < LONGEST_FUNCTION, node.name


def test_no_method_has_a_name_in_the_code():
    recipes = {p.stem for p in (ROOT / "recipes").glob("*.*") if p.suffix in {".yaml", ".rsn"}}
    named = re.compile(
        rf"\b({'|'.join(sorted(recipes))}|mtqa|egot|cgmt|ircot|hipporag|lightrag)\b", re.I
    )
    for path in MODULES:
        for line in path.read_text().splitlines():
            found = named.search(line)
            cited = re.search(r"(eq\.|METHODS|reasoner (run|check)|\"mirage\",$)", line)
            assert not found or cited, f"{path.name}: {line}"


def test_layers_hold():
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "command", [["ruff", "check", "reasoner", "benchmarks"], ["mypy"]], ids=lambda c: c[0]
)
def test_lint_and_types(command):
    tool = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_only_the_command_line_prints():
    for path in MODULES:
        if "cli" in path.parts:
            continue
        calls = [
            n for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in {"print", "eval", "exec"}
        ]  # fmt: skip
        assert not calls, path

"""Generated pages are what the code gives; pages that show commands show what is there."""

import importlib.util
import re
from pathlib import Path

import pytest

from reasoner.cli.main import _parser

ROOT = Path(__file__).parents[2]
_SPEC = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs/generate.py")
generate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generate)


@pytest.mark.parametrize("name", generate.PAGES)
def test_generated_pages_are_fresh(name):
    assert (ROOT / "docs" / name).read_text() == generate.PAGES[name](), "run 'make docs'"


def test_every_page_speaks_of_commands_that_exist():
    commands = _parser()._subparsers._group_actions[0].choices
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for word in re.findall(r"(?:^|`)reasoner ([a-z]+)", page.read_text(), re.M):
            assert word in commands, f"{page.name}: reasoner {word}"


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_shows_code_within_ten_lines():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert any(line.startswith("```") for line in lines[:10])

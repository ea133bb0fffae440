"""The page of findings: every code of the source, each with an example that gets it and nothing else."""

import re
import runpy
from pathlib import Path

import pytest

from reasoner import api
from reasoner.api.graphs import read_settings
from reasoner.errors import RecipeError, Severity
from reasoner.kg.manifest import Manifest

ROOT = Path(__file__).parents[2]
TABLE = runpy.run_path(str(ROOT / "docs/error_examples.py"))
EXAMPLES = TABLE["EXAMPLES"]


def test_the_page_has_every_code_of_the_source_and_no_other():
    text = "\n".join(p.read_text() for p in (ROOT / "reasoner").rglob("*.py"))
    emitted = set(re.findall(r'"(R\d{3})"', text))
    shown = re.findall(r"^### (R\d{3})$", (ROOT / "docs/errors.md").read_text(), re.MULTILINE)
    assert sorted(emitted) == shown == [e.code for e in EXAMPLES]
    assert {code[:3] for code in emitted} == set(TABLE["GROUPS"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.code)
def test_an_example_gets_its_code_and_no_other(example, tmp_path):
    file = tmp_path / example.file
    file.write_text(example.text)
    if example.file == "kg.yaml":
        with pytest.raises(RecipeError) as error:
            read_settings(file, Manifest)
        findings = error.value.diagnostics
    else:
        findings = api.check(file).findings
    assert [f.code for f in findings] == [example.code]
    warning = findings[0].severity is Severity.WARNING
    assert warning == example.code.startswith("R4")


def test_the_page_names_no_folder_of_the_machine_that_wrote_it():
    page = (ROOT / "docs/errors.md").read_text()
    assert not re.search(r"/tmp|/home|/work|/var", page)

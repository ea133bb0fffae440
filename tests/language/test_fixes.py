"""``check --fix``: suggestions are written into the file, and nothing else of it changes."""

import pytest

from reasoner import api
from reasoner.cli.main import main

WRONG = """\
# keep me
method m(question: Text) -> Evidence {
  found = neigbors(link(question, tua: 0.7, embedder: "x"), per_relaton: 3)  # and me
  return fuond
}
"""
RIGHT = WRONG.replace("neigbors", "neighbors").replace("tua", "tau").replace("fuond", "found")


def test_misspellings_are_mended_in_place(tmp_path, capsys):
    file = tmp_path / "m.rsn"
    file.write_text(WRONG)
    assert main(["check", "--fix", str(file)]) == 2  # per_relaton is seen only now
    assert file.read_text() == RIGHT
    assert "write 'neighbors'" in capsys.readouterr().err
    assert main(["check", "--fix", str(file)]) == 0
    assert file.read_text() == RIGHT.replace("per_relaton", "per_relation")
    assert main(["check", "--fix", str(file)]) == 0
    assert file.read_text() == RIGHT.replace("per_relaton", "per_relation")


def test_yaml_is_mended_too(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text(
        "method: m\ninputs: {question: Text}\nretruns: Linked\nsteps:\n  - lnik(question)\n"
    )
    api.fix_file(file)
    api.fix_file(file)
    assert (
        file.read_text()
        == "method: m\ninputs: {question: Text}\nreturns: Linked\nsteps:\n  - link(question)\n"
    )
    assert api.check(file).ok


@pytest.mark.parametrize("name", ["mirage.rsn", "mirage.yaml"])
def test_what_is_right_is_left_alone(name, tmp_path):
    source = api.find_recipe("mirage").with_name(name)
    file = tmp_path / name
    file.write_text(source.read_text())
    assert api.fix_file(file) == []
    assert file.read_text() == source.read_text()

"""What reads a recipe loads no model runtime, no graph library and no tables."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "litellm", "sentence_transformers", "graph_tool", "polars")
CODE = """
import json, resource, sys
from reasoner.cli.main import main
code = main({argv!r})
used = resource.getrusage(resource.RUSAGE_SELF)
heavy = [m for m in {heavy!r} if m in sys.modules]
print(json.dumps([code, heavy, used.ru_utime + used.ru_stime]), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "argv",
    [
        ["check", str(ROOT / "recipes/mirage.yaml")],
        ["check", str(ROOT / "recipes")],
        ["plan", "mirage", "--cost"],
        ["ops"],
    ],
    ids=lambda a: a[0],
)
def test_reading_a_recipe_is_light(argv):
    code = CODE.format(argv=argv, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status, heavy, _ = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    assert heavy == []


def test_checking_costs_half_a_second_at_most():
    argv = ["check", str(ROOT / "recipes/mirage.yaml")]
    code = CODE.format(argv=argv, heavy=HEAVY)
    seconds = []
    for _ in range(3):  # the least of three: the machine may be busy
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        seconds.append(json.loads(done.stderr.splitlines()[-1])[2])
    assert min(seconds) <= 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime > 0

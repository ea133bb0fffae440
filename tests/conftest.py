"""Hypothesis profiles, and a cache of compiled graphs that the tests share and throw away."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", max_examples=5_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

_FOLDER = tempfile.TemporaryDirectory(prefix="reasoner-tests-")
os.environ["REASONER_CACHE"] = _FOLDER.name

#: Data sets that are not part of the repository; tests that read them skip where they are absent.
DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def data():
    """The folder of the data sets, or a skip that says so."""
    if not DATA.is_dir():
        pytest.skip(f"the data sets are not at {DATA}")
    return DATA


@pytest.fixture
def anywhere(tmp_path, monkeypatch):
    """An empty folder as the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path

"""Graphs from texts, and folders that cannot be written."""

import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from reasoner.kg.graph import KnowledgeGraph
from reasoner.kg.manifest import Manifest
from reasoner.kg.store import open_store


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compile the text of a file of triples (and one of entities)."""
    folder = tmp_path_factory.mktemp("compiled")

    def make(text, manifest=None, entities=None):
        file = folder / "triples.tsv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        listed = None
        if entities is not None:
            listed = folder / "entities.tsv"
            listed.write_bytes(entities.encode())
        return KnowledgeGraph(
            open_store("g", file, listed, manifest or Manifest(), folder / "cache")
        )

    return make


@pytest.fixture
def readable():
    """A folder that everyone may read and only its owner may write."""
    with tempfile.TemporaryDirectory(prefix="reasoner-readable-") as name:
        folder = Path(name)
        folder.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        yield folder


@pytest.fixture
def nobody():
    """A context in which this process has no right to write, also where tests run as root."""

    @contextmanager
    def dropped(*folders):
        if os.geteuid() == 0:
            os.seteuid(65534)
            try:
                yield
            finally:
                os.seteuid(0)
            return
        for folder in folders:
            folder.chmod(0o555)
        try:
            yield
        finally:
            for folder in folders:
                folder.chmod(0o755)

    return dropped

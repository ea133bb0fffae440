"""The servers of `loopback`, started once for all tests of this folder."""

import pytest

from tests.models.loopback import fault_server, real_server


@pytest.fixture(scope="session")
def _fault_server():
    with fault_server() as running:
        yield running


@pytest.fixture
def server(_fault_server):
    """The server that misbehaves to order, with nothing counted yet."""
    _fault_server.reset()
    return _fault_server


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    """The address of a real server with random weights."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("gguf")
    with real_server(tmp_path_factory.mktemp("weights")) as base:
        yield base

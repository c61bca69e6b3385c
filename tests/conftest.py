"""What holds for all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from pslab.graph.defaults import reset_default_graph

settings.register_profile("pslab", deadline=None)  # a busy machine is no error
settings.load_profile("pslab")


def pytest_configure() -> None:
    """A suite that a script starts in its background inherits an ignored Ctrl-C, and so would every process that its tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _fresh_default_graph() -> Iterator[None]:
    """A test begins with an empty default graph, and leaves nothing in it."""
    reset_default_graph()
    yield
    reset_default_graph()

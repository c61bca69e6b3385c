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


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """The whole suite has all cores. What is picked out of it has one process, and so have browsers and GPUs, which are one for all."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and config.option.markexpr.startswith("not ")
    return None if whole else 0  # None leaves it to pytest-xdist: a process for each core


@pytest.fixture(autouse=True)
def _fresh_default_graph() -> Iterator[None]:
    """A test begins with an empty default graph, and leaves nothing in it."""
    reset_default_graph()
    yield
    reset_default_graph()

"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pslab.graph.defaults import reset_default_graph


@pytest.fixture(autouse=True)
def _fresh_default_graph() -> Iterator[None]:
    """A test begins with an empty default graph, and leaves nothing in it."""
    reset_default_graph()
    yield
    reset_default_graph()

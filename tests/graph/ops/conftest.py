from __future__ import annotations

import numpy as np
import pytest

from pslab.graph.graph import Graph
from pslab.testing.gradcheck import evaluate


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


@pytest.fixture
def value(graph):
    """The value of a tensor, or of each in a list."""

    def value(tensor, feeds=None):
        if isinstance(tensor, list | tuple):
            return [np.asarray(v) for v in evaluate(tensor, feeds)]
        return np.asarray(evaluate([tensor], feeds)[0])

    return value

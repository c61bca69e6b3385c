"""A cluster for the tests of one module."""

from __future__ import annotations

import pytest

from pslab.cluster import Cluster
from tests.cluster.processes import SERVICE


@pytest.fixture(scope="module")
def cluster():
    with Cluster(ps=1, workers=2, service=SERVICE) as cluster:
        yield cluster

"""One cluster for the tests that do it no harm, and services that its processes can import."""

from __future__ import annotations

import pytest

from pslab.cluster import Cluster
from tests.cluster.processes import ROOT, SERVICE


@pytest.fixture(scope="package", autouse=True)
def _importable():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        yield


@pytest.fixture(scope="module")
def cluster(_importable):
    with Cluster(ps=1, workers=2, service=SERVICE) as cluster:
        yield cluster

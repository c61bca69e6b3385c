"""Links shaped by hand: what the tasks are told."""

from __future__ import annotations

from typing import Any

import pytest

from pslab.errors import FailedPreconditionError, UsageError
from pslab.lab.lab_cluster import LabCluster
from pslab.runtime.transport import Duplex, Link, Network


class Told:
    """A cluster that notes what all its tasks are called for."""

    tasks = ("ps:0", "worker:0", "worker:1", "client:0")

    def __init__(self) -> None:
        self.networks: list[Network] = []

    def call_always(self, method: str, **arguments: Any) -> None:
        assert method == "shape"
        self.networks.append(arguments["network"])

    def stop(self) -> None:
        pass


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def cluster(told):
    cluster = LabCluster(lambda: None, lambda scale, workers: scale(), lambda: None)
    cluster._cluster = told
    return cluster


def test_words_become_the_shape_of_all_links(cluster, told) -> None:
    wanted = Network(12.5e6, 1e-3, 2e-4, Duplex.HALF)
    assert cluster.link("100Mbit", "1ms", "0.2ms", duplex="half") == cluster.network == wanted
    assert cluster.link(latency=0.5) == Network(None, 0.5, duplex=Duplex.HALF)
    assert told.networks == [wanted, Network(None, 0.5, duplex=Duplex.HALF)]


def test_one_link_is_changed_and_let_go_by_itself(cluster) -> None:
    cluster.link("1Gbit")
    cluster.link("10Mbit", between=("worker:1", "ps:0"))
    assert cluster.network == Network(1.25e8, links=((("ps:0", "worker:1"), Link(1.25e6)),))
    cluster.link("2Gbit")
    assert cluster.network.between("ps:0", "worker:1") == Link(1.25e6, 0.0, 0.0)
    assert cluster.unlink(("ps:0", "worker:1")) == Network(2.5e8)
    assert cluster.unlink() == Network()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.link("fast"), "'fast' is no bandwidth"),
        (lambda c: c.link(latency="1 minute"), "'1 minute' is no length of time"),
        (lambda c: c.link(bandwidth=-1), "more than 0 bytes per second"),
        (lambda c: c.link(duplex="quarter"), "duplex must be full or half"),
        (lambda c: c.link("1Mbit", between=("worker:7", "ps:0")), "there is no task 'worker:7'"),
        (lambda c: c.unlink(("ps:0", "ps:0")), "found ps:0 twice"),
    ],
)
def test_what_cannot_be_meant_changes_nothing(cluster, told, call, message) -> None:
    with pytest.raises(UsageError, match=message):
        call(cluster)
    assert (told.networks, cluster.network) == ([], Network())


def test_a_new_cluster_has_links_as_fast_as_they_go(cluster) -> None:
    cluster.link("1Mbit")
    cluster.stop()
    assert cluster.network == Network()
    with pytest.raises(FailedPreconditionError, match="there is no cluster"):
        cluster.link("1Mbit")

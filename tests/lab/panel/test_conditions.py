"""A straggler and slow links, set by the panel: what each control shows is what the cluster has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pslab.errors import PslabError, UsageError
from pslab.lab.lab import Lab
from pslab.lab.panel.actions import ACTIONS
from pslab.lab.panel.conditions import ALL_LINKS, AS_OTHERS, LINKS, NO_LIMIT, NOBODY, STRAGGLER
from pslab.lab.panel.desk import Desk
from pslab.runtime.transport.network import Link, Network
from pslab.train.delays import Constant, Exponential, Pareto

BY_NAME = {control.name: control for control in (*STRAGGLER, *LINKS)}


class FakeCluster(SimpleNamespace):
    """Two workers and a ps, which are told what the links are like."""

    ps, workers, tasks = 1, 2, ("ps:0", "worker:0", "worker:1")

    def status(self) -> SimpleNamespace:
        return SimpleNamespace(tasks=())

    def call_always(self, method: str, **arguments: object) -> None:
        self.told = (method, arguments)


@pytest.fixture
def desk(monkeypatch) -> Desk:
    lab = Lab()
    lab.cluster._cluster = FakeCluster()  # type: ignore[assignment]
    monkeypatch.setattr(type(lab.cluster), "status", lambda self: None)
    return Desk(lab, {}, frozenset())


def grant(desk: Desk, name: str, value: object) -> object:
    BY_NAME[name].apply(desk, value)
    face = BY_NAME[name].face(desk)
    assert face.value in (face.options or face.ladder)
    return face.value


def test_one_straggler_takes_the_place_of_another(desk) -> None:
    assert BY_NAME["straggler"].face(desk).value == NOBODY
    assert grant(desk, "straggler", "worker:1") == "worker:1"
    assert desk.lab.cluster.delays == {"worker:1": Constant(0.05)}
    assert BY_NAME["straggler"].face(desk).words == "worker:1 slower by 50 ms"
    assert grant(desk, "straggler", "worker:0") == "worker:0"
    assert desk.lab.cluster.delays == {"worker:0": Constant(0.05)}
    assert grant(desk, "straggler", NOBODY) == NOBODY
    assert desk.lab.cluster.delays == {}


def test_how_slow_and_how_it_is_drawn_are_changed_one_by_one(desk) -> None:
    assert grant(desk, "delay", "200ms") == "200 ms"
    grant(desk, "straggler", "worker:1")
    assert grant(desk, "distribution", "exponential") == "exponential"
    assert desk.lab.cluster.delays == {"worker:1": Exponential(0.2)}
    assert grant(desk, "delay", "1.5 s") == "1.5 s"
    assert grant(desk, "distribution", "pareto") == "pareto"
    assert desk.lab.cluster.delays == {"worker:1": Pareto(1.5, 1.5)}
    for name, value in (("delay", "soon"), ("delay", "0 s"), ("distribution", "evenly")):
        with pytest.raises(UsageError):
            grant(desk, name, value)
    assert desk.lab.cluster.delays == {"worker:1": Pareto(1.5, 1.5)}


def test_several_by_their_menus_are_shown_together(desk) -> None:
    for task in ("worker:0", "worker:1"):
        ACTIONS["slow"](desk, task)
    assert grant(desk, "straggler", "worker:0, worker:1") == "worker:0, worker:1"
    assert len(desk.lab.cluster.delays) == 2
    ACTIONS["hasten"](desk, "worker:0")
    assert grant(desk, "straggler", "worker:1") == "worker:1"
    assert list(desk.lab.cluster.delays) == ["worker:1"]


def test_all_links_keep_what_is_not_changed(desk) -> None:
    desk.lab.cluster.link(jitter="2ms")
    assert grant(desk, "bandwidth", "100 Mbit/s") == "100 Mbit/s"
    assert grant(desk, "latency", "1ms") == "1 ms"
    assert desk.lab.cluster.network == Network(12.5e6, 1e-3, 2e-3)
    assert grant(desk, "bandwidth", "3 Mbit/s") == "3 Mbit/s"
    assert grant(desk, "bandwidth", NO_LIMIT) == NO_LIMIT
    assert desk.lab.cluster.network == Network(None, 1e-3, 2e-3)
    assert desk.lab.cluster.require().told[1]["network"] == desk.lab.cluster.network  # type: ignore[attr-defined]


def test_one_link_alone_is_changed_and_is_as_the_others_again(desk) -> None:
    grant(desk, "latency", "1 ms")
    assert grant(desk, "link", "worker:1 – ps:0") == "worker:1 – ps:0"
    assert BY_NAME["latency"].face(desk).value == AS_OTHERS
    assert grant(desk, "bandwidth", "10 Mbit/s") == "10 Mbit/s"
    assert desk.lab.cluster.network == Network(None, 1e-3, links=((("ps:0", "worker:1"), Link(1.25e6, None, None)),))
    assert grant(desk, "link", ALL_LINKS) == ALL_LINKS
    assert BY_NAME["bandwidth"].face(desk).value == NO_LIMIT
    grant(desk, "link", "worker:1 – ps:0")
    assert grant(desk, "bandwidth", AS_OTHERS) == AS_OTHERS
    assert desk.lab.cluster.network == Network(None, 1e-3)


def test_what_is_no_bandwidth_or_link_is_refused(desk) -> None:
    for name, value in (("bandwidth", "much"), ("latency", "-1 s"), ("link", "worker:7 – ps:0")):
        with pytest.raises(UsageError):
            grant(desk, name, value)
    assert desk.lab.cluster.network == Network()


def test_without_a_cluster_nobody_can_be_slowed_down() -> None:
    with pytest.raises(PslabError, match="no cluster"):
        BY_NAME["straggler"].apply(Desk(Lab(), {}, frozenset()), "worker:0")

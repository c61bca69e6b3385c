"""The controls, on a lab without a cluster: what each shows is in force, and what it asks for becomes so."""

from __future__ import annotations

import os

import pytest

from pslab.errors import UsageError
from pslab.lab.lab import Lab
from pslab.lab.panel.actions import ACTIONS, checkpoints
from pslab.lab.panel.controls import CONTROLS, LOCAL_STEPS
from pslab.lab.panel.desk import Desk
from pslab.optim.optimizer import GradientDescentOptimizer
from pslab.train.collective import Pipeline
from pslab.train.commits import Differences, Elastic
from pslab.train.strategy import Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync

BY_NAME = {control.name: control for control in CONTROLS}


@pytest.fixture
def desk(tmp_path) -> Desk:
    desk = Desk(Lab(), {**{c.name: c.apply for c in CONTROLS}, **ACTIONS}, frozenset(BY_NAME))
    desk.folder = tmp_path / "runs"
    return desk


def grant(desk: Desk, name: str, value: object) -> object:
    BY_NAME[name].apply(desk, value)
    return BY_NAME[name].face(desk).value


@pytest.mark.parametrize("name", BY_NAME)
def test_what_a_control_shows_may_be_asked_for_and_changes_nothing(desk, name) -> None:
    face = BY_NAME[name].face(desk)
    before = (desk.lab.strategy, desk.workers, desk.ps, desk.lab.learning_rate, desk.lab.batch_size)
    assert grant(desk, name, face.value) == face.value
    assert (desk.lab.strategy, desk.workers, desk.ps, desk.lab.learning_rate, desk.lab.batch_size) == before
    if face.options or face.ladder:
        assert face.value in (face.options or face.ladder)
    else:
        assert face.value >= face.least


@pytest.mark.parametrize("name", [name for name in BY_NAME if name not in ("parameter", "straggler")])
def test_every_option_can_be_had(desk, name) -> None:
    for option in BY_NAME[name].face(desk).options:
        assert grant(desk, name, option) == option


def test_each_rule_has_its_parameter(desk) -> None:
    assert grant(desk, "parameter", "off") == "off"
    assert desk.lab.strategy.update == Async(lock=False)
    for rule, value, update in (("sync", 1, Sync(1)), ("ssp", 5, SSP(staleness=5)), ("k-async", 2, KAsync(2))):
        grant(desk, "update", rule)
        assert grant(desk, "parameter", value) == value
        assert desk.lab.strategy.update == update
    assert "k" in BY_NAME["parameter"].face(desk).label


def test_a_ring_has_no_parameter_and_no_aggregation(desk) -> None:
    grant(desk, "update", "ring")
    assert BY_NAME["parameter"].face(desk) is None
    assert BY_NAME["aggregation"].face(desk) is None
    grant(desk, "update", "pipeline")
    assert grant(desk, "parameter", 2) == 2
    assert desk.lab.strategy.update == Pipeline(2)


def test_local_is_steps_of_their_own_and_an_average_and_goes_when_another_rule_comes(desk) -> None:
    grant(desk, "update", "local")
    assert (desk.lab.strategy.update, desk.lab.strategy.commit, desk.lab.strategy.commit_every) == (Sync(), Differences(), LOCAL_STEPS)
    assert grant(desk, "parameter", 4) == 4
    assert BY_NAME["commit_every"].face(desk) is None
    assert desk.lab.strategy.commit_every == 4
    grant(desk, "update", "sync")
    assert desk.lab.strategy == Strategy(update=Sync())


def test_what_is_local_by_its_commit_is_called_so(desk) -> None:
    desk.lab.mode(update=Sync(), commit=Differences(momentum=0.5), commit_every=3)
    assert grant(desk, "update", "local") == "local"
    assert desk.lab.strategy.commit == Differences(momentum=0.5)


def test_a_weighted_mean_is_for_who_gathers(desk) -> None:
    grant(desk, "update", "sync")
    assert grant(desk, "aggregation", "weighted") == "weighted"
    assert desk.lab.strategy.update == Sync(aggregation="weighted")
    grant(desk, "update", "async")
    assert "weighted" not in BY_NAME["aggregation"].face(desk).options
    with pytest.raises(UsageError, match="there are no others"):
        grant(desk, "aggregation", "weighted")


def test_batch_sizes_of_each_worker_are_shown_and_can_be_typed(desk) -> None:
    assert grant(desk, "batch_size", "64, 32") == "64, 32"
    assert list(desk.lab.batch_size) == [64, 32]
    assert grant(desk, "batch_size", 16) == 16


def test_the_rule_that_is_in_force_keeps_what_it_has(desk) -> None:
    desk.lab.mode(update=SSP(staleness=7, by_staleness=True), commit=Elastic(0.5))
    grant(desk, "update", "ssp")
    grant(desk, "commit", "elastic")
    assert (desk.lab.strategy.update, desk.lab.strategy.commit) == (SSP(staleness=7, by_staleness=True), Elastic(0.5))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("update", "chaos", "no update rule 'chaos'"),
        ("commit", 3, "no commit 3"),
        ("compression", "zip", "no compression 'zip'"),
        ("commit_every", 0, "from 1 on"),
        ("commit_every", 2.5, "whole number"),
        ("replication", "across", "replication must be"),
        ("learning_rate", -1, "positive"),
        ("batch_size", 10**9, "more than the"),
        ("batch_size", "64, many", "one per worker"),
        ("learning_rate", "fast", "a number is wanted"),
    ],
)
def test_what_cannot_be_is_refused_and_all_stays(desk, name, value, message) -> None:
    before = BY_NAME[name].face(desk)
    with pytest.raises(UsageError, match=message):
        BY_NAME[name].apply(desk, value)
    assert BY_NAME[name].face(desk) == before


def test_more_workers_than_a_rule_needs_cannot_be_taken_from_it(desk) -> None:
    grant(desk, "workers", 4)
    desk.lab.mode(update=KAsync(4))
    with pytest.raises(UsageError, match="would wait for ever with 2 workers"):
        grant(desk, "workers", 2)
    assert desk.workers == 4


def test_a_rate_that_only_a_function_knows_is_shown_as_nothing(desk) -> None:
    desk.lab.model("logistic", optimizer=lambda: GradientDescentOptimizer(0.1))
    assert BY_NAME["learning_rate"].face(desk).value is None
    with pytest.raises(UsageError, match="made by a function"):
        grant(desk, "learning_rate", 0.5)


def test_checkpoints_are_listed_newest_first_without_their_parts(desk) -> None:
    assert checkpoints(desk) == []
    desk.folder.mkdir()
    names = ("old.safetensors", "parts.0a1b2c3d-00000-of-00002.safetensors", "parts.index", "old.meta")
    for age, name in enumerate(names):
        (desk.folder / name).touch()
        os.utime(desk.folder / name, (1000 + age, 1000 + age))
    assert checkpoints(desk) == ["parts", "old"]


@pytest.mark.parametrize("name", ["pause", "stop", "save", "reset"])
def test_without_a_cluster_a_button_says_so(desk, name) -> None:
    desk.ask(name)
    assert desk.settle(20)
    assert "there is no cluster" in desk.refusal.words

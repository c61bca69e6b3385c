"""The survey, of a real training: bytes per link are those that were counted, a prediction is that of the cost model, and each change has its own."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from types import SimpleNamespace

import pytest

from pslab.cluster.status import TaskStatus
from pslab.data.datasets import load
from pslab.lab.panel.survey import FORECAST_EVERY_S, LINKS_EVERY_S, SETTLED_S, Survey
from pslab.runtime.transport import Network
from pslab.train.delays import Constant
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.trainer import Trainer
from tests.train.tasks import LocalTasks


@pytest.fixture(scope="module")
def trainer() -> Iterator[Trainer]:
    with LocalTasks(ps=1, workers=2) as tasks:
        data = load("digits")
        trainer = Trainer(tasks, data, Model(MLP(10, [8]), learning_rate=0.1), batch_size=16)
        yield trainer
        trainer.close()


@pytest.fixture
def lab(trainer) -> Iterator[SimpleNamespace]:
    cluster = SimpleNamespace(network=Network(), delays={}, ps=1, workers=2, cores=2)
    trainer.train(10**6)
    yield SimpleNamespace(trainer=trainer, cluster=cluster, batch_size=16)
    trainer.stop()


def look_until(survey: Survey, now: float, condition) -> float:
    """Look, a tenth of a second later each time, until the survey has seen what is waited for."""
    deadline = monotonic() + 30
    while not condition():
        assert monotonic() < deadline
        survey._lab.trainer.wait(survey._lab.trainer.seen().global_step + 20, 20)
        now += 0.1
        survey.look(now)
    return now


def test_bytes_per_link_are_those_that_were_counted(lab) -> None:
    survey = Survey(lab)
    look_until(survey, 0.0, lambda: survey.links)
    assert [(link.source, link.destination) for link in survey.links] == [
        (one, other) for one, other in (("ps:0", "worker:0"), ("ps:0", "worker:1"), ("worker:0", "ps:0"), ("worker:1", "ps:0"))
    ]
    lab.trainer.pause()
    counted = {(link.source, link.destination): link.sent.bytes for link in lab.trainer.traffic().links()}
    for link in survey.links:
        assert 0 < link.total <= counted[link.source, link.destination]
        assert link.bytes >= 4 * (64 * 8 + 8 + 8 * 10 + 10)  # float32 of all parameters, or their gradients


def test_each_change_has_a_prediction_of_its_own(lab) -> None:
    survey = Survey(lab)
    now = look_until(survey, 0.0, lambda: survey.forecasts)
    assert now >= SETTLED_S - 0.11
    assert [forecast.seconds > 0 for forecast in survey.forecasts] == [True]
    first = survey.forecasts[0]
    lab.cluster.network = Network(latency=0.25)
    step = lab.trainer.seen().global_step
    look_until(survey, now, lambda: len(survey.forecasts) == 2)
    assert survey.forecasts[0] == first
    assert survey.forecasts[1].step >= step
    assert survey.forecasts[1].seconds > 0.25
    assert survey.forecasts[1].bottleneck == "network"


@pytest.mark.parametrize(("delay", "foreseen"), [(0.004, True), (2.0, False)])
def test_a_straggler_is_predicted_from_its_steps_since_if_that_can_be_told_soon(lab, delay, foreseen) -> None:
    survey = Survey(lab)
    now = look_until(survey, 0.0, lambda: survey.forecasts)
    lab.trainer.slow(1, Constant(delay))
    lab.cluster.delays = {"worker:1": Constant(delay)}
    try:
        look_until(survey, now, lambda: len(survey.forecasts) == 2)
    finally:
        lab.trainer.slow(1, None)
    assert (survey.forecasts[1].seconds is not None) == foreseen
    assert not foreseen or survey.forecasts[1].seconds > survey.forecasts[0].seconds


def test_it_looks_no_more_often_than_it_may(lab, monkeypatch) -> None:
    survey = Survey(lab)
    now = look_until(survey, 0.0, lambda: survey.forecasts and survey.links)
    calls = []
    real = lab.trainer.traffic
    monkeypatch.setattr(lab.trainer, "traffic", lambda: calls.append(now) or real())
    before = survey._due.copy()
    assert before["links"] >= LINKS_EVERY_S
    assert before["forecast"] >= FORECAST_EVERY_S
    survey.look(min(before.values()) - 0.01)
    assert calls == []
    survey.look(max(before.values()) + 0.01)
    assert len(calls) == 2


def test_without_a_training_there_is_nothing(lab) -> None:
    survey = Survey(lab)
    look_until(survey, 0.0, lambda: survey.links)
    lab_without = SimpleNamespace(**{**vars(lab), "trainer": None})
    survey._lab = lab_without
    survey.look(99.0)
    assert (survey.links, survey.forecasts) == ([], [])


def test_the_tasks_are_seen_without_a_training_and_those_of_no_cluster_are_none(lab) -> None:
    tasks = tuple(TaskStatus(f"{job}:0", "running", 1, "here", "", 0, restarts=2, delay=delay) for job, delay in (("ps", ""), ("worker", "50 ms")))
    cluster = SimpleNamespace(running=True, status=lambda: SimpleNamespace(tasks=tasks))
    survey = Survey(SimpleNamespace(trainer=None, cluster=cluster))
    survey.look_at_tasks()
    assert survey.tasks == [("ps:0", "running", 2, ""), ("worker:0", "running", 2, "50 ms")]
    cluster.running = False
    survey.look_at_tasks()
    assert survey.tasks == []

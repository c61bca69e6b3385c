"""The feed: a message has what has changed, and nothing else."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from pslab.cluster import ClusterStatus
from pslab.lab.lab import Lab
from pslab.lab.panel.actions import ACTIONS
from pslab.lab.panel.controls import CONTROLS
from pslab.lab.panel.desk import Desk
from pslab.lab.panel.feed import BEAT_S, Feed, Message
from pslab.lab.panel.survey import Forecast, LinkBytes
from pslab.lab.panel.timeline import FIELDS
from pslab.runtime.transport import Network
from pslab.trace.recorder import Fetched
from pslab.train.history import History, News, Place
from pslab.train.strategy import Strategy
from pslab.train.trainer_status import TrainerStatus
from tests.trace.steps import steps


class FakeTrainer:
    """A training whose records and status are given."""

    metric_names = ("accuracy",)

    def __init__(self) -> None:
        self.status = TrainerStatus("running", "", Strategy(), 0, 1000, (), 0)
        self.begin_anew()

    def begin_anew(self) -> None:
        self._history = History(self.metric_names)

    def record(self, numbers, **fields) -> None:
        records = steps(numbers, self.metric_names, **{"loss": 1.0, **fields})
        self._history.add("worker:0", Fetched(records, self._history.cursors.get("worker:0", 0) + len(records), 0))
        self.status = replace(self.status, global_step=int(records["global_step"].max()))

    def seen(self) -> TrainerStatus:
        return self.status

    def news(self, place: Place | None = None) -> News:
        return self._history.since(place)


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab._trainer = FakeTrainer()  # type: ignore[assignment]
    lab.cluster._cluster = type("Cluster", (), {"ps": 1, "workers": 2, "status": lambda self: ClusterStatus((), "", True, "")})()  # type: ignore[assignment]
    return lab


@pytest.fixture
def feed(lab, tmp_path) -> Feed:
    desk = Desk(lab, {**{c.name: c.apply for c in CONTROLS}, **ACTIONS}, frozenset())
    desk.folder = tmp_path
    return Feed(desk)


def column(message: Message, name: str) -> list[float]:
    told = message.content["steps"]
    means = np.frombuffer(message.buffers[told["buffer"]], np.float32).reshape(len(told["columns"]), told["count"])
    return means[told["columns"].index(name)].tolist()


def test_the_first_message_is_the_whole_picture_and_the_next_what_has_changed(feed, lab) -> None:
    lab.trainer.record([1, 2, 3], loss=[3.0, 2.0, 1.0], worker=[0, 1, 0])
    first = feed.next(0.0, 0.0)
    json.dumps(first.content, allow_nan=False)
    assert first.content["steps"]["anew"]
    assert column(first, "loss") == [3, 2, 1]
    assert (first.content["state"]["step"], first.content["state"]["latest"]["loss"]) == (3, 1)
    assert {"controls", "marks", "tasks", "pending", "refusal", "checkpoints"} <= set(first.content["state"])
    timeline = np.frombuffer(first.buffers[first.content["timeline"]["buffer"]], np.float32).reshape(-1, len(FIELDS))
    assert len(timeline) == 3

    lab.trainer.record([4], loss=[0.5])
    second = feed.next(0.1, 0.1)
    assert (second.content["steps"]["first"], column(second, "loss")) == (3, [0.5])
    assert set(second.content["state"]) <= {"step", "latest", "rate"}
    assert sum(map(len, second.buffers)) < 200


def test_nothing_is_said_where_nothing_changes_but_a_beat(feed) -> None:
    assert feed.next(0.0, 0.0) is not None
    assert feed.next(0.1, 0.1) is None
    assert feed.next(0.2, 0.2) is None
    beat = feed.next(1.2, BEAT_S + 0.2)
    assert beat == Message({}, [])


def test_who_comes_later_gets_the_whole_picture(feed, lab) -> None:
    lab.trainer.record([1, 2])
    feed.next(0.0, 0.0)
    feed.begin_anew()
    again = feed.next(0.1, 0.1)
    assert again.content["steps"]["anew"]
    assert column(again, "step") == [1, 2]
    assert "controls" in again.content["state"]


def test_a_change_of_mode_is_marked_whoever_made_it(feed, lab) -> None:
    lab.trainer.record([1, 2])
    feed.next(0.0, 0.0)
    lab._strategy = Strategy("in-graph")
    lab.trainer.record([3])
    told = feed.next(50.0, 0.1).content["state"]
    assert told["marks"] == [{"step": 3, "time": 50.0, "words": "in-graph"}]
    assert told["controls"]["replication"]["value"] == "in-graph"


def test_a_return_to_a_checkpoint_takes_back_what_came_after(feed, lab) -> None:
    lab.trainer.record(np.arange(10))
    feed.next(0.0, 0.0)
    lab.trainer.status = replace(lab.trainer.status, global_step=4)
    told = feed.next(0.1, 0.1)
    assert told.content["steps"]["anew"]
    assert column(told, "step") == [0, 1, 2, 3, 4]


def test_a_reset_empties_the_picture(feed, lab) -> None:
    lab.trainer.record(np.arange(10))
    feed.next(0.0, 0.0)
    lab.trainer.begin_anew()
    lab.trainer.status = replace(lab.trainer.status, state="idle", global_step=0)
    told = feed.next(0.1, 0.1)
    assert (told.content["steps"]["anew"], told.content["steps"]["count"], told.content["state"]["step"]) == (True, 0, 0)


def test_other_workers_are_other_curves_with_all_there_was(feed, lab) -> None:
    lab.trainer.record([1, 2], worker=[0, 1], divergence=[0.5, 0.25])
    feed.next(0.0, 0.0)
    lab.cluster.require().workers = 3
    told = feed.next(0.1, 0.1)
    assert told.content["state"]["workers"] == 3
    assert column(told, "loss") == [1, 1]
    assert "divergence:2" in told.content["steps"]["columns"]


def test_another_model_begins_with_an_empty_picture(feed, lab) -> None:
    lab.trainer.record([1, 2])
    feed.next(0.0, 0.0)
    lab._trainer = None
    told = feed.next(0.1, 0.1)
    assert (told.content["steps"]["count"], told.content["state"]["training"]) == (0, "idle")


def test_a_frozen_run_is_kept_behind_those_to_come(feed, lab) -> None:
    lab.trainer.record([1, 2], loss=[3.0, 2.0])
    feed.next(0.0, 0.0)
    feed.freeze()
    lab.trainer.begin_anew()
    lab.trainer.record([1], loss=[9.0])
    told = feed.next(0.1, 0.1)
    assert told.content["state"]["ghost"]["loss"] == [3, 2]
    assert column(told, "loss") == [9]
    json.dumps(told.content, allow_nan=False)
    feed.thaw()
    assert feed.next(0.2, 0.2).content["state"]["ghost"] is None


def test_what_the_survey_saw_is_told_and_gone_after_a_return(feed, lab) -> None:
    lab.trainer.record(np.arange(10))
    feed.survey.links = [LinkBytes("ps:0", "worker:0", 400.0, 1.0, 4000)]
    feed.survey._forecasts.extend([Forecast(2, 0.25, "network"), Forecast(8, 0.5, "cores")])
    feed.survey.cut(9)
    told = json.loads(json.dumps(feed.next(0.0, 0.0).content["state"], allow_nan=False))
    assert told["links"] == [["ps:0", "worker:0", 400.0, 1.0, 4000]]
    assert [forecast["seconds"] for forecast in told["forecasts"]] == [0.25, 0.5]
    lab.trainer.status = replace(lab.trainer.status, global_step=4)
    assert feed.next(0.1, 0.1).content["state"]["forecasts"] == [{"step": 2, "seconds": 0.25, "bottleneck": "network"}]


def test_links_that_were_made_slow_are_marked(feed, lab) -> None:
    lab.trainer.record([1, 2])
    feed.next(0.0, 0.0)
    lab.cluster._network = Network(1.25e6, 1e-3)
    assert [mark["words"] for mark in feed.next(0.1, 0.1).content["state"]["marks"]] == ["10 Mbit/s, latency 1 ms full duplex"]


def test_a_million_steps_make_neither_memory_nor_messages_longer(feed, lab) -> None:
    longest, sizes = 0, []
    for tick in range(1000):
        lab.trainer.record(np.arange(tick * 1000, tick * 1000 + 1000), worker=np.arange(1000) % 2)
        lab.cluster._network = Network(None, tick % 7 * 1e-3)
        message = feed.next(tick * 0.1, tick * 0.1)
        longest = max(longest, sum(map(len, message.buffers)) + len(json.dumps(message.content)))
        if tick in (99, 999):
            sizes.append(len(pickle.dumps((feed._curves, feed._marks, feed._progress, feed._told))))
    assert longest < 80_000
    assert sizes[1] < 1.05 * sizes[0]
    assert feed.next(200.0, 200.0) is not None


def test_another_language_is_no_change_of_the_training(lab, request) -> None:
    feed = Feed(Desk(lab, {}, frozenset()))
    feed.next(0.0, 0.0)
    request.getfixturevalue("chinese")
    told = feed.next(0.1, 0.1).content["state"]
    assert told["controls"]["workers"]["words"] == "2 个 worker"
    assert "marks" not in told
    lab._strategy = Strategy("in-graph")
    assert [mark["words"] for mark in feed.next(0.2, 0.2).content["state"]["marks"]] == ["in-graph"]

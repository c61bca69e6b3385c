"""What is asked of a race, and what its views are told, on a real training."""

from __future__ import annotations

import json

import pytest

import pslab
from pslab.lab.lab import Lab
from pslab.lab.race.feed import BEAT_S, RaceFeed
from pslab.lab.race.race_view import RaceStation


@pytest.fixture(scope="module")
def running():
    lab = Lab()
    lab.cluster.start(ps=1, workers=2, processes=False)
    yield lab
    lab.cluster.stop()


@pytest.fixture
def lab(running) -> Lab:
    running.mode(replication="between-graph", update=pslab.Async())
    if running.trainer is not None:
        running.stop()
    return running


@pytest.fixture
def desk(lab):
    return RaceStation(lab).desk


def ask(desk, name: str, value=None) -> None:
    desk.ask(name, value)
    assert desk.settle(30)


def test_a_message_that_is_chosen_is_let_in_and_no_other(desk, lab) -> None:
    ask(desk, "begin")
    while len(lab.messages()) < 2:
        pass
    ask(desk, "message", {"ps": 0, "worker": 1, "what": "commit"})
    assert desk.refusal is None
    race = lab.trainer.race()
    assert [str(m.message) for m in race.moments[1:]] == ["commit of worker:1 at ps:0"]
    ask(desk, "message")
    assert str(lab.trainer.race().moments[2].message) == "commit of worker:0 at ps:0"


def test_what_does_not_wait_is_refused_with_the_reason(desk, lab) -> None:
    lab.mode(update=pslab.Sync())
    ask(desk, "begin")
    while len(lab.messages()) < 2:
        pass
    chosen = {"ps": 0, "worker": 1, "what": "commit"}
    ask(desk, "message", chosen)
    ask(desk, "message", chosen)
    assert desk.refusal.words == "the commit of worker:1 at ps:0 does not wait any more; choose among those that wait now"
    ask(desk, "message", {"worker": 1})
    assert "a message has a ps, a worker and a what" in desk.refusal.words


def test_it_goes_on_and_begins_anew(desk, lab) -> None:
    ask(desk, "begin")
    ask(desk, "start")
    assert lab.status().state == "running"
    ask(desk, "message")
    assert lab.status().state == "paused"
    assert [m.number for m in lab.trainer.race().moments] == [0, 1]


def test_a_feed_tells_all_then_what_has_changed_then_a_beat(desk, lab) -> None:
    feed = RaceFeed(desk)
    first = feed.next(0.0)
    assert set(first) == {"scene", "strategy", "training", "pending", "refusal"}
    ask(desk, "begin")
    while len(lab.messages()) < 2:
        pass
    told = feed.next(0.1)
    assert told["scene"]["live"]
    assert len(told["scene"]["moments"][0]["waiting"]) == 2
    assert feed.next(0.2) is None
    assert feed.next(BEAT_S + 0.2) == {}
    lab.step(messages=1, worker=1)
    after = feed.next(BEAT_S + 0.3)["scene"]
    json.dumps(after, allow_nan=False)
    assert after["pushes"] == [[1, "ps:0", 1, "applied", 0]]
    feed.begin_anew()
    assert set(feed.next(BEAT_S + 0.4)) == set(first)


def test_in_another_language_a_feed_tells_the_scene_anew(desk, lab, request) -> None:
    ask(desk, "begin")
    feed = RaceFeed(desk)
    feed.next(0.0)
    request.getfixturevalue("chinese")
    told = feed.next(0.1)
    assert told["scene"]["moments"][0]["words"] in ("还没有放行任何消息。", "所有 worker 都已读取参数，正在计算。")
    view = lab.race()
    assert view.language == "zh"
    view.close()


def test_there_is_nothing_to_draw_before_anything_was_trained() -> None:
    assert RaceFeed(RaceStation(Lab()).desk).next(0.0)["scene"] is None


def test_all_views_of_a_lab_share_one_station() -> None:
    lab = Lab()
    first, second = lab.race(), lab.race()
    assert first.line is second.line
    first.close()
    second.close()

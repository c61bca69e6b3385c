"""The scene: what each worker does from message to message, and what is said of it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pslab.lab.race.scene import ASKS, COMMITS, COMPUTES, HELD, WAITS, Span, scene, spans
from pslab.train.order_service import AtGate
from pslab.train.race import Message, Race, RaceBook
from pslab.train.strategy import Replication, Strategy
from pslab.train.updates import SSP, Async, Sync


class Ledgers:
    """A race whose ledgers are given, message by message."""

    def __init__(self, strategy: Strategy, ps: int = 1, workers: int = 2) -> None:
        self.book = RaceBook(strategy, ps, workers, 0)
        self.orders: dict[str, list[int]] = {f"ps:{i}": [] for i in range(ps)}
        self.waiting: dict[str, dict[int, str]] = {f"ps:{i}": {} for i in range(ps)}
        self.passed = dict.fromkeys(self.orders, 0)

    def see(self, held: tuple[int, ...] = (), step: int = 0, **entries: list[int]) -> None:
        for name, new in entries.items():
            self.orders[name.replace("_", ":")] += new
        gates = {ps: AtGate(self.waiting[ps], self.passed[ps], True, 0, held) for ps in self.orders}
        self.book.see(gates, {ps: np.array(order, np.int32) for ps, order in self.orders.items()}, step)

    def let_in(self, ps: str, worker: int, what: str = "commit", **seen) -> None:
        self.book.let_in(Message(ps, worker, what))
        self.passed[ps] += 1
        self.see(**seen)

    def race(self) -> Race:
        return self.book.race()


def of(worker: int, race: Race) -> list[tuple]:
    return [(s.what, s.begin, s.end, s.versions) for s in spans(race) if s.worker == worker]


@pytest.fixture
def stale() -> Race:
    """Worker 1 commits twice, then worker 0, which has read at the beginning only."""
    told = Ledgers(Strategy(update=Async()))
    told.waiting["ps:0"] = {0: "commit", 1: "commit"}
    told.see(ps_0=[~0, ~1])
    for worker, step in ((1, 1), (1, 2), (0, 3)):
        told.let_in("ps:0", worker, ps_0=[worker, ~worker], step=step)
    return told.race()


def test_a_worker_computes_from_its_read_to_its_push(stale) -> None:
    assert of(0, stale) == [(COMPUTES, 0, 3, (0,)), (COMPUTES, 3, None, (3,))]
    assert of(1, stale) == [(COMPUTES, 0, 1, (0,)), (COMPUTES, 1, 2, (1,)), (COMPUTES, 2, None, (2,))]


def test_the_scene_has_versions_pushes_and_reads_and_is_json(stale) -> None:
    told = json.loads(json.dumps(scene(stale), allow_nan=False))
    assert told["versions"] == [[0, "ps:0", 0], [1, "ps:0", 1], [2, "ps:0", 2], [3, "ps:0", 3]]
    assert told["pushes"] == [[1, "ps:0", 1, "applied", 0], [2, "ps:0", 1, "applied", 0], [3, "ps:0", 0, "applied", 2]]
    assert told["reads"] == [[0, "ps:0", 0, 0], [0, "ps:0", 1, 0], [1, "ps:0", 1, 1], [2, "ps:0", 1, 2], [3, "ps:0", 0, 3]]
    assert [m["step"] for m in told["moments"]] == [0, 1, 2, 3]
    assert told["moments"][3]["words"] == "What worker:0 computed at version 0 of ps:0, 2 stale, is applied as version 3."


def test_what_waits_says_how_stale_it_would_be(stale) -> None:
    waiting = scene(stale)["moments"][2]["waiting"]
    assert waiting[0] == {"ps": "ps:0", "worker": 0, "what": "commit", "version": 0, "stale": 2}
    assert waiting[1]["stale"] == 0


def test_whom_the_clock_holds_is_held_until_it_reads() -> None:
    told = Ledgers(Strategy(update=SSP(1)))
    told.see(ps_0=[~0, ~1])
    told.let_in("ps:0", 0, ps_0=[0, ~0])
    told.let_in("ps:0", 0, ps_0=[0], held=(0,))
    told.let_in("ps:0", 1, ps_0=[1, ~0, ~1])
    assert of(0, told.race()) == [(COMPUTES, 0, 1, (0,)), (COMPUTES, 1, 2, (1,)), (HELD, 2, 3, ()), (COMPUTES, 3, None, (3,))]
    assert scene(told.race())["moments"][3]["words"].endswith("is applied as version 3; worker:0 may read, too.")


def test_in_sync_who_has_handed_in_waits_for_the_update() -> None:
    book = RaceBook(Strategy(update=Sync()), 1, 2, 5)
    book.see({"ps:0": AtGate({0: "commit", 1: "commit"}, 0, True, 0, ())}, {}, 5)
    book.let_in(Message("ps:0", 1, "commit"))
    book.see({"ps:0": AtGate({0: "commit"}, 1, True, 0, (), gathered=(1,))}, {}, 5)
    assert not book.due
    half = book.race()
    assert of(1, half) == [(COMPUTES, 0, 1, (0,)), (WAITS, 1, None, ())]
    assert scene(half)["moments"][1]["gathered"] == {"ps:0": [1]}
    book.let_in(Message("ps:0", 0, "commit"))
    book.see({"ps:0": AtGate({}, 2, True, 0, (), gathered=(1, 0))}, {}, 5)
    assert book.due
    book.see({"ps:0": AtGate({}, 2, True, 0, ())}, {}, 6)
    assert not book.due
    whole = scene(book.race())
    assert whole["versions"] == [[0, "ps:0", 0], [2, "ps:0", 1]]
    assert [s[:4] for s in whole["spans"]] == [
        [0, COMPUTES, 0, 2],
        [0, COMPUTES, 2, None],
        [1, COMPUTES, 0, 1],
        [1, WAITS, 1, 2],
        [1, COMPUTES, 2, None],
    ]
    assert whole["moments"][2]["words"].endswith("kept for an update of several; with that the update to version 1 is made; worker:1 may read, too.")


def test_of_two_ps_a_worker_computes_when_it_has_read_both() -> None:
    told = Ledgers(Strategy(update=Async()), ps=2, workers=1)
    told.see(ps_0=[~0], ps_1=[~0])
    told.let_in("ps:1", 0, ps_1=[0, ~0])
    told.let_in("ps:0", 0, ps_0=[0, ~0])
    assert of(0, told.race()) == [(COMPUTES, 0, 1, (0, 0)), (COMMITS, 1, 2, ()), (COMPUTES, 2, None, (1, 1))]


def test_in_graph_a_tower_asks_before_it_reads_and_what_the_clock_notes_is_no_read() -> None:
    told = Ledgers(Strategy(Replication.IN_GRAPH, SSP(3)), workers=1)
    told.waiting["ps:0"] = {0: "read"}
    told.see()
    assert scene(told.race())["moments"][0]["waiting"] == [{"ps": "ps:0", "worker": 0, "what": "read", "version": None, "stale": None}]
    told.let_in("ps:0", 0, "read", ps_0=[~0])
    told.let_in("ps:0", 0, ps_0=[0, ~0])
    told.let_in("ps:0", 0, "read", ps_0=[~0])
    assert spans(told.race()) == [Span(0, COMPUTES, 1, 2, (0,)), Span(0, ASKS, 2, 3), Span(0, COMPUTES, 3, None, (1,))]
    assert [r[0] for r in scene(told.race())["reads"]] == [1, 3]


def test_in_chinese_it_is_said_in_chinese(chinese, stale) -> None:
    moments = scene(stale)["moments"]
    assert moments[0]["words"] == "所有 worker 都已读取参数，正在计算。"
    assert moments[3]["words"] == "worker:0 基于 ps:0 的版本 0 算出的结果（陈旧度 2）已应用，成为版本 3。"


def test_in_chinese_who_may_read_too_is_said(chinese) -> None:
    told = Ledgers(Strategy(update=SSP(0)), workers=4)
    told.see(ps_0=[~0, ~1, ~2, ~3])
    for worker in (0, 1, 2):
        told.let_in("ps:0", worker, ps_0=[worker])
    told.let_in("ps:0", 3, ps_0=[3, ~0, ~1, ~2, ~3])
    words = [moment["words"] for moment in scene(told.race())["moments"]]
    assert words[-1].endswith("已应用，成为版本 4；worker:0、worker:1 和 worker:2 也可以读取。")

"""Slow workers: the rule, its ops, and what a straggler does to a training in each mode."""

from __future__ import annotations

import threading
from time import monotonic

import numpy as np
import pytest

from pslab.data.datasets import Dataset
from pslab.errors import UsageError
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import constant
from pslab.runtime.driver import drive
from pslab.runtime.task import Task
from pslab.testing.one_task import NoLink, program
from pslab.train.delays import DISTRIBUTIONS, Constant, Exponential, Pareto, check_delay, span
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.straggler import Straggler, changing, held_up
from pslab.train.strategy import ALL_MODES, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.tasks import LocalTasks
from tests.waiting import DEADLINE_S, until

LONG_S = 600.0
S = 10**9


def test_distributions_have_the_means_and_tails_that_they_say() -> None:
    rng = np.random.default_rng(0)
    draws = {d: np.array([d.draw(rng) for _ in range(20_000)]) for d in (Constant(0.5), Exponential(0.5), Pareto(0.5, 3.0))}
    for delay, drawn in draws.items():
        assert drawn.mean() == pytest.approx(delay.mean, rel=0.03), delay
    pareto = draws[Pareto(0.5, 3.0)]
    assert pareto.min() >= 0.5
    assert (pareto > 1.0).mean() == pytest.approx(0.5**3, rel=0.1)
    assert Pareto(1.0, 1.0).mean == np.inf


def test_delays_are_told_in_people_s_units() -> None:
    assert [str(d) for d in (Constant(0.05), Constant(2), Exponential(0.0001), Pareto(0.01, 1.5))] == [
        "50 ms",
        "2 s",
        "100 µs on average, exponential",
        "10 ms or more, Pareto of shape 1.5",
    ]
    assert span(0.0015) == "1.5 ms"
    assert {name: make(0.5, 2.0) for name, make in DISTRIBUTIONS.items()} == {
        "constant": Constant(0.5),
        "exponential": Exponential(0.5),
        "pareto": Pareto(0.5, 2.0),
    }


@pytest.mark.parametrize("make", [Constant, Exponential, Pareto])
@pytest.mark.parametrize("seconds", [0, -1, np.inf, np.nan, 4000, "50ms", True, None])
def test_times_that_cannot_be_meant(make, seconds) -> None:
    with pytest.raises(UsageError, match=r"must be more than 0 s and at most 3600 s, found"):
        make(seconds)


def test_no_delay_at_all() -> None:
    with pytest.raises(UsageError, match=r"Pareto\(shape=…\) must be greater than 0, found 0"):
        Pareto(0.1, 0)
    with pytest.raises(UsageError, match=r"a delay is pslab.Constant, pslab.Exponential or pslab.Pareto, found 0.05"):
        check_delay(0.05)


def test_a_sleep_lasts_as_long_as_its_delay() -> None:
    straggler = Straggler()
    assert straggler.left_ns(straggler.begin(7), 7) == 0
    straggler.slow(Constant(2.0), seed=0)
    sleep = straggler.begin(10 * S)
    assert [straggler.left_ns(sleep, now * S) for now in (10, 11, 12, 13)] == [2 * S, S, 0, 0]


def test_a_change_ends_the_sleep_in_progress_and_the_same_delay_again_does_not() -> None:
    straggler = Straggler()
    straggler.slow(Constant(100.0), seed=0)
    sleep = straggler.begin(0)
    straggler.slow(Constant(100.0), seed=0)
    assert straggler.left_ns(sleep, S) == 99 * S
    straggler.slow(Constant(1.0), seed=0)
    assert straggler.left_ns(sleep, S) == 0
    sleep = straggler.begin(S)
    straggler.slow(None, seed=0)
    assert straggler.left_ns(sleep, S) == 0


def test_who_is_awake_does_not_sleep_until_he_dozes() -> None:
    straggler = Straggler()
    straggler.slow(Constant(100.0), seed=0)
    sleep = straggler.begin(0)
    straggler.wake()
    assert straggler.left_ns(sleep, 0) == 0
    assert straggler.left_ns(straggler.begin(0), 0) == 0
    straggler.doze()
    assert straggler.left_ns(straggler.begin(0), 0) == 100 * S


def test_a_step_that_was_given_up_in_its_sleep_holds_nobody_up() -> None:
    straggler = Straggler()
    straggler.slow(Constant(100.0), seed=0)
    given_up = straggler.begin(0)
    straggler.slow(Constant(1.0), seed=0)
    assert straggler.left_ns(straggler.begin(S), S) == S
    assert straggler.left_ns(given_up, S) == 0


def test_what_is_drawn_depends_on_the_worker_alone() -> None:
    def draws(seed: int) -> list[int]:
        straggler = Straggler()
        straggler.slow(Exponential(1.0), seed)
        return [straggler.left_ns(straggler.begin(0), 0) for _ in range(5)]

    assert draws(1) == draws(1) != draws(2)
    assert len(set(draws(1))) == 5


def test_a_sleep_is_computing_and_comes_after_the_gradients() -> None:
    task = Task("worker:0")
    with Graph().as_default() as graph:
        gradient = constant(1.0)
        sleep = held_up([gradient])
        with graph.control_dependencies([sleep]):
            result = constant(2.0) + gradient
        compiled = program(task, [result], [])
    with changing(task) as straggler:
        straggler.slow(Constant(0.02), seed=0)
    values, times = drive(compiled, [], NoLink(), task.monitor)
    assert values == (3.0,)
    assert times.compute >= 20_000_000
    assert times.wait == 0


def test_a_sleep_ends_when_the_delay_is_taken_away() -> None:
    task = Task("worker:0")
    with Graph().as_default():
        compiled = program(task, [held_up([constant(1.0)])], [])
    with changing(task) as straggler:
        straggler.slow(Constant(LONG_S), seed=0)
    sleeper = threading.Thread(target=drive, args=(compiled, [], NoLink(), task.monitor), daemon=True)
    sleeper.start()
    until(lambda: straggler._ends_ns, "it does not sleep")
    assert sleeper.is_alive()
    with changing(task) as straggler:
        straggler.slow(None, seed=0)
    sleeper.join(DEADLINE_S)
    assert not sleeper.is_alive()


# In training


def data() -> Dataset:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(240, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    return Dataset("random", x[:200], y[:200], x[200:], y[200:])


@pytest.fixture
def tasks():
    with LocalTasks(ps=1, workers=2) as tasks:
        yield tasks


@pytest.fixture
def start(tasks):
    trainers = []

    def make(strategy: Strategy) -> Trainer:
        trainers.append(Trainer(tasks, data(), Model(MLP(2, [8])), strategy, batch_size=8))
        return trainers[-1]

    yield make
    for trainer in trainers:
        trainer.close()


def asleep(tasks: LocalTasks, worker: str = "worker:1") -> None:
    """Wait until a worker is in a sleep."""
    task = tasks.services[worker]._server.task

    def sleeps() -> bool:
        with changing(task) as straggler:
            return bool(straggler._ends_ns)

    until(sleeps, f"{worker} does not sleep")


@pytest.mark.parametrize("strategy", [m for m in ALL_MODES if isinstance(m.update, Async)], ids=str)
def test_async_goes_on_beside_a_worker_that_sleeps(start, tasks, strategy) -> None:
    trainer = start(strategy)
    trainer.slow(1, Constant(LONG_S))
    trainer.train(100)
    assert trainer.wait(timeout=DEADLINE_S, step=99).global_step >= 99
    assert set(trainer.records()["worker"]) == {0}


@pytest.mark.parametrize(
    "strategy", [*(m for m in ALL_MODES if isinstance(m.update, Sync)), Strategy(update=KAsync(2)), Strategy(update=SSP(1))], ids=str
)
def test_who_waits_for_all_waits_for_a_worker_that_sleeps_until_its_delay_is_taken_away(start, tasks, strategy) -> None:
    trainer = start(strategy)
    trainer.slow(1, Constant(LONG_S))
    trainer.train(100)
    asleep(tasks)
    assert trainer.status().global_step <= 2
    trainer.slow(1, None)
    assert trainer.wait(timeout=DEADLINE_S).state == "done"


@pytest.mark.parametrize("strategy", ALL_MODES, ids=str)
def test_a_delay_is_in_every_step_of_its_worker_and_counts_as_computing(start, strategy) -> None:
    trainer = start(strategy)
    trainer.slow(1, Constant(0.02))
    trainer.train(10)
    trainer.wait(timeout=DEADLINE_S)
    records = trainer.records()
    assert (records["compute"][records["worker"] == 1] >= 0.02).all()
    if isinstance(strategy.update, Sync):
        assert (records["wall"] >= 0.02).mean() > 0.8
        assert records["compute"][records["worker"] == 0].min() < 0.02


@pytest.mark.parametrize("strategy", ALL_MODES, ids=str)
def test_neither_a_pause_nor_a_change_of_mode_nor_a_stop_waits_for_a_sleep(start, tasks, strategy) -> None:
    trainer = start(strategy)
    trainer.slow(1, Constant(LONG_S))
    trainer.train(1000)
    began = monotonic()
    asleep(tasks)
    trainer.pause()
    assert trainer.status().state == "paused"
    trainer.resume()
    asleep(tasks)
    trainer.set_strategy(Strategy(update=SSP(3)))
    asleep(tasks)
    trainer.stop()
    assert monotonic() < began + 3 * DEADLINE_S < began + LONG_S
    assert trainer.status().state == "idle"


@pytest.mark.parametrize("strategy", ALL_MODES, ids=str)
def test_a_slow_worker_that_is_lost_is_slow_again_when_it_is_back(start, tasks, strategy) -> None:
    trainer = start(strategy)
    trainer.slow(1, Constant(0.02))
    trainer.train(100_000)
    trainer.wait(step=5, timeout=DEADLINE_S)
    tasks.services.pop("worker:1").close()
    tasks.start("worker:1")
    asleep(tasks)
    assert trainer.status().state == "running"

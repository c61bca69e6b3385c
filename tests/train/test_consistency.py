"""The rules of consistency: who waits for whom, what is applied how, against closed forms and against each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

import pslab
from pslab.sync.ledger_ops import LEDGERS
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.interleaving import interleaved
from tests.train.tasks import LocalTasks
from tests.train.test_values import BATCH, data, model, trained


def quadratic(curvature: float) -> Callable:
    """Loss ½·c·w², whose gradient at w is c·w, whatever the batch."""

    def build(x, y):
        w = pslab.Variable(np.float64(1.0), name="w")
        return 0.5 * curvature * w * w + 0.0 * pslab.reduce_mean(x), {}

    return build


def delayed(rate: float, workers: int, steps: int) -> list[float]:
    """W(t+1) = w(t) − rate·w(t−τ) with τ = workers − 1, as of workers in turn that read right after they have written."""
    w, seen = 1.0, [1.0] * workers
    path = []
    for t in range(steps):
        w -= rate * seen[t % workers]
        seen[t % workers] = w
        path.append(w)
    return path


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
@pytest.mark.parametrize(("factor", "stable"), [(0.95, True), (1.05, False)])
def test_async_with_a_constant_delay_is_stable_up_to_its_known_limit(workers, factor, stable) -> None:
    """W(t+1) = w(t) − ηc·w(t−τ) decays if and only if ηc < 2·sin(π / (2·(2τ+1)))."""
    delay = workers - 1
    rate = factor * 2 * math.sin(math.pi / (2 * (2 * delay + 1)))
    with interleaved(quadratic(1.0), Strategy(), workers, rate=rate) as run:
        begun = len(delayed(rate, workers, 400))
        run.take(t % workers for t in range(begun))
        records, final = run.records(), float(run.parameters()["w"])
    assert list(records["staleness"][workers:]) == [delay] * (begun - workers)
    path = delayed(rate, workers, begun)
    assert final == pytest.approx(path[-1], rel=1e-6, abs=1e-12)
    late, early = np.abs(path[-40:]).max(), np.abs(path[:40]).max()
    assert (late < early / 2) if stable else (late > 2 * early)


def test_a_rate_by_staleness_divides_by_it() -> None:
    with interleaved(quadratic(1.0), Strategy(update=Async(by_staleness=True)), workers=3) as run:
        run.take([0, 1, 2, 2, 0])
        found = float(run.parameters()["w"])
        stale = list(run.records()["staleness"])
    assert stale == [0, 1, 2, 0, 3]
    w = 1 - 0.1  # worker 0, fresh
    after_0 = w
    w -= 0.1 * 1 / 1  # worker 1, read 1.0, staleness 1
    w -= 0.1 * 1 / 2  # worker 2, read 1.0, staleness 2
    w -= 0.1 * w / 1  # worker 2, fresh
    w -= 0.1 * after_0 / 3
    assert found == pytest.approx(w, rel=1e-12)


def test_delay_compensation_is_that_of_the_paper() -> None:
    with interleaved(quadratic(2.0), Strategy(update=Async(compensation=0.3)), workers=2) as run:
        run.take([0, 1])
        found = float(run.parameters()["w"])
    first = 1 - 0.1 * 2.0
    gradient = 2.0  # of worker 1, at 1.0
    assert found == pytest.approx(first - 0.1 * (gradient + 0.3 * gradient**2 * (first - 1.0)), rel=1e-12)


def test_a_mean_of_asynchronous_contributions_is_a_share_each() -> None:
    with interleaved(quadratic(1.0), Strategy(update=Async(aggregation="mean")), workers=4) as run:
        run.take([0, 1, 2, 3])
        assert float(run.parameters()["w"]) == pytest.approx(1 - 0.1, rel=1e-12)


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("aggregation", ["sum", "mean"])
def test_ssp_without_slack_is_sync(ps, aggregation) -> None:
    dataset = data("float64")
    wanted = trained(dataset, "sgd", Strategy(update=Sync(aggregation=aggregation)), ps, workers=3, steps=20)[1]
    found = trained(dataset, "sgd", Strategy(update=SSP(0, aggregation=aggregation)), ps, workers=3, steps=60)[1]
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("bound", [0, 1, 3])
def test_ssp_lets_nobody_be_more_than_its_bound_ahead(ps, bound) -> None:
    with LocalTasks(ps, workers=3) as tasks:
        trainer = Trainer(tasks, data("float32"), model("sgd"), Strategy(update=SSP(bound)), BATCH)
        trainer.train(200)
        trainer.wait(timeout=60)
        ledgers = [ledger for i in range(ps) for ledger in tasks.services[f"ps:{i}"]._server.task.resources(LEDGERS)]
        trainer.close()
    assert len(ledgers) == ps
    for ledger in ledgers:
        steps = [0, 0, 0]
        for entry in ledger:
            if entry.applied:
                steps[entry.worker] += 1
            else:
                assert steps[entry.worker] - min(steps) <= bound
        assert sum(steps) == 200


def test_ssp_without_a_bound_in_reach_never_waits_and_is_async() -> None:
    with interleaved(quadratic(1.0), Strategy(update=SSP(10**6)), workers=2) as run:
        run.take([0] * 50 + [1])
        bounded = float(run.parameters()["w"])
    with interleaved(quadratic(1.0), Strategy(update=Async()), workers=2) as run:
        run.take([0] * 50 + [1])
        assert float(run.parameters()["w"]) == bounded


def test_k_async_of_all_workers_is_sync_bit_for_bit() -> None:
    dataset = data("float32")
    wanted = trained(dataset, "momentum", Strategy(update=Sync()), ps=2, workers=3, steps=40)[1]
    found = trained(dataset, "momentum", Strategy(update=KAsync(3)), ps=2, workers=3, steps=40)[1]
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value)


@pytest.mark.parametrize("k", [1, 2])
def test_k_async_drops_nothing_and_makes_updates_of_at_least_k(k) -> None:
    with LocalTasks(ps=1, workers=3) as tasks:
        trainer = Trainer(tasks, data("float32"), model("sgd"), Strategy(update=KAsync(k)), BATCH)
        trainer.train(100)
        assert trainer.wait(timeout=60).global_step == 100
        assert trainer.status().dropped == 0
        records = trainer.records()
        trainer.close()
    used = np.bincount(records["global_step"].astype(int), minlength=101)[1:100]
    assert used.sum() >= k * 99


def test_without_a_lock_one_worker_computes_the_same() -> None:
    with interleaved(quadratic(1.0), Strategy(update=Async(lock=False)), workers=1) as run:
        run.take([0] * 20)
        free = float(run.parameters()["w"])
        assert not run.records()["torn"].any()
    assert free == pytest.approx(0.9**20, rel=1e-12)


def test_a_sum_in_sync_is_as_many_times_the_mean() -> None:
    for replication in ("between-graph", "in-graph"):
        once = {
            aggregation: trained(data("float64"), "sgd", Strategy(replication, Sync(aggregation=aggregation)), 1, 2, steps=1)[:2]
            for aggregation in ("mean", "sum")
        }
        for name, initial in once["mean"][0].items():
            np.testing.assert_allclose(once["sum"][1][name] - initial, 2 * (once["mean"][1][name] - initial), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "strategy",
    [
        *(Strategy(update=u) for u in (SSP(1), KAsync(2), Async(lock=False), Async(by_staleness=True), Async(compensation=0.1))),
        *(Strategy(commit_every=3, commit=c) for c in (pslab.Gradients(), pslab.Differences(), pslab.Elastic())),
        *(Strategy(update=Sync(), commit_every=3, commit=c) for c in (pslab.Gradients(), pslab.Differences(0.7, 0.9), pslab.Elastic())),
        Strategy("in-graph", SSP(1)),
    ],
    ids=str,
)
def test_so_many_steps_are_so_many_updates_in_every_mode_and_a_change_loses_nothing(strategy) -> None:
    with LocalTasks(ps=2, workers=3) as tasks:
        trainer = Trainer(tasks, data("float32"), model("sgd"), strategy, BATCH)
        trainer.train(30)
        assert trainer.wait(timeout=60).global_step == 30
        trainer.train(10_000)
        trainer.wait(step=45, timeout=60)
        trainer.set_strategy(Strategy(update=Sync()))
        trainer.wait(step=trainer.status().global_step + 5, timeout=60)
        trainer.set_strategy(strategy)
        trainer.pause()
        paused = trainer.status().global_step
        trainer.step(7)
        assert trainer.status().global_step == paused + 7
        kept = trainer.parameters()
        trainer.stop()
        for name, value in trainer.parameters().items():
            np.testing.assert_array_equal(value, kept[name])
        for service in tasks.services.values():
            task = service._server.task
            assert not [key for key in itertools.chain(task._resources, task.variables) if "epoch_" in key or "own_" in key]
        trainer.close()


def test_eight_equal_workers_get_on_evenly_and_see_seven_updates_of_others_each() -> None:
    with LocalTasks(ps=1, workers=8) as tasks:
        trainer = Trainer(tasks, data("float32"), model("sgd"), Strategy(), BATCH)
        trainer.train(800)
        trainer.wait(timeout=120)
        records = trainer.records()
        trainer.close()
    shares = np.bincount(records["worker"], minlength=8)
    assert shares.min() > 25, shares
    assert records["staleness"].mean() == pytest.approx(7, abs=0.5)

"""The cost model against closed forms: plans of real modes, on links of which the answer is known on paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pslab.data.datasets import load
from pslab.errors import FailedPreconditionError
from pslab.runtime.transport import Network
from pslab.simulate import closed_forms
from pslab.simulate.cost import Workload, predict
from pslab.simulate.sizes import Sizes
from pslab.trace.records import step_dtype
from pslab.train.commits import Elastic
from pslab.train.costing import workload
from pslab.train.model import Model
from pslab.train.models import by_name
from pslab.train.plans import sketch
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync

BETA, ALPHA, COMPUTE = 1e6, 1e-3, 0.01
"""Some 170 kB each way: 170 ms."""
DATA = load("digits")
MODEL = Model(by_name("mlp", DATA.classes, [512]), "mlp")
NETWORK = Network(BETA, ALPHA)


def work(strategy: Strategy, ps: int = 1, workers: int = 1, network: Network = NETWORK, compute=COMPUTE, **fields) -> Workload:
    job = sketch(MODEL, DATA, strategy, ps, workers)
    given = workload(job, network, np.zeros(0, step_dtype()), None)
    computing = compute if isinstance(compute, dict) else {f"worker:{i}": compute for i in range(workers)}
    return replace(given, **{"overhead": 0.0, "compute": computing, **fields})


def parameters() -> float:
    """Bytes of the model's parameters."""
    return 4.0 * (64 * 512 + 512 + 512 * 10 + 10)


BETWEEN = Strategy(update=Async())
SYNC = Strategy(update=Sync())


def test_a_worker_alone_pays_each_way_once() -> None:
    given = work(BETWEEN)
    sizes = Sizes(given.plans[0], given.batch, given.sizes)
    (cut,), part = given.plans[0].cuts, given.plans[0].partitions["ps:0"]
    found = predict(given)
    assert found.step == pytest.approx(
        COMPUTE + closed_forms.message(sizes.cut(cut), ALPHA, BETA) + closed_forms.message(sizes.done(part), ALPHA, BETA)
    )
    assert (found.compute, found.push) == pytest.approx((COMPUTE, sizes.cut(cut) / BETA))
    assert found.compute + found.wait + found.push + found.pull == pytest.approx(found.step)
    assert sizes.cut(cut) == pytest.approx(parameters(), rel=0.01)
    assert found.bottleneck == "network"


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("ps", [1, 2, 4])
def test_async_is_its_own_way_or_its_turn_at_the_ps(workers: int, ps: int) -> None:
    """The model's weights are most of it, and on one ps; so the load is of one, however many there are."""
    found = predict(work(BETWEEN, ps, workers))
    assert found.step == pytest.approx(closed_forms.async_step(parameters(), workers, 1, ALPHA, BETA, COMPUTE), rel=0.15)
    assert found.bottleneck == ("ps" if workers >= 3 else "network")


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_sync_queues_at_the_ps_while_it_answers(workers: int) -> None:
    found = predict(work(SYNC, 1, workers))
    assert found.step == pytest.approx(closed_forms.sync_step(parameters(), workers, 1, ALPHA, BETA, COMPUTE), rel=0.05)
    assert found.bottleneck == ("ps" if workers > 1 else "network")


def test_half_duplex_halves_what_a_ps_serves() -> None:
    half = predict(work(BETWEEN, 1, 8, Network(BETA, ALPHA, duplex="half"))).step
    assert half == pytest.approx(2 * predict(work(BETWEEN, 1, 8)).step, rel=0.05)


@pytest.mark.parametrize("k", [1, 2, 8, 32])
def test_a_commit_every_k_steps_shares_the_links_among_them(k: int) -> None:
    once = predict(work(BETWEEN)).step
    found = predict(work(Strategy(update=Async(), commit_every=k)))
    assert found.step == pytest.approx((once - COMPUTE) / k + COMPUTE, rel=0.01)
    assert found.compute == pytest.approx(COMPUTE)


def test_what_a_loop_does_around_a_step_is_in_the_step_and_in_no_phase() -> None:
    plain, found = predict(work(BETWEEN)), predict(work(BETWEEN, around=0.005))
    assert found.step == pytest.approx(plain.step + 0.005)
    assert found.compute == pytest.approx(plain.compute)


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_without_a_network_the_cores_are_what_is_short(workers: int) -> None:
    found = predict(work(BETWEEN, 1, workers, Network(), cores=2))
    assert found.step == pytest.approx(closed_forms.computing(COMPUTE, workers, 2), rel=0.05)
    assert found.bottleneck == "cores"


@pytest.mark.parametrize(
    "strategy",
    [
        *ALL_MODES,
        Strategy(update=SSP(staleness=2)),
        Strategy(update=KAsync(k=2)),
        Strategy(update=Sync(backup=1)),
        Strategy(update=Async(), commit_every=4, commit=Elastic(0.1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("ps", [1, 2])
def test_every_mode_can_be_predicted_and_its_phases_are_its_step(strategy: Strategy, ps: int) -> None:
    found = predict(work(strategy, ps, 3))
    least = COMPUTE + 2 * parameters() / BETA / strategy.commit_every
    assert found.step >= 0.99 * least
    tolerance = 1e-6 if strategy.replication is Replication.BETWEEN_GRAPH else 0.05
    assert found.compute + found.wait + found.push + found.pull == pytest.approx(found.step, rel=tolerance)


@pytest.mark.parametrize("slower", [1, 3, 8])
@pytest.mark.parametrize("replication", list(Replication))
def test_one_worker_that_is_slower_costs_sync_all_steps_and_async_its_own(replication: Replication, slower: int) -> None:
    computing = {"worker:0": COMPUTE, "worker:1": COMPUTE, "worker:2": COMPUTE, "worker:3": slower * COMPUTE}
    steps = {update: predict(work(Strategy(replication, update), 1, 4, Network(), compute=computing)).step for update in (Sync(), Async(), SSP(3))}
    assert steps[Sync()] == pytest.approx(closed_forms.together(list(computing.values())), rel=1e-3)
    assert steps[Async()] == pytest.approx(closed_forms.each_by_itself(list(computing.values())), rel=0.05)
    assert steps[Sync()] / steps[Async()] == pytest.approx((3 * slower + 1) / 4, rel=0.05)  # 2.5 times the steps per second with 3 times
    assert steps[SSP(3)] == pytest.approx(steps[Sync()], rel=0.2)  # it lets the others begin three steps early, and no more


def test_a_backup_does_without_the_slowest() -> None:
    computing = {"worker:0": COMPUTE, "worker:1": COMPUTE, "worker:2": COMPUTE, "worker:3": 3 * COMPUTE}
    made = predict(work(Strategy(update=Sync(backup=1)), 1, 4, Network(), compute=computing))
    assert made.step == pytest.approx(closed_forms.each_by_itself(list(computing.values())), rel=0.05)  # the slowest's are dropped


def test_what_was_measured_counts_for_more_than_the_shapes() -> None:
    given = work(BETWEEN)
    tensors = [t for cut in given.plans[0].cuts for t in cut.tensors]
    halved = predict(work(BETWEEN, sizes=dict.fromkeys(tensors, 0.0)))
    assert halved.push < 0.01 * predict(given).push
    assert halved.pull == pytest.approx(predict(given).pull, rel=0.01)


def test_loops_that_wait_for_ever_are_told() -> None:
    given = work(SYNC, 1, 2)
    with pytest.raises(FailedPreconditionError, match="wait for each other"):
        predict(Workload(given.plans[:-1], NETWORK, {}))

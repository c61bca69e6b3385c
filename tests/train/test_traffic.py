"""What goes between the tasks of a training, counted where it is sent; and links that are shaped under it."""

from __future__ import annotations

from collections import defaultdict
from time import monotonic

import numpy as np
import pytest

from pslab.data.datasets import load
from pslab.runtime.transport import Network
from pslab.simulate.cost import predict
from pslab.train.commits import Elastic
from pslab.train.compression import Float16
from pslab.train.costing import measured_step, steps_of, workload
from pslab.train.model import Model
from pslab.train.models import by_name
from pslab.train.strategy import ALL_MODES, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.train.tasks import LocalTasks

DATA = load("digits")
MODEL = Model(by_name("mlp", DATA.classes, [32]), "mlp")
BYTES = {"hidden_0/weights": 64 * 32 * 4, "hidden_0/biases": 32 * 4, "logits/weights": 32 * 10 * 4, "logits/biases": 10 * 4}


@pytest.fixture
def trained():
    """A trainer of a mode, on two ps and two workers, after some updates."""
    with LocalTasks(ps=2, workers=2) as tasks:
        trainer = Trainer(tasks, DATA, MODEL, batch_size=16)

        def train(strategy: Strategy, steps: int = 20) -> Trainer:
            trainer.set_strategy(strategy)
            trainer.train(steps)
            assert trainer.wait(timeout=30).state == "done"
            return trainer

        yield train, tasks
        trainer.close()


@pytest.mark.parametrize("strategy", [*ALL_MODES, Strategy(update=Async(), commit_every=3), Strategy(commit_every=2, commit=Elastic(0.1))], ids=str)
def test_each_variable_weighs_what_it_holds_each_way(trained, strategy: Strategy) -> None:
    trainer = trained[0](strategy)
    found = trainer.traffic().variables(step.plan for step in steps_of(trainer.job()))
    weights: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for v in found:
        if v.variable in BYTES:
            weights[v.worker, v.direction][v.variable] = v.bytes
    assert dict(weights) == {(f"worker:{i}", direction): BYTES for i in range(2) for direction in ("push", "pull")}
    rest = sum(v.bytes for v in found if v.variable not in BYTES)
    assert rest <= 2 * 200  # steps, losses, claims


def test_what_is_compressed_weighs_what_is_sent(trained) -> None:
    trainer = trained[0](Strategy(compression=Float16()))
    found = trainer.traffic().variables(step.plan for step in steps_of(trainer.job()))
    sizes = {(v.variable, v.direction): v.bytes for v in found if v.worker == "worker:1" and v.variable in BYTES}
    assert sizes == {(name, way): size / (2 if way == "push" else 1) for name, size in BYTES.items() for way in ("push", "pull")}


def test_links_carry_what_the_steps_say_they_sent(trained) -> None:
    trainer = trained[0](Strategy())
    traffic, records = trainer.traffic(), trainer.records()
    for worker in range(2):
        mine = records[records["worker"] == worker]
        to_ps = [link for link in traffic.links() if link.source == f"worker:{worker}"]
        assert {link.destination for link in to_ps} == {"ps:0", "ps:1"}
        pushed = sum(link.sent.bytes for link in to_ps)
        assert pushed >= mine["bytes_pushed"].sum()
        assert all(link.sent.messages >= len(mine) == link.steps for link in to_ps)
        pulled = sum(link.sent.bytes for link in traffic.links() if link.destination == f"worker:{worker}")
        assert pulled >= mine["bytes_pulled"].sum() >= sum(BYTES.values()) * len(mine)


def test_counting_begins_anew_with_each_mode(trained) -> None:
    train, _ = trained
    many = train(Strategy(), 200).traffic()
    few = train(Strategy(update=Sync()), 5).traffic()
    assert sum(few.steps.values()) < sum(many.steps.values())
    assert sum(link.sent.bytes for link in few.links()) < sum(link.sent.bytes for link in many.links())


def test_a_training_on_shaped_links_takes_at_least_their_time(trained) -> None:
    train, tasks = trained
    train(Strategy())
    pushed = BYTES["hidden_0/weights"]
    bandwidth, latency = pushed / 0.005, 0.002
    tasks.call_all("shape", network=Network(bandwidth, latency))
    began = monotonic()
    trainer = train(Strategy(), 20)
    assert monotonic() - began >= 20 * 0.005  # all updates come in by the port of one ps
    records = trainer.records()[-10:]
    assert np.all(records["push"] >= 0.005)
    assert np.all(records["pull"] >= 2 * latency)
    tasks.call_all("shape", network=Network())
    trainer.train(20)
    assert trainer.wait(timeout=30).state == "done"


@pytest.mark.parametrize("strategy", [Strategy(), Strategy(update=Sync()), Strategy(update=Async(), commit_every=4)], ids=str)
def test_the_prediction_is_less_than_what_is_measured_and_not_much(trained, strategy: Strategy) -> None:
    """A loaded machine makes steps longer than predicted, never shorter than the links allow."""
    train, tasks = trained
    network = Network(5e5, 0.002)
    tasks.call_all("shape", network=network)
    trainer = train(strategy, 20)
    records = trainer.records()
    usual = records[records["step"] > 2 * strategy.commit_every]
    found = predict(workload(trainer.job(), network, usual, None))
    assert 0.2 < found.step / measured_step(usual, strategy.commit_every)["wall"] < 1.25
    assert found.bottleneck in ("network", "ps")

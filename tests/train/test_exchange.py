"""Compressed exchange: what crosses the cut, what stays behind, and what training makes of it."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import pslab as tf
from pslab.data.datasets import Dataset, load
from pslab.errors import UsageError
from pslab.graph.graph import Graph
from pslab.graph.memory import step_memory
from pslab.graph.ops.sources import placeholder
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place
from pslab.graph.variables import Variable
from pslab.runtime.driver import drive
from pslab.runtime.task import Task
from pslab.testing.one_task import NoLink, program, run
from pslab.train.commits import Differences, Elastic
from pslab.train.compression import Compression, Float16, Int8, OneBit, RandomK, TopK
from pslab.train.exchange import send
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.plans import mode_plan, mode_step, sketch
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.tasks import LocalTasks

DIGITS = load("digits")
MODES = pytest.mark.parametrize("mode", ALL_MODES, ids=str)
DEADLINE_S = 60.0
MLP_64_32_10 = Model(MLP(10, [32]), "mlp", learning_rate=0.1, seed=3)
SIZES = (64 * 32, 32, 32 * 10, 10)


def job(compression: Compression | None, mode: Strategy = ALL_MODES[0]):
    return sketch(MLP_64_32_10, DIGITS, replace(mode, compression=compression), 1, 2)


def code_bytes(compression: Compression) -> int:
    """What the model's gradients are in this format, keeping one of a hundred where only some are kept."""
    one_of_all = {
        "float16": lambda n: 2 * n,
        "int8": lambda n: n + 4,
        "top-k": lambda n: 8 * max(1, round(n / 100)),
        "random-k": lambda n: 4 + 4 * max(1, round(n / 100)),
        "one-bit": lambda n: -(-n // 8) + 8,
    }
    return sum(map(one_of_all[compression.name], SIZES))


class Alone:
    """A worker's exchange of one tensor, step by step, on one task."""

    def __init__(self, compression: Compression, shape: tuple[int, ...], dtype: str = "float32", worker: int = 0) -> None:
        self.task = Task("localhost:0")
        with Graph().as_default(), tf.device(None):
            self.graph = tf.get_default_graph()
            self.variable = Variable(np.zeros(shape, dtype), name="w")
            self.gradient = placeholder(dtype, shape)
            self.sent = send(job(compression), worker, [self.gradient], [self.variable])
        for op in self.graph.operations:
            op.device = ""
        run(self.task, *self.sent.begin)

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """What arrives."""
        return run(self.task, *self.sent.arrived, feeds={self.gradient: gradient})

    @property
    def residual(self) -> np.ndarray:
        [name] = self.task.variables
        return self.task.variables.read(name)


@pytest.mark.parametrize("compression", [TopK(0.1), RandomK(0.1)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_sent_and_what_is_kept_are_the_gradient_and_the_old_residual_bit_for_bit(compression, dtype):
    alone, rng = Alone(compression, (7, 9), dtype), np.random.default_rng(1)
    before = np.zeros((7, 9), dtype)
    for _ in range(20):
        gradient = rng.normal(size=(7, 9)).astype(dtype)
        arrived = alone.step(gradient)
        assert np.count_nonzero(arrived) == 6
        np.testing.assert_array_equal(arrived + alone.residual, gradient + before)
        before = alone.residual


@pytest.mark.parametrize("compression", [Int8(error_feedback=True), OneBit()], ids=str)
def test_what_rounding_takes_is_kept(compression):
    alone, rng, before = Alone(compression, (7, 9)), np.random.default_rng(1), np.zeros((7, 9), "f")
    for _ in range(20):
        gradient = rng.normal(size=(7, 9)).astype("f")
        arrived = alone.step(gradient)
        np.testing.assert_array_equal(alone.residual, (gradient + before) - arrived)
        before = alone.residual


def test_one_bit_with_error_feedback_is_the_algorithm_of_the_paper():
    alone, rng, rest = Alone(OneBit(), (5, 8)), np.random.default_rng(2), np.zeros((5, 8))
    for _ in range(10):
        gradient = rng.normal(size=(5, 8)).astype("f")
        whole = gradient + rest
        wanted = np.where(whole >= 0, whole[whole >= 0].mean(), whole[whole < 0].mean())
        rest = whole - wanted
        np.testing.assert_allclose(alone.step(gradient), wanted, rtol=1e-4)


@pytest.mark.parametrize("compression", [TopK(0.1), RandomK(0.1), OneBit()], ids=str)
def test_in_the_long_run_all_of_it_arrives(compression):
    """With the same gradient at each step, the mean of what arrives comes to it as 1/steps; without error feedback it does not."""
    gradient = np.random.default_rng(3).normal(size=(10, 5)).astype("f")
    alone, lossy = Alone(compression, (10, 5)), Alone(replace(compression, error_feedback=False), (10, 5))
    total, lost = (sum(one.step(gradient).astype("f8") for _ in range(600)) / 600 for one in (alone, lossy))
    np.testing.assert_allclose(total, gradient, atol=0.15)
    assert np.abs(lost - gradient).max() > 0.5


def test_workers_draw_each_its_own_elements():
    gradient = np.ones(100, "f")
    first, again, other = (Alone(RandomK(0.2), (100,), worker=worker).step(gradient) for worker in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.tolist() != other.tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("compression", [Float16(), Int8(), TopK(), RandomK(), OneBit()], ids=str)
def test_what_is_not_finite_is_refused_and_not_kept(compression, bad):
    alone = Alone(compression, (3,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="what worker:0 contributes to w : Tensor had"):
        alone.step(np.array([1, bad, 2], "f"))
    assert np.isfinite(alone.step(np.ones(3, "f"))).all()


def test_a_variable_of_no_known_shape_cannot_be_compressed():
    with Graph().as_default():
        variable = Variable(np.zeros(3, "f"), validate_shape=False, name="w")
        with pytest.raises(UsageError, match="w has shape <unknown>"):
            send(job(TopK()), 0, [placeholder("float32", None)], [variable])


@MODES
@pytest.mark.parametrize(
    ("compression", "types"),
    [
        (Float16(), ["float16"]),
        (Int8(), ["float32", "int8"]),
        (TopK(), ["float32", "int32"]),
        (RandomK(), ["float32", "int32"]),
        (OneBit(), ["float32", "uint8"]),
    ],
    ids=str,
)
def test_what_crosses_the_cut_is_the_code(mode, compression, types):
    step = mode_step(job(compression, mode))
    crossing = [
        step.graph.get_tensor_by_name(name)
        for cut in step.plan.cuts
        if cut.source.startswith("worker") and cut.destination.startswith("ps")
        for name in cut.tensors
    ]
    assert sorted({t.dtype.name for t in crossing if t.dtype.name != "int64"}) == types
    towers = 2 if mode.replication is Replication.IN_GRAPH and isinstance(mode.update, Sync) else 1
    size = sum(t.dtype.size * (t.shape.num_elements() or 0) for t in crossing if t.dtype.name != "int64")
    assert size == towers * code_bytes(compression)


OTHERS = [
    Strategy(update=SSP(2)),
    Strategy(update=KAsync(1)),
    Strategy("in-graph", SSP(1)),
    Strategy(update=Async(lock=False)),
    Strategy(update=Async(compensation=0.1, by_staleness=True)),
    Strategy(commit_every=2),
    Strategy(update=Sync(), commit_every=2, commit=Differences()),
]


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("compression", [Float16(), TopK(), RandomK()], ids=str)
@pytest.mark.parametrize("mode", [*ALL_MODES, *OTHERS], ids=str)
def test_compression_adds_no_message(mode, compression, ps):
    plain, compressed = (mode_plan(replace(job(c, mode), ps=ps)) for c in (None, compression))
    assert [(c.source, c.destination) for c in compressed.cuts] == [(c.source, c.destination) for c in plain.cuts]
    assert "TopIndices" in str(compressed) or compression != TopK()


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("mode", [m for m in (*ALL_MODES, *OTHERS) if m != Strategy("in-graph", Sync())], ids=str)
def test_decoding_does_not_part_what_a_ps_does_with_a_push(mode, ps):
    """What tells the staleness, and the update, are one critical section, so that no other's update comes between."""
    plan = mode_plan(replace(job(TopK(), mode), ps=ps))
    for task in range(ps):
        stages = [stage.nodes for stage in plan.partitions[f"ps:{task}"].stages]
        [nodes] = [nodes for nodes in stages if any(node.type in ("Densify", "TopIndices") for node in nodes)]
        state = [node.definition.stateful for node in nodes if node.type not in ("Const", "NoOp")]
        assert any(state)
        assert state[state.index(True) :] == [True] * sum(state), [node.type for node in nodes]


@pytest.mark.parametrize(
    "compression", [Float16(), Int8(), Int8(True), TopK(), TopK(0.5), TopK(error_feedback=False), RandomK(), RandomK(0.5), OneBit()], ids=str
)
def test_the_estimate_of_its_memory_comes_near_what_it_takes(compression):
    size = 200_000
    alone, gradient = Alone(compression, (size,)), np.random.default_rng(0).normal(size=size).astype("f")
    fetches, feeds = list(alone.sent.arrived), [alone.gradient]
    operations = prune([t.op for t in fetches], feeds)
    placed = place(operations, master="localhost:0", tasks=["localhost:0"], devices=lambda _: ("CPU:0",))
    plan = partition(operations, placed, master="localhost:0", fetches=fetches, feeds=feeds)
    found = step_memory(plan, alone.graph, feeds, 1)["localhost:0"]
    compiled = program(alone.task, fetches, feeds)
    drive(compiled, [gradient], NoLink(), alone.task.monitor)
    tracemalloc.start()
    try:
        drive(compiled, [gradient], NoLink(), alone.task.monitor)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        drive(compiled, [gradient], NoLink(), alone.task.monitor)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.variables == (4 * size if compression.error_feedback else 0)
    assert found.working == pytest.approx(peak - before, rel=0.2)


# Training


def trained(strategy: Strategy, steps: int, dataset: Dataset = DIGITS, workers: int = 2, batch: int = 32):
    """The trainer after so many updates, with what its tasks keep."""
    with LocalTasks(2, workers) as tasks:
        trainer = Trainer(tasks, dataset, MLP_64_32_10, strategy, batch, data_seed=3)
        trainer.train(steps)
        status = trainer.wait(timeout=DEADLINE_S)
        assert (status.state, status.global_step) == ("done", steps), status
        residuals = {name: sorted(service._server.task.variables) for name, service in tasks.services.items() if name != "ps:0"}
        trainer.stop()  # a step is recorded when it is answered
        result = trainer.parameters(), trainer.records(), trainer.evaluate(), residuals
        left = [n for service in tasks.services.values() for n in service._server.task.variables if n.endswith("/residual")]
        trainer.close()
    assert left == []
    return result


@pytest.mark.parametrize("kind", [TopK, RandomK])
@pytest.mark.parametrize("replication", list(Replication))
def test_all_of_the_elements_is_no_compression_bit_for_bit(replication, kind):
    plain, all_of_it = (trained(Strategy(replication, Sync(), compression=compression), 30)[0] for compression in (None, kind(keep=1.0)))
    for name, value in plain.items():
        np.testing.assert_array_equal(all_of_it[name], value)


@MODES
def test_residuals_are_the_workers_own_and_end_with_the_epoch(mode):
    *_, kept = trained(replace(mode, compression=TopK()), 20)
    for worker in range(2):
        names = [n for n in kept[f"worker:{worker}"] if n.endswith("/residual")]
        assert [n.partition("/")[2] for n in names] == [
            f"worker_{worker}/{v}/residual" for v in ("hidden_0/biases", "hidden_0/weights", "logits/biases", "logits/weights")
        ]
    assert not any(n.endswith("/residual") for n in (*kept["ps:1"], *kept["client:0"]))


@pytest.mark.parametrize("compression", [TopK(0.05), RandomK(0.2), OneBit()], ids=str)
def test_async_staleness_is_exact(compression):
    _, records, *_ = trained(Strategy(update=Async(), compression=compression), 300)
    assert sorted(records["global_step"]) == list(range(1, 301))
    for worker in range(2):
        mine = records[records["worker"] == worker]
        np.testing.assert_array_equal(mine["staleness"][1:], np.diff(mine["global_step"]) - 1)


def test_the_mode_changes_while_it_trains():
    with LocalTasks(2, 2) as tasks:
        trainer = Trainer(tasks, DIGITS, MLP_64_32_10, Strategy(), 16)
        trainer.train(10**6)
        for number, compression in enumerate([TopK(), None, OneBit(), RandomK(), Int8(True), Float16()]):
            mode = ALL_MODES[number % len(ALL_MODES)]
            step = trainer.status().global_step
            trainer.set_strategy(replace(mode, compression=compression))
            trainer.wait(step=step + 20, timeout=DEADLINE_S)
            assert trainer.status().state == "running"
        trainer.close()


@pytest.mark.parametrize("mode", [*OTHERS, Strategy(update=KAsync(2)), Strategy(update=Sync(backup=1), commit_every=3)], ids=str)
def test_it_learns_in_every_mode(mode):
    _, records, reached, _ = trained(replace(mode, compression=TopK(0.05)), 300)
    assert reached["accuracy"] > 0.85
    assert np.median(records["bytes_pushed"][~records["observed"]]) < 3000


def test_elastic_averaging_sends_parameters_in_half_the_bytes():
    plain, half = (trained(Strategy(commit=Elastic(0.5), compression=c), 200) for c in (None, Float16()))
    assert half[2]["accuracy"] > plain[2]["accuracy"] - 0.05
    whole, sent = (np.median(r["bytes_pushed"][~r["observed"]]) for r in (plain[1], half[1]))
    assert 2 * sum(SIZES) <= whole - sent + 4 * 64


FORMATS = [Float16(), Int8(), TopK(), RandomK(), OneBit()]


@pytest.fixture(scope="module")
def plain():
    """The same training, uncompressed."""
    return trained(Strategy(update=Sync()), 400)


@pytest.mark.parametrize("compression", FORMATS, ids=str)
def test_it_learns_as_much_from_fewer_bytes(compression, plain):
    """400 synchronous updates of the digits: as accurate, within two points of a hundred, as what is sent whole."""
    _, records, reached, _ = trained(Strategy(update=Sync(), compression=compression), 400)
    assert plain[2]["accuracy"] > 0.94
    assert reached["accuracy"] >= plain[2]["accuracy"] - 0.03, (reached, plain[2])
    wanted = code_bytes(compression)
    whole, sent = (np.median(r["bytes_pushed"][~r["observed"]]) for r in (plain[1], records))
    headers = whole - 4 * sum(SIZES)
    assert 0 < headers < 1000
    # two arrays per tensor in place of one, each padded to 64 bytes and described
    assert wanted < sent < wanted + headers + 4 * (2 * 64 + 32)


@pytest.mark.parametrize("compression", [TopK(), OneBit(), RandomK()], ids=str)
def test_without_error_feedback_it_learns_less(compression, plain):
    _, _, reached, _ = trained(Strategy(update=Sync(), compression=replace(compression, error_feedback=False)), 400)
    assert reached["loss"] > plain[2]["loss"] * 1.15

"""The ring: what an all-reduce computes, what it sends, and the training by it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pslab as tf
from pslab import errors
from pslab.data.batches import Batches
from pslab.graph.dtypes import int64
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import constant, placeholder
from pslab.runtime.session import Session
from pslab.runtime.targets import publish
from pslab.runtime.task_server import TaskServer
from pslab.sync.mailbox_ops import MAILBOXES
from pslab.train.collective import RingAllReduce
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.plans import mode_plan, sketch
from pslab.train.ring import all_reduce, chunk_sizes, hops
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync
from tests.train import reference
from tests.train.tasks import LocalTasks
from tests.train.test_trainer import MANY
from tests.train.test_values import BATCH, RULES, STEPS, TOLERANCE, data, model, trained
from tests.waiting import DEADLINE_S, until

RING = Strategy(update=RingAllReduce())


@given(st.integers(1, 9))
def test_each_chunk_is_summed_over_all_workers_and_then_known_to_all(workers: int) -> None:
    """The schedule alone, on sets: what each worker's chunk has been summed over."""
    chunks = [[{worker} for _ in range(workers)] for worker in range(workers)]
    for hop in hops(workers):
        sent = [chunks[w][(w + hop.sends) % workers] for w in range(workers)]
        for w in range(workers):
            mine, theirs = (w + hop.receives) % workers, sent[w - 1]
            assert not (hop.adds and chunks[w][mine] & theirs), "added twice"
            chunks[w][mine] = chunks[w][mine] | theirs if hop.adds else theirs
    assert all(chunk == set(range(workers)) for mine in chunks for chunk in mine)
    assert len(hops(workers)) == 2 * (workers - 1)


@given(st.integers(0, 1000), st.integers(1, 9))
def test_chunks_differ_by_one_element_at_most(elements: int, workers: int) -> None:
    sizes = chunk_sizes(elements, workers)
    assert (len(sizes), sum(sizes)) == (workers, elements)
    assert max(sizes) - min(sizes) <= 1


class Ring:
    """Workers that run an all-reduce of the same shapes, each in its own graph, over sockets."""

    def __init__(self, workers: int, shapes: list[tuple[int, ...]], dtypes: list[str], mean: bool) -> None:
        self._names = [f"worker:{i}" for i in range(workers)]
        self.servers: dict[str, TaskServer] = {}
        for name in self._names:
            server = TaskServer(name, tasks=self._names, resolve=lambda n: self.servers[n].address.to_string(), secret=b"s")
            publish(server.address.to_string(), server)
            self.servers[name] = server
        self._sessions, self._steps = [], []
        for worker, name in enumerate(self._names):
            with Graph().as_default() as graph, graph.device(f"/job:worker/task:{worker}"):
                values = [placeholder(dtype, shape) for dtype, shape in zip(dtypes, shapes, strict=True)]
                done = all_reduce(values, worker, workers, "ring", constant(worker, int64), mean)
            session = Session(self.servers[name].address.to_string(), graph)
            self._sessions.append(session)
            self._steps.append(session.prepare([*done.tensors, done.word, *done.puts], values))

    def run(self, values: list[list[np.ndarray]]):
        with ThreadPoolExecutor(len(self._names)) as pool:
            results = [pool.submit(step.run, mine) for step, mine in zip(self._steps, values, strict=True)]
            return [r.result(timeout=30) for r in results]

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        for session in self._sessions:
            session.close()
        for server in self.servers.values():
            server.close()


SHAPES = [(3, 5), (7,), (), (2, 2)]  # 27 elements: no number of workers but 1 and 3 divides them


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
def test_integers_are_summed_exactly_and_every_worker_has_the_same(workers) -> None:
    rng = np.random.default_rng(0)
    values = [[rng.integers(-1000, 1000, shape) for shape in SHAPES] for _ in range(workers)]
    with Ring(workers, SHAPES, ["int64"] * 4, mean=False) as ring:
        for _ in range(3):
            for result in ring.run(values):
                (
                    *sums,
                    word,
                ) = result.values
                for got, parts in zip(sums, zip(*values, strict=True), strict=True):
                    np.testing.assert_array_equal(got, np.sum(parts, axis=0))
                assert word == workers - 1  # the greatest
        assert all(box.pending() == 0 for server in ring.servers.values() for box in server.task.drop_resources(MAILBOXES))


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
def test_means_of_several_dtypes_are_right_up_to_the_order_of_sums_and_the_same_bit_for_bit_everywhere(workers) -> None:
    rng = np.random.default_rng(1)
    dtypes = ["float32", "float64", "float32", "float64"]
    values = [[rng.normal(size=shape).astype(dtype) for shape, dtype in zip(SHAPES, dtypes, strict=True)] for _ in range(workers)]
    with Ring(workers, SHAPES, dtypes, mean=True) as ring:
        results = [r.values[:4] for r in ring.run(values)]
    for index, dtype in enumerate(dtypes):
        wanted = np.mean([v[index].astype("float64") for v in values], axis=0)
        np.testing.assert_allclose(results[0][index], wanted, rtol=1e-5 if dtype == "float32" else 1e-14, atol=1e-6 if dtype == "float32" else 1e-15)
        for other in results:
            np.testing.assert_array_equal(other[index], results[0][index])
            assert other[index].dtype == dtype


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_each_worker_sends_2_n_minus_1_nths_of_the_data(workers) -> None:
    """The claim of the paper, at the transport: what does not depend on the size of the data is headers, and the rest is exactly that."""
    headers, messages = {}, 2 * (workers - 1)
    for elements in (1600 * workers, 16_000 * workers):
        with Ring(workers, [(elements,)], ["float32"], mean=True) as ring:
            results = ring.run([[np.ones(elements, np.float32)] for _ in range(workers)])
        payload = messages * elements * 4 // workers
        headers[elements] = [r.times[f"worker:{w}"].bytes_sent - payload for w, r in enumerate(results)]
    for small, large in zip(*headers.values(), strict=True):
        assert 0 < small <= large <= small + 10 * messages  # a header has the length of its array in it
        assert large < 250 * (messages + 1)


def test_a_shape_that_is_not_known_is_refused() -> None:
    with Graph().as_default(), pytest.raises(errors.UsageError, match="known shapes"):
        all_reduce([placeholder("float32", [None])], 0, 2, "ring", constant(0, int64))


# Training


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize(("ps", "workers"), [(1, 1), (2, 2), (1, 3)])
def test_it_trains_as_one_process_with_the_whole_batch(rule, ps, workers) -> None:
    dataset = data("float64")
    initial, parameters, records = trained(dataset, rule, RING, ps, workers)
    rate, make = RULES[rule]
    wanted, _ = reference.train(initial, Batches(dataset.x_train, dataset.y_train, workers * BATCH, seed=3), make(rate), STEPS)
    for name in reference.NAMES:
        np.testing.assert_allclose(parameters[name], wanted[name], rtol=0, atol=TOLERANCE["float64"], err_msg=name)
        assert np.abs(wanted[name] - initial[name]).max() > 100 * TOLERANCE["float64"]
    assert (records["staleness"] == 0).all()


@pytest.mark.parametrize("rule", ["sgd", "adam"])
def test_with_two_workers_it_is_sync_bit_for_bit(rule) -> None:
    ring = trained(data("float32"), rule, RING, ps=2, workers=2)[1]
    sync = trained(data("float32"), rule, Strategy(update=Sync()), ps=2, workers=2)[1]
    for name in reference.NAMES:
        np.testing.assert_array_equal(ring[name], sync[name])


def copies(tasks: LocalTasks, workers: int) -> list[dict[str, np.ndarray]]:
    """What lies on each worker under names of an epoch."""
    stores = [tasks.services[f"worker:{i}"]._server.task.variables for i in range(workers)]
    return [{name.partition("/")[2]: store.read(name) for name in store if name.startswith("own_")} for store in stores]


def test_all_workers_have_the_same_parameters_and_slots_after_every_step() -> None:
    with LocalTasks(1, 3) as tasks:
        trainer = Trainer(tasks, data("float32"), model("adam"), RING, BATCH)
        for _ in range(5):
            trainer.step()
            until(lambda: {int(copy["updates"]) for copy in copies(tasks, 3)} == {trainer.status().global_step}, "a copy lags behind")
            first, *others = copies(tasks, 3)
            assert len(first) == 4 * (1 + 4) + 1  # parameters, Adam's four slots of each, the count
            for other in others:
                assert first.keys() == other.keys()
                for name in first:
                    np.testing.assert_array_equal(first[name], other[name])
        trainer.set_strategy(Strategy(update=Sync()))
        assert copies(tasks, 3) == [{}, {}, {}]
        trainer.close()


def test_the_plan_shows_two_messages_per_hop_of_a_worker_and_no_answer() -> None:
    job = sketch(Model(MLP(3, [10])), data("float32"), RING, ps=1, workers=4)
    plan = mode_plan(job, worker=2)
    assert [(c.source, c.destination) for c in plan.cuts] == [("worker:2", "worker:3")] * 6
    chief = mode_plan(job, worker=0)
    assert [(c.source, c.destination) for c in chief.cuts] == [("worker:0", "worker:1")] * 6 + [("worker:0", "ps:0")]


def test_a_failed_step_leaves_nothing_that_a_later_epoch_would_take() -> None:
    with LocalTasks(1, 2) as tasks:
        trainer = Trainer(tasks, data("float32"), Model(nan_on_one_batch, learning_rate=0.01), RING, BATCH)
        trainer.train(MANY)
        status = trainer.wait(timeout=DEADLINE_S)
        assert status.state == "paused" and "NaN" in status.message
        for worker in range(2):
            assert tasks.services[f"worker:{worker}"]._server.task.drop_resources(MAILBOXES) == []
        before = trainer.parameters()
        assert all(np.isfinite(v).all() for v in before.values())
        trainer.set_strategy(Strategy(update=Sync()))
        for name, value in trainer.parameters().items():
            np.testing.assert_array_equal(value, before[name])
        trainer.close()


def nan_on_one_batch(x, y):
    """Its loss is NaN once the weight has moved far enough."""
    w = tf.Variable(tf.ones([6, 1]), name="w")
    drift = tf.reduce_sum(tf.square(w - 1.0))
    return tf.reduce_mean(tf.square(tf.matmul(x, w) - 5.0)) + tf.log(0.5 - drift), {}

"""Workers that run out of data: those that are left go on without them, by the numbers of the same training written by hand; and nobody hangs."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from pslab.data.batches import Batches
from pslab.data.division import Division
from pslab.errors import FailedPreconditionError, OutOfRangeError, UnimplementedError, UsageError
from pslab.train.apply_log import ApplyLog
from pslab.train.collective import RingAllReduce
from pslab.train.commits import Differences, Gradients
from pslab.train.compression import TopK
from pslab.train.delays import Constant
from pslab.train.reading import Reading
from pslab.train.rehearsal import replay
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train import reference
from tests.train.tasks import LocalTasks
from tests.train.test_values import data, model

SIZE, SHARES = 10, (0.5, 0.3, 0.2)
"""Of 200 examples: batches of 10 are ten steps of the first worker, six of the second and four of the third, in each pass."""
STEPS = (10, 6, 4)
PATIENCE_S = 60


@contextmanager
def training(strategy: Strategy, ps: int = 1, passes: int | None = 1, rule: str = "momentum", reading: Reading = Reading.FEEDING, shares=SHARES):
    with LocalTasks(ps, 3) as tasks:
        trainer = Trainer(tasks, data("float64"), model(rule), strategy, SIZE, 3, reading, shares=shares, passes=passes)
        trainer.tasks = tasks
        try:
            yield trainer
        finally:
            trainer.close()


def to_the_end(trainer: Trainer, steps: int = 10_000):
    trainer.train(steps)
    status = trainer.wait(timeout=PATIENCE_S)
    assert status.state == "out of data", status
    return status


def by_hand(initial: reference.Parameters, mean, passes: int = 1, rounds: int | None = None) -> reference.Parameters:
    """Each update is ``mean`` of the gradients of the workers that still have data, given with their examples."""
    dataset, parameters, update = data("float64"), initial, reference.momentum(0.05)
    division = Division(SIZE, SHARES, passes, 3)
    streams = [dataset.for_tasks().batches(division, worker, 3) for worker in range(3)]
    done = 0
    while any(stream.left for stream in streams) and (rounds is None or done < rounds):
        batches = [next(stream) for stream in streams if stream.left]
        found = [(len(x), reference.loss_and_gradients(parameters, x, y)[1]) for x, y in batches]
        parameters = update(parameters, {name: mean([(n, g[name]) for n, g in found]) for name in reference.NAMES})
        done += 1
    return parameters


def plain(parts):
    return sum(g for _, g in parts) / len(parts)


def weighted(parts):
    return sum(n * g for n, g in parts) / sum(n for n, _ in parts)


def distance(one: reference.Parameters, other: reference.Parameters) -> float:
    return max(float(np.abs(one[name] - other[name]).max()) for name in reference.NAMES)


@pytest.mark.parametrize("aggregation", ["mean", "weighted"])
@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("replication", list(Replication))
def test_sync_goes_on_with_those_that_are_left(replication, ps, aggregation):
    with training(Strategy(replication, Sync(aggregation=aggregation)), ps) as trainer:
        initial = trainer.parameters()
        status = to_the_end(trainer)
        assert status.global_step == max(STEPS)
        assert [(p.worker, p.batches, p.examples, p.out) for p in status.places] == [(0, 10, 100, True), (1, 6, 60, True), (2, 4, 40, True)]
        assert "worker:2 after 4 steps (40 examples)" in status.message
        assert distance(trainer.parameters(), by_hand(initial, plain if aggregation == "mean" else weighted)) < 1e-9
        assert [int((trainer.records()["worker"] == w).sum()) for w in range(3)] == list(STEPS)


def test_the_states_of_workers_while_others_go_on():
    with training(Strategy(update=Sync())) as trainer:
        trainer.train(7)
        assert trainer.wait(timeout=PATIENCE_S).state == "done"
        trainer._until(lambda: {s.name for s in trainer.status().loops if s.out} == {"worker:1", "worker:2"}, PATIENCE_S, "their end")
        assert [p.out for p in trainer.status().places] == [False, True, True]


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize(
    "strategy",
    [
        Strategy(update=Sync(backup=1)),
        Strategy(update=Sync(backup=2)),
        Strategy(update=KAsync(2)),
        Strategy(update=KAsync(3)),
        Strategy(update=SSP(0)),
        Strategy(update=SSP(2)),
        Strategy(Replication.IN_GRAPH, SSP(0)),
        Strategy(Replication.IN_GRAPH, SSP(2)),
        Strategy(update=Async()),
        Strategy(update=Async(lock=False)),
        Strategy(Replication.IN_GRAPH, Async()),
    ],
    ids=str,
)
def test_every_batch_is_taken_once_and_nobody_hangs(strategy, ps):
    with training(strategy, ps, rule="sgd") as trainer:
        status = to_the_end(trainer)
        assert [int((trainer.records()["worker"] == w).sum()) for w in range(3)] == list(STEPS)
        assert all(place.out for place in status.places)
        if not strategy.gathered:
            assert status.global_step == sum(STEPS)
        assert status.global_step >= max(STEPS) if not strategy.gathered or isinstance(strategy.update, KAsync) else status.global_step > 0


def test_with_no_slack_ssp_goes_on_in_step_without_who_has_left():
    with training(Strategy(update=SSP(0))) as trainer:
        to_the_end(trainer)
        records = trainer.records()
        late = records[records["worker"] == 0][-3:]  # alone: nobody else makes an update between its read and its own
        assert list(late["staleness"]) == [0, 0, 0]


@pytest.mark.parametrize("reading", [Reading.FEEDING, Reading.PRELOADED])
def test_what_is_preloaded_ends_as_what_is_fed(reading):
    for strategy in (Strategy(update=Sync()), Strategy(Replication.IN_GRAPH, Sync())):
        with training(strategy, reading=reading) as trainer:
            initial = trainer.parameters()
            to_the_end(trainer)
            assert distance(trainer.parameters(), by_hand(initial, plain)) < 1e-9


def test_files_have_no_passes():
    with pytest.raises(UsageError, match="files are read again and again, found passes=1"), training(Strategy(), reading=Reading.FILES):
        pass


@pytest.mark.parametrize("commit", [Gradients(), Differences()], ids=str)
def test_the_last_round_is_as_long_as_there_are_batches(commit):
    """With rounds of four: workers make 4+4+2, 4+2 and 4 steps; three updates."""
    with training(Strategy(update=Sync(), commit_every=4, commit=commit), rule="sgd") as trainer:
        initial = trainer.parameters()
        status = to_the_end(trainer)
        assert status.global_step == 3
        assert [int((trainer.records()["worker"] == w).sum()) for w in range(3)] == list(STEPS)
        dataset, parameters = data("float64"), initial
        streams = [dataset.for_tasks().batches(Division(SIZE, SHARES, 1, 3), worker, 3) for worker in range(3)]
        for _ in range(3):
            moved = []
            for stream in (s for s in streams if s.left):
                steps = int(min(4, stream.left))
                if isinstance(commit, Differences):
                    mine = reference.train(parameters, stream, reference.sgd(0.1), steps)[0]
                    moved.append({n: mine[n] - parameters[n] for n in reference.NAMES})
                else:
                    found = [reference.loss_and_gradients(parameters, *next(stream))[1] for _ in range(steps)]
                    moved.append({n: -0.1 * sum(g[n] for g in found) / steps for n in reference.NAMES})
            parameters = {n: parameters[n] + sum(m[n] for m in moved) / len(moved) for n in reference.NAMES}
        assert distance(trainer.parameters(), parameters) < 1e-9


def test_the_claim_of_who_has_no_data_goes_to_another():
    """Without that, the last updates would be claimed by nobody."""
    with training(Strategy(update=Async()), rule="sgd") as trainer:
        trainer.train(sum(STEPS) - 1)
        assert trainer.wait(timeout=PATIENCE_S).state == "done"
        trainer.step()
        assert trainer.status().global_step == sum(STEPS)


def test_training_on_is_refused_with_what_to_do():
    with training(Strategy(update=Async())) as trainer:
        to_the_end(trainer)
        for again in (lambda: trainer.train(1), trainer.resume, trainer.step, trainer.advance):
            with pytest.raises(FailedPreconditionError, match=r"(?s)out of data: worker:0 after 10 steps \(100 examples\).*lab.data\(passes="):
                again()
        trainer.reset()
        assert to_the_end(trainer).global_step == sum(STEPS)


def test_more_updates_than_there_are_data_for_are_told():
    told = "10 of 12 updates could be made: global step 10; out of data: worker:0"
    with training(Strategy(update=Sync())) as trainer, pytest.raises(OutOfRangeError, match=told):
        trainer.step(12)


@pytest.mark.parametrize("passes", [1, 2])
def test_nobody_has_data_twice_over_changes_of_mode_pauses_and_scaling(passes):
    with training(Strategy(update=Sync()), passes=passes, rule="sgd") as trainer:
        trainer.train(2)
        trainer.wait(timeout=PATIENCE_S)
        for strategy in (Strategy(update=Async()), Strategy(Replication.IN_GRAPH, Async()), Strategy(update=KAsync(2)), Strategy(update=SSP(1))):
            trainer.set_strategy(strategy)
            trainer.step(2)
        trainer.resize(lambda: trainer.tasks.scale(2, 3), 3)
        status = to_the_end(trainer)
        steps = [passes * steps for steps in STEPS]
        assert [p.batches for p in status.places] == steps
        made = [int((trainer.records()["worker"] == w).sum()) for w in range(3)]
        assert all(m <= s for m, s in zip(made, steps, strict=True))
        assert sum(steps) - sum(made) <= 2 * 3  # sync and 2-async end without what is in flight, or has not been answered
        trainer.set_strategy(Strategy())
        with pytest.raises(FailedPreconditionError, match="out of data"):
            trainer.train(1)


def test_sync_is_the_same_by_hand_however_often_it_is_interrupted():
    with training(Strategy(update=Sync()), passes=2) as trainer:
        initial = trainer.parameters()
        for n in (1, 2, 3, 5, 6):
            trainer.step(n)
            trainer.stop()
        to_the_end(trainer)
        assert distance(trainer.parameters(), by_hand(initial, plain, passes=2)) < 1e-9


def test_who_is_out_stays_out_in_another_mode():
    with training(Strategy(update=Sync())) as trainer:
        trainer.step(5)  # the third worker has no more
        initial = trainer.parameters()
        trainer.set_strategy(Strategy(Replication.IN_GRAPH, Sync()))
        assert to_the_end(trainer).global_step == 10
        assert set(trainer.records()[trainer.records()["global_step"] > 5]["worker"]) == {0, 1}
        assert distance(trainer.parameters(), initial) > 0


def test_other_numbers_of_workers_are_refused_on_the_way():
    with training(Strategy(), shares=None) as trainer:
        trainer.step(3)
        with pytest.raises(UsageError, match="3 workers are on their way through the data"):
            trainer.resize(lambda: trainer.tasks.scale(1, 2), 2)
        trainer.reset()
        trainer.resize(lambda: trainer.tasks.scale(1, 2), 2)
        assert to_the_end(trainer).global_step == 20


def test_a_ring_ends_with_the_first_that_is_out_and_the_others_can_go_on_in_another_mode():
    with training(Strategy(update=RingAllReduce())) as trainer:
        initial = trainer.parameters()
        status = to_the_end(trainer)
        assert status.global_step == min(STEPS)
        assert "ring" in status.message
        assert "goes on with all workers or none" in status.message
        assert distance(trainer.parameters(), by_hand(initial, plain, rounds=min(STEPS))) < 1e-9
        with pytest.raises(FailedPreconditionError, match="worker:2 after 4 steps"):
            trainer.train(1)
        trainer.set_strategy(Strategy(update=Sync()))
        assert to_the_end(trainer).global_step == max(STEPS)
        assert distance(trainer.parameters(), by_hand(initial, plain)) < 1e-9


def test_one_stream_ends_with_what_is_left_of_it():
    """200 examples in global batches of 3 · 9: seven whole ones, and then 9 and 2 examples."""
    with LocalTasks(1, 3) as tasks:
        trainer = Trainer(tasks, data("float64"), model("momentum"), Strategy(update=Sync(aggregation="weighted")), 9, 3, passes=1)
        initial = trainer.parameters()
        status = to_the_end(trainer)
        assert [(p.batches, p.examples) for p in status.places] == [(8, 72), (8, 65), (7, 63)]
        dataset = data("float64")
        stream = Batches(dataset.x_train, dataset.y_train, 27, 3, passes=1)
        assert distance(trainer.parameters(), reference.train(initial, stream, reference.momentum(0.05), 8)[0]) < 1e-9
        trainer.close()


@pytest.mark.parametrize(
    "strategy",
    [Strategy(update=u) for u in (Sync(), Async(), Sync(backup=1), KAsync(1), KAsync(2))] + [Strategy(Replication.IN_GRAPH, Async())],
    ids=str,
)
def test_a_log_is_replayed_over_the_end_of_a_workers_data(strategy):
    with training(strategy, ps=2) as trainer:
        trainer.step(3)
        trainer.set_strategy(Strategy(update=Sync()) if strategy.update != Sync() else Strategy(update=Async()))
        trainer.step(2)
        trainer.set_strategy(strategy)
        to_the_end(trainer)
        found, log = trainer.parameters(), trainer.log()
    with LocalTasks(2, 3) as tasks:
        again = replay(tasks, log, data("float64"), model("momentum"), timeout=PATIENCE_S)
    assert all(np.array_equal(again[name], found[name]) for name in found)


def test_ssp_that_somebody_left_is_not_replayed():
    with training(Strategy(update=SSP(1))) as trainer:
        to_the_end(trainer)
        log = trainer.log()
    with LocalTasks(1, 3) as tasks, pytest.raises(UnimplementedError, match="worker:0, worker:1, worker:2 ran out of data cannot be replayed"):
        replay(tasks, log, data("float64"), model("momentum"), timeout=PATIENCE_S)


def test_messages_of_who_is_out_do_not_come():
    with training(Strategy(update=Async())) as trainer:
        for _ in range(STEPS[2]):
            trainer.advance(2)
        with pytest.raises(FailedPreconditionError, match="out of data"):
            trainer.advance(2)
        assert trainer.advance(1).message.worker == 1


@pytest.mark.parametrize("update", [Async(), Sync(), SSP(0)], ids=str)
def test_a_worker_that_is_lost_goes_on_where_it_was_seen_last(update):
    with training(Strategy(update=update), passes=20, rule="sgd") as trainer:
        trainer.step(3)
        before = trainer.status().places
        trainer.tasks.services.pop("worker:0").close()
        trainer.tasks.start("worker:0")
        status = to_the_end(trainer)
        assert [p.batches for p in status.places] == [20 * steps for steps in STEPS]
        made = [int((trainer.records()["worker"] == w).sum()) for w in range(3)]
        assert all(m <= 20 * s for m, s in zip(made, STEPS, strict=True))
        assert made[0] >= 20 * STEPS[0] - before[0].batches  # its own records of the steps before may be lost with it


def test_towers_that_remain_compress_what_they_send():
    with training(Strategy(Replication.IN_GRAPH, Sync(), compression=TopK(0.5)), ps=2) as trainer:
        assert to_the_end(trainer).global_step == max(STEPS)


def test_who_is_slow_has_its_time_and_the_others_go_on_when_it_is_out():
    with training(Strategy(update=Sync())) as trainer:
        trainer.slow(2, Constant(0.02))
        trainer.train(100)
        trainer.pause()
        trainer.resume()
        assert trainer.wait(timeout=PATIENCE_S).state == "out of data"
        records = trainer.records()
        assert (records["compute"][records["worker"] == 2] >= 0.02).sum() >= STEPS[2] - 1  # the pause may have ended one sleep
        assert [int((records["worker"] == w).sum()) for w in range(3)] == list(STEPS)


def test_replicas_are_compared_without_waiting_for_who_is_out():
    with training(Strategy(update=Sync())) as trainer:
        trainer.step(7)
        together = {r.worker: r.global_step for r in trainer.replicas()}
        assert together == {"worker:0": 7, "worker:1": 6, "worker:2": 4}


def test_batches_of_another_size_are_refused_on_the_way_and_another_rate_is_not():
    with training(Strategy()) as trainer:
        trainer.adjust(batch_size=5)
        trainer.step(3)
        with pytest.raises(UsageError, match="workers are on their way through the data, with batches of 5"):
            trainer.adjust(batch_size=10)
        trainer.adjust(learning_rate=0.01)
        assert to_the_end(trainer).global_step == 2 * sum(STEPS)


def test_a_ring_that_somebody_left_is_replayed_to_its_end():
    with training(Strategy(update=RingAllReduce())) as trainer:
        to_the_end(trainer)
        found, log = trainer.parameters(), trainer.log()
    with LocalTasks(1, 3) as tasks:
        again = replay(tasks, log, data("float64"), model("momentum"), timeout=PATIENCE_S)
    assert all(np.array_equal(again[name], found[name]) for name in found)


def test_a_log_on_disk_knows_who_was_where(tmp_path):
    with training(Strategy(update=Async())) as trainer:
        trainer.step(5)
        trainer.stop()
        to_the_end(trainer)
        log = trainer.log()
    again = ApplyLog.load(log.save(tmp_path / "log"))
    assert [(e.places, e.out) for e in again.epochs] == [(e.places, e.out) for e in log.epochs]
    assert sum(again.epochs[1].places) == 5
    assert again.epochs[1].out == (0, 1, 2)

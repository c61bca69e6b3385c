"""What is told of a race: who read which version, what became of what was brought, who waits for what."""

from __future__ import annotations

import numpy as np
import pytest

import pslab
from pslab.data.datasets import Dataset
from pslab.errors import FailedPreconditionError, UsageError
from pslab.train.model import Model
from pslab.train.race import APPLIED, DROPPED, GATHERED, KEPT, READ, UPDATED, Event, Message, RaceBook
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.tasks import LocalTasks
from tests.train.test_consistency import quadratic

ONES = Dataset("ones", np.ones((64, 1)), np.ones((64, 1)), np.ones((4, 1)), np.ones((4, 1)))


@pytest.fixture
def start():
    made: list[tuple[LocalTasks, Trainer]] = []

    def begin(strategy: Strategy, workers: int = 2, ps: int = 1, model: Model | None = None) -> Trainer:
        tasks = LocalTasks(ps=ps, workers=workers)
        trainer = Trainer(tasks, ONES, model or Model(quadratic(1.0), learning_rate=0.1), strategy, 4)
        made.append((tasks, trainer))
        return trainer

    yield begin
    for tasks, trainer in made:
        trainer.close()
        tasks.__exit__()


def told(trainer: Trainer, moment: int) -> list[tuple]:
    """What happened in a moment: kind, worker, version, staleness."""
    return [(e.what, e.worker, e.version, e.staleness) for e in trainer.race().events if e.moment == moment]


def test_there_is_none_before_a_message_is_asked_for_and_it_ends_when_the_training_goes_on(start) -> None:
    trainer = start(Strategy())
    assert trainer.race() is None
    trainer.advance(0)
    assert trainer.race().live
    trainer.train(5)
    made = trainer.wait(timeout=30).global_step
    race = trainer.race()
    assert (race.live, len(race.moments)) == (False, 2)
    trainer.advance(0)
    assert [(m.number, m.global_step) for m in trainer.race().moments] == [(0, made), (1, made + 1)]


def test_async_applies_and_reads_in_one_message(start) -> None:
    trainer = start(Strategy(update=Async()))
    for worker in (1, 1, 0):
        trainer.advance(worker)
    assert sorted(told(trainer, 0)) == [(READ, 0, 0, None), (READ, 1, 0, None)]
    assert told(trainer, 1) == [(APPLIED, 1, 1, 0), (READ, 1, 1, None)]
    assert told(trainer, 2) == [(APPLIED, 1, 2, 0), (READ, 1, 2, None)]
    assert told(trainer, 3) == [(APPLIED, 0, 3, 2), (READ, 0, 3, None)]
    assert [m.message for m in trainer.race().moments] == [None, *(Message("ps:0", w, "commit") for w in (1, 1, 0))]


def test_loss_and_norm_are_those_of_each_version(start) -> None:
    trainer = start(Strategy(update=Async()))
    for worker in (1, 0):
        trainer.advance(worker)
    norms = [m.norm for m in trainer.race().moments]
    assert norms == pytest.approx([1.0, 0.9, 0.8])  # worker 0 was at 1 still
    assert [m.loss for m in trainer.race().moments] == pytest.approx([n * n / 2 for n in norms])


def test_whom_the_clock_held_reads_when_the_slowest_has_come(start) -> None:
    trainer = start(Strategy(update=SSP(1)))
    trainer.advance(0)
    trainer.advance(0)
    assert trainer.race().moments[-1].held == (0,)
    assert told(trainer, 2) == [(APPLIED, 0, 2, 0)]
    trainer.advance(1)
    assert told(trainer, 3) == [(APPLIED, 1, 3, 2), (READ, 0, 3, None), (READ, 1, 3, None)]
    assert trainer.race().moments[-1].held == ()


def test_sync_gathers_then_updates_then_all_read(start) -> None:
    trainer = start(Strategy(update=Sync()))
    first = trainer.advance(1)
    assert (first.read, first.staleness, first.outcome, first.updates) == (0, 0, "gathered", 0)
    assert trainer.race().moments[-1].gathered == {"ps:0": (1,)}
    with pytest.raises(FailedPreconditionError, match="worker:1 waits for the update that it is part of"):
        trainer.advance(1)
    assert trainer.advance(0).global_step == 1
    assert told(trainer, 1) == [(GATHERED, 1, 0, 0)]
    assert told(trainer, 2) == [(GATHERED, 0, 0, 0), (UPDATED, None, 1, None), (READ, 1, 1, None), (READ, 0, 1, None)]


def test_what_backup_workers_bring_too_late_is_dropped(start) -> None:
    trainer = start(Strategy(update=Sync(backup=1)), workers=3)
    trainer.advance(0)
    trainer.advance(2)
    late = trainer.advance(1)
    assert (late.outcome, late.read, late.staleness, late.global_step) == ("dropped", 0, 1, 1)
    assert "computed at version 0, 1 stale, dropped" in str(late)
    assert told(trainer, 3) == [(DROPPED, 1, 1, 1), (READ, 1, 1, None)]
    assert trainer.advance(1).outcome == "gathered"


def on_two(x, y):
    """A variable on each of two ps."""
    a, b = (pslab.Variable(np.ones((1, 1)), name=name) for name in "ab")
    return pslab.reduce_mean(pslab.square(pslab.matmul(x, pslab.add(a, b)))), {}


ON_TWO = Model(on_two, learning_rate=0.1)


def test_k_async_takes_stale_contributions_too(start) -> None:
    trainer = start(Strategy(update=KAsync(2)), workers=3)
    trainer.advance(0)
    trainer.advance(2)
    late = trainer.advance(1)
    assert (late.outcome, late.read, late.staleness) == ("gathered", 0, 1)
    assert trainer.advance(2).global_step == 2


def test_in_graph_a_read_is_a_message_of_its_own(start) -> None:
    trainer = start(Strategy(Replication.IN_GRAPH, Async()))
    messages = [trainer.advance(worker) for worker in (0, 1, 1, 0)]
    assert [p.message.what for p in messages] == ["read", "read", "commit", "commit"]
    assert told(trainer, 1) == [(READ, 0, 0, None)]
    assert told(trainer, 4) == [(APPLIED, 0, 2, 1)]


def test_the_first_ps_chooses_who_makes_an_update_and_the_others_wait_for_those(start) -> None:
    trainer = start(Strategy(update=KAsync(2)), workers=3, ps=2, model=ON_TWO)
    at = [trainer.advance(worker, ps).global_step for worker, ps in ((0, 0), (1, 0), (2, 1), (0, 1), (1, 1))]
    assert at == [0, 0, 0, 0, 1]  # two were at ps:1 before, but not the two
    assert [trainer.advance(worker, ps).global_step for worker, ps in ((2, 0), (0, 1), (0, 0))] == [1, 1, 2]  # of worker:2, what it brought before


@pytest.mark.parametrize("update", [Async(), Sync(), SSP(0)])
def test_each_ps_is_told_of_by_itself(start, update) -> None:
    trainer = start(Strategy(update=update), ps=2, model=ON_TWO)
    for worker, ps in ((0, 1), (1, 1), (1, 0), (0, 0)):
        passage = trainer.advance(worker, ps)
        assert passage.message == Message(f"ps:{ps}", worker, "commit")
    race = trainer.race()
    assert {(e.ps, e.worker) for e in race.events if e.what == READ and e.moment == 0} == {(f"ps:{i}", w) for i in (0, 1) for w in (0, 1)}
    reads = [(e.moment, e.ps, e.worker, e.version) for e in race.events if e.what == READ and e.moment > 0]
    if isinstance(update, Async):
        assert reads == [(1, "ps:1", 0, 1), (2, "ps:1", 1, 2), (3, "ps:0", 1, 1), (4, "ps:0", 0, 2)]
    elif isinstance(update, Sync):
        assert sorted(reads) == [(4, f"ps:{i}", w, 1) for i in (0, 1) for w in (0, 1)]
    else:
        assert sorted(reads) == [(2, "ps:1", 0, 2), (2, "ps:1", 1, 2), (4, "ps:0", 0, 2), (4, "ps:0", 1, 2)]


def test_what_cannot_be_raced_is_refused(start) -> None:
    with pytest.raises(UsageError, match="one step of all towers"):
        start(Strategy(Replication.IN_GRAPH, Sync())).advance()
    with pytest.raises(UsageError, match="there is no ps 3"):
        start(Strategy()).advance(ps=3)


def test_the_oldest_moments_go_with_their_events() -> None:
    from pslab.train.order_service import AtGate

    book = RaceBook(Strategy(), 1, 1, 0)
    entries = [~0]
    for number in range(1, KEPT + 51):
        book.let_in(Message("ps:0", 0, "commit"))
        entries += [0, ~0]
        book.see({"ps:0": AtGate({}, number, True, number, ())}, {"ps:0": np.array(entries, np.int32)}, number)
    race = book.race()
    assert [m.number for m in race.moments] == list(range(51, KEPT + 51))
    assert race.events[0] == Event(51, APPLIED, "ps:0", 0, 51, 0)
    assert len(race.events) == 2 * KEPT

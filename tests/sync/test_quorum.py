"""The quorum: how many contributions an update waits for, and that it waits for nobody who has left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pslab as tf
from pslab.errors import OutOfRangeError
from pslab.graph.registry import NOT_YET, op_def
from pslab.sync.accumulator import Accumulator
from pslab.sync.ops import NEVER_STALE, accumulator_apply_gradient
from pslab.sync.quorum import Quorum
from pslab.sync.quorum_ops import (
    QuorumRule,
    chosen_ready,
    quorum_bring,
    quorum_brought,
    quorum_choose,
    quorum_leave,
    quorum_ready,
    quorum_take,
    take_chosen,
)


def test_without_backup_an_update_waits_for_all_that_are_left() -> None:
    quorum = Quorum(range(3), 3)
    assert quorum.required == 3
    quorum.leave(1)
    quorum.leave(1)
    assert (quorum.required, quorum.active) == (2, {0, 2})
    quorum.leave(0)
    quorum.leave(2)
    assert quorum.required == 0


@pytest.mark.parametrize(("backup", "required"), [(0, [4, 3, 2, 1, 0]), (1, [3, 2, 1, 1, 0]), (3, [1, 1, 1, 1, 0])])
def test_it_does_without_as_many_backups_as_before_but_not_without_anybody(backup: int, required: list[int]) -> None:
    quorum, found = Quorum(range(4), 4, backup), []
    for worker in range(5):
        found.append(quorum.required)
        quorum.leave(worker)
    assert found == required


def test_k_of_more_are_k_and_of_fewer_are_all() -> None:
    quorum, found = Quorum(range(4), 2), []
    for worker in range(5):
        found.append(quorum.required)
        quorum.leave(worker)
    assert found == [2, 2, 2, 1, 0]


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 4), st.data())
def test_nobody_waits_for_someone_who_left(workers: int, most: int, backup: int, drawn: st.DataObject) -> None:
    """Workers with as many batches as drawn hand in and wait for an update, in any order, and leave: all batches are used, and the chief ends."""
    quorum, gathered, most = Quorum(range(workers), min(most, workers), backup), Accumulator(), min(most, workers)
    batches = [drawn.draw(st.integers(0, 4)) for _ in range(workers)]
    waiting, updates = set[int](), 0
    for _ in range(workers * 20):
        free = sorted(quorum.active - waiting)
        if free:
            worker = drawn.draw(st.sampled_from(free))
            if batches[worker]:
                batches[worker] -= 1
                gathered.apply_grad(worker, gathered.global_step, np.ones(1))
                waiting.add(worker)
            else:
                quorum.leave(worker)
        if quorum.required and gathered.take_grad(quorum.required) is not NOT_YET:
            waiting, updates = set(), updates + 1
        assert free or waiting == set()  # where everybody waits, there is an update
        if not quorum.active:
            break
    assert not quorum.active
    assert quorum.required == gathered.pending() == sum(batches) == 0


def test_who_is_chosen_has_brought_something_and_stays_chosen_after_leaving() -> None:
    quorum = Quorum(range(3), 2)
    quorum.bring(2)
    assert quorum.choose() == []
    quorum.bring(0)
    assert quorum.choose() == [0, 2]
    assert quorum.choose() == []
    quorum.bring(1)
    for worker in range(3):
        quorum.leave(worker)
    assert not quorum.over
    assert quorum.choose() == [1]
    assert quorum.over


class _Workers:
    """K-async over several ps: what is handed in comes to each of them at its own time, and the first chooses what all of them take."""

    def __init__(self, batches: list[int], k: int, ps: int) -> None:
        self.batches, self.quorum, self.gathered = batches, Quorum(range(len(batches)), k), [Accumulator() for _ in range(ps)]
        self.on_the_way = [[0] * len(batches) for _ in range(ps)]
        self.waiting: dict[int, int | None] = {}  # since which step, once that is known
        self.step, self.chosen, self.taken = 0, list[int](), [list[list[int]]() for _ in range(ps)]

    def possible(self) -> list[tuple[str, int, int]]:
        """Everything that can happen next: what, to whom, on which ps."""
        found = [("begin", w, 0) for w in self.quorum.active if w not in self.waiting or self.released(w)]
        found += [("arrive", w, p) for p, all_of in enumerate(self.on_the_way) for w, n in enumerate(all_of) if n]
        if not self.chosen and not self.quorum.over and (chosen := self.quorum.choose()):
            self.chosen = chosen
        if self.chosen:
            found += [("take", 0, p) for p, taken in enumerate(self.taken) if len(taken) == self.step and self.has_chosen(p)]
        return found

    def released(self, worker: int) -> bool:
        since = self.waiting[worker]
        return since is not None and self.step > since

    def has_chosen(self, ps: int) -> bool:
        return all(self.held(ps, w) >= self.chosen.count(w) for w in self.chosen)

    def held(self, ps: int, worker: int) -> int:
        return sum(handed.worker == worker for handed in self.gathered[ps]._gradients)

    def do(self, what: str, worker: int, ps: int) -> None:
        if what == "begin":
            self.waiting.pop(worker, None)
            if not self.batches[worker]:
                self.quorum.leave(worker)
                return
            self.batches[worker] -= 1
            self.waiting[worker] = None
            for all_of in self.on_the_way:
                all_of[worker] += 1
        elif what == "arrive":
            self.on_the_way[ps][worker] -= 1
            self.gathered[ps].apply_grad(worker, self.gathered[ps].global_step, np.ones(1))
            if ps == 0:
                self.quorum.bring(worker)
                self.waiting[worker] = self.step
        else:
            assert self.gathered[ps].take_of(self.chosen, "sum") == [len(self.chosen)]
            self.taken[ps].append(self.chosen)
            if all(len(taken) == self.step + 1 for taken in self.taken):
                self.step, self.chosen = self.step + 1, []


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.integers(1, 4), st.integers(1, 3), st.data())
def test_k_async_over_several_ps_never_stands_still_and_all_take_the_same(batches, k, ps, drawn) -> None:
    run = _Workers(list(batches), min(k, len(batches)), ps)
    while possible := run.possible():
        run.do(*drawn.draw(st.sampled_from(possible)))
    assert run.quorum.over
    assert run.taken == [run.taken[0]] * ps
    assert sorted(w for chosen in run.taken[0] for w in chosen) == [w for w, n in enumerate(batches) for _ in range(n)]


@pytest.mark.parametrize(
    ("type", "signals", "blocking"),
    [
        ("QuorumLeave", True, False),
        ("QuorumReady", False, True),
        ("QuorumTake", False, False),
        ("QuorumBrought", False, True),
        ("ChosenReady", False, True),
        ("QuorumBring", True, False),
        ("QuorumChoose", False, False),
        ("GiveBack", True, False),
    ],
)
def test_who_waits_and_who_wakes(type: str, signals: bool, blocking: bool) -> None:
    assert (op_def(type).signals, op_def(type).blocking) == (signals, blocking)


def test_the_ops_on_a_task() -> None:
    rule = QuorumRule("run1/", workers=2, most=2, backup=0)
    with tf.Graph().as_default():
        weight = tf.Variable([0.0])
        hand_in = accumulator_apply_gradient("run1/w", tf.constant([3.0]), 0, 0)
        leaves, ready = [quorum_leave(rule, worker) for worker in range(2)], quorum_ready(rule, ["run1/w"])
        with tf.control_dependencies([ready]):
            take = quorum_take("run1/w", weight, "mean")
        with tf.Session() as session:
            session.run([hand_in, leaves[1]])
            assert session.run(take) == [3.0]
            session.run(leaves[0])
            with pytest.raises(OutOfRangeError, match="all workers are out of data"):
                session.run(take)


def test_the_ops_by_which_one_task_chooses_for_all() -> None:
    rule = QuorumRule("run1/", workers=2, most=2, backup=0)
    with tf.Graph().as_default():
        weights = [tf.Variable([0.0]), tf.Variable([0.0])]
        hand_in = [accumulator_apply_gradient(f"run1/{v}", tf.constant([3.0 + w]), NEVER_STALE, w) for v in range(2) for w in range(2)]
        brings, leaves = ([build(rule, worker) for worker in range(2)] for build in (quorum_bring, quorum_leave))
        with tf.control_dependencies([quorum_brought(rule)]):
            chosen = quorum_choose(rule)
        with tf.control_dependencies([chosen_ready(chosen, ["run1/0", "run1/1"])]):
            taken = [take_chosen(chosen, f"run1/{v}", weight, "sum") for v, weight in enumerate(weights)]
        with tf.Session() as session:
            session.run([*hand_in, *brings])
            assert [list(t) for t in session.run([*taken, chosen])] == [[7.0], [7.0], [0, 1]]
            session.run([*hand_in, brings[1], *leaves])
            assert [list(t) for t in session.run(taken)] == [[4.0], [4.0]]
            with pytest.raises(OutOfRangeError, match="all workers are out of data"):
                session.run(taken)

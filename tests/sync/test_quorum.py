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
from pslab.sync.quorum import Quorum


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


@pytest.mark.parametrize(("type", "signals", "blocking"), [("QuorumLeave", True, False), ("QuorumReady", False, True), ("GiveBack", True, False)])
def test_who_waits_and_who_wakes(type: str, signals: bool, blocking: bool) -> None:
    assert (op_def(type).signals, op_def(type).blocking) == (signals, blocking)


def test_the_ops_on_a_task() -> None:
    from pslab.sync.ops import accumulator_apply_gradient
    from pslab.sync.quorum_ops import QuorumRule, quorum_leave, quorum_ready, quorum_take

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

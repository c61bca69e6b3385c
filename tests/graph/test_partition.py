"""Placement, partition and plans: what runs where, and what travels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pslab as tf
from pslab import errors
from pslab.graph.packing import pack, unpack
from pslab.graph.partition import partition, prune
from pslab.graph.placement import describe, place
from pslab.graph.plan import Partition, StepPlan

TASKS = ("worker:0", "worker:1", "ps:0", "ps:1")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def plan_of(fetches, feeds=(), master="worker:0", tasks=TASKS) -> StepPlan:
    operations = prune([f.op if isinstance(f, tf.Tensor) else f for f in fetches], feeds)
    placed = place(operations, master=master, tasks=tasks, devices=lambda task: ("CPU:0",))
    return partition(operations, placed, master=master, fetches=[f for f in fetches if isinstance(f, tf.Tensor)], feeds=feeds)


def test_only_what_is_needed_is_kept() -> None:
    a = tf.constant(1.0)
    b = a + 1.0
    tf.exp(a)
    assert {op.type for op in prune([b.op], [])} == {"Const", "Add"}
    assert [op.type for op in prune([(b * 2.0).op], [b])] == ["Const", "Mul"]


def test_ops_that_wait_for_each_other_are_told(graph) -> None:
    a = tf.constant(1.0, name="a")
    b = tf.identity(a, name="b")
    a.op.add_control_input(b.op)
    with pytest.raises(errors.GraphError, match="ops wait for each other in a circle: b → a → b"):
        prune([b.op], [])


def test_all_tensors_of_one_stage_travel_as_one_message() -> None:
    with tf.device("/job:ps/task:0"):
        values = [tf.Variable(float(i), name=f"v{i}") for i in range(3)]
    total = tf.add_n([v.value() for v in values])
    plan = plan_of([total])
    assert [(c.source, c.destination, len(c.tensors)) for c in plan.cuts] == [("ps:0", "worker:0", 3)]
    assert list(plan.partitions) == ["worker:0", "ps:0"]


def test_a_push_that_is_answered_is_one_message_each_way_and_the_start_rides_in_it() -> None:
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v")
    x = tf.placeholder(tf.float32, [], name="x")
    gradient = tf.square(x)
    update = v.assign_sub(gradient)
    plan = plan_of([update], [x])
    part = plan.partitions["ps:0"]
    assert [(c.source, c.destination) for c in plan.cuts] == [("worker:0", "ps:0")]
    assert part.rides == plan.cuts[0]
    assert part.fetches == (update.name,)


def test_constants_on_the_ps_keep_no_start_from_riding() -> None:
    with tf.device("/job:ps/task:0"):
        v, rate = tf.Variable(1.0, name="v"), tf.constant(0.1)
        x = tf.identity(tf.placeholder(tf.float32, [], name="x"))
        with tf.device("/job:worker/task:0"):
            gradient = tf.square(x)
        update = v.assign_sub(gradient * rate)
    plan = plan_of([update], [x])
    assert plan.partitions["ps:0"].rides == plan.cuts[0]


def test_a_part_that_must_speak_first_is_started_by_a_message_of_its_own() -> None:
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v")
    doubled = v.value() * 2.0
    update = v.assign(doubled)
    part = plan_of([update]).partitions["ps:0"]
    assert part.stages[0].sends
    assert part.rides is None


def test_a_blocking_op_ends_its_stage() -> None:
    from pslab.sync.pacing_ops import step_after

    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v")
        step = step_after(tf.train.create_global_step(), tf.constant(0, tf.int64), "of a training")
        with tf.control_dependencies([step]):
            after = v.read_value()
    first, second = plan_of([after]).partitions["ps:0"].stages
    assert [n.type for n in first.waits] == ["StepAfter"]
    assert [n.type for n in second.nodes] == ["ReadVariable"]


def test_a_plan_can_be_printed_and_travels(graph) -> None:
    with tf.device("/job:ps/task:1"):
        v = tf.Variable(np.ones(3), name="v")
    x = tf.placeholder(tf.float64, [3], name="x")
    plan = plan_of([tf.reduce_sum(v * x, name="sum")], [x])
    text = str(plan)
    for part in (
        "StepPlan driven by worker:0; partitions: 2, cuts: 1",
        "fed      x:0",
        "v/read (ReadVariable)",
        "send     #0 to worker:0: v/read:0",
        "return   sum:0",
    ):
        assert part in text
    for part in plan.partitions.values():
        again = Partition.unpack(part.pack())
        assert again.pack() == part.pack()
        assert (again.task, again.master, again.fetches) == (part.task, "worker:0", part.fetches)


def test_the_lines_of_a_printed_plan_are_short_and_part_no_name(graph) -> None:
    with tf.device("/job:ps/task:1"):
        many = [tf.Variable(float(i), name=f"a_variable_with_a_long_name_{i}") for i in range(9)]
    lines = str(plan_of([tf.add_n(many, name="sum")])).splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(lines.count(line) for line in lines if line.startswith(" " * 13)) >= 6
    said = " ".join(line.strip() for line in lines)
    assert ", ".join(f"a_variable_with_a_long_name_{i}/read:0" for i in range(9)) in said


def test_strings_travel_as_they_are() -> None:
    value = np.array(["text", b"\xff bytes"], object)
    assert unpack(pack(value)).tolist() == value.tolist()


@given(st.binary(max_size=200))
def test_bytes_that_are_no_partition_are_refused(data: bytes) -> None:
    with pytest.raises(errors.DataLossError):
        Partition.unpack(data)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("/job:master/task:0", "there is no job 'master'; the cluster has ps:0, ps:1, worker:0, worker:1"),
        ("/job:worker/task:5", "there is no task 'worker:5'"),
        ("/job:ps/task:0/gpu:0", "task ps:0 has only CPU:0"),
    ],
)
def test_a_place_that_is_not_there_is_told_with_the_op_and_its_line(device, message) -> None:
    with tf.device(device):
        a = tf.constant(1, name="a")
    with pytest.raises(errors.DeviceError, match=message) as caught:
        plan_of([a])
    assert "op 'a' asks for" in str(caught.value)
    assert "test_partition.py" in str(caught.value)


def test_soft_placement_falls_back_and_the_rest_is_filled_in() -> None:
    with tf.device("/job:ps/gpu:3"):
        a = tf.constant(1, name="a")
    b = tf.identity(a, name="b")
    placed = place([a.op, b.op], master="worker:1", tasks=TASKS, devices=lambda t: ("GPU:0", "CPU:0"), allow_soft_placement=True)
    assert describe(placed).splitlines() == [
        "a: (Const): /job:ps/replica:0/task:0/device:CPU:0",
        "b: (Identity): /job:worker/replica:0/task:1/device:GPU:0",
    ]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(TASKS), st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=25))
def test_whatever_is_placed_wherever_each_task_can_run_its_stages_in_order(ops) -> None:
    """Driving the partitions by hand: every cut that a stage receives was sent by then, and the values are those of one task."""
    with tf.Graph().as_default():
        made = [tf.constant(1.0)]
        for task, left, right in ops:
            with tf.device(f"/job:{task.split(':')[0]}/task:{task.split(':')[1]}"):
                made.append(made[left % len(made)] + made[right % len(made)])
        plan = plan_of([made[-1]])
        waiting = {name: list(part.stages) for name, part in plan.partitions.items()}
        sent: set[int] = set()
        moved = True
        while moved:
            moved = False
            for stages in waiting.values():
                while stages and all(c.index in sent for c in stages[0].receives):
                    sent.update(c.index for c in stages.pop(0).sends)
                    moved = True
        assert not any(waiting.values()), str(plan)
        assert sent == {c.index for c in plan.cuts}

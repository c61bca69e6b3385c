"""The estimate of a step's memory: by hand where a step is small, and against what NumPy really took."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import pslab as tf
from pslab.graph.memory import TaskMemory, largest_batch, step_memory
from pslab.graph.operation import Operation
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place

TASKS = ("localhost:0", "ps:0")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def estimate(fetches, feeds, batch) -> dict[str, TaskMemory]:
    needed = prune([f if isinstance(f, Operation) else f.op for f in fetches], feeds)
    placed = place(needed, master=TASKS[0], tasks=TASKS, devices=lambda _: ("CPU:0",))
    tensors = [f for f in fetches if not isinstance(f, Operation)]
    plan = partition(needed, placed, master=TASKS[0], fetches=tensors, feeds=feeds)
    return step_memory(plan, tf.get_default_graph(), feeds, batch)


def alone(fetches, feeds, batch) -> TaskMemory:
    return estimate(fetches, feeds, batch)[TASKS[0]]


def test_a_chain_writes_into_the_buffer_that_it_has():
    x = tf.placeholder(tf.float32, [None, 10])
    y = tf.exp(tf.negative(tf.square(x)))
    assert alone([y], [x], 5) == TaskMemory(0, 0, 200, 200)


def test_what_is_needed_later_is_kept():
    x = tf.placeholder(tf.float64, [None])
    a = tf.square(x)
    b = tf.exp(a)
    assert alone([tf.add(a, b)], [x], 100).working == 3 * 800  # one of them may turn out to have one element, and be stretched
    known = tf.placeholder(tf.float64, [100])
    c = tf.square(known)
    assert alone([tf.add(c, tf.exp(c))], [known], 100).working == 2 * 800
    assert alone([a, b], [x], 100).working == 2 * 800
    assert alone([tf.reduce_sum(b)], [x], 100).working == 800 + 8


def test_a_view_takes_nothing():
    x = tf.placeholder(tf.float32, [None, 4])
    assert alone([tf.reshape(tf.identity(x), [-1])], [x], 8) == TaskMemory(0, 0, 128, 0)


def test_an_update_is_a_new_array_beside_the_old_one():
    w = tf.Variable(tf.zeros([25]))
    x = tf.placeholder(tf.float32, [25])
    assert alone([w.assign_add(x).op], [x], 1) == TaskMemory(100, 0, 100, 100)
    assert alone([w.value()], [], 1) == TaskMemory(100, 0, 0, 0)


def test_slots_are_variables():
    w = tf.Variable(tf.zeros([25]))
    x = tf.placeholder(tf.float32, [25])
    update = tf.train.AdamOptimizer(0.1).apply_gradients([(x, w)])
    found = alone([update], [x], 1)
    assert found.variables == 3 * 100 + 2 * 4
    assert found.working == 3 * 100 + 2 * 4


def test_a_batch_is_followed_through_shapes_that_are_made_of_it():
    x = tf.placeholder(tf.float32, [None, 6, 5])
    rows = tf.reshape(x, [-1, 5])
    assert alone([tf.matmul(rows, tf.zeros([5, 2]))], [x], 7).working == 7 * 6 * 2 * 4


def test_what_windows_see_is_scratch():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    y = tf.nn.conv2d(x, tf.zeros([3, 3, 3, 4]), [1, 1, 1, 1], "SAME")
    assert alone([y], [x], 2).working == 2 * 64 * 4 * 4 + 2 * 64 * 27 * 4


def test_a_message_is_a_buffer_where_it_comes_to():
    with tf.device("/job:ps/task:0"):
        w = tf.Variable(tf.zeros([10, 10]))
    with tf.device("/job:localhost/task:0"):
        x = tf.placeholder(tf.float32, [None, 10])
        y = tf.matmul(x, w)
    assert estimate([y], [x], 3) == {"localhost:0": TaskMemory(0, 0, 120, 400 + 120), "ps:0": TaskMemory(400, 0, 0, 0)}


def test_the_largest_batch():
    assert [largest_batch(lambda n, limit=limit: n <= limit, 1000) for limit in (0, 1, 17, 999, 1000, 5000)] == [0, 1, 17, 999, 1000, 1000]


def mlp() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 64])
    hidden = tf.nn.relu(tf.matmul(x, tf.Variable(tf.zeros([64, 256]))) + tf.Variable(tf.zeros([256])))
    return x, tf.matmul(hidden, tf.Variable(tf.zeros([256, 10]))) + tf.Variable(tf.zeros([10]))


def cnn() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 12, 12, 1])
    seen = tf.nn.relu(tf.nn.conv2d(x, tf.Variable(tf.zeros([3, 3, 1, 8])), [1, 1, 1, 1], "SAME") + tf.Variable(tf.zeros([8])))
    pooled = tf.reshape(tf.nn.max_pool(seen, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [-1, 288])
    return x, tf.matmul(pooled, tf.Variable(tf.zeros([288, 10])))


@pytest.mark.parametrize("build", [mlp, cnn])
@pytest.mark.parametrize("batch", [64, 512])
def test_it_comes_near_what_a_step_takes(build, batch):
    x, logits = build()
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    fetches, feeds = [tf.train.AdamOptimizer(0.01).minimize(loss), loss], [x, labels]
    values = [np.zeros((batch, *x.shape.as_list()[1:]), np.float32), np.zeros(batch, np.int32)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        step = session.make_callable(fetches, feeds)
        step(*values)
        tracemalloc.start()
        try:
            step(*values)
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            step(*values)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert alone(fetches, feeds, batch).working == pytest.approx(peak - before, rel=0.25)

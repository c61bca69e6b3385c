"""A run looked at op by op, on one task and on several, and limited in time."""

from __future__ import annotations

import json
from contextlib import ExitStack
from time import monotonic

import numpy as np
import pytest

import pslab as tf
from pslab.errors import DeadlineExceededError, UsageError
from pslab.run.processes import free_addresses
from pslab.summary.timeline import Timeline

TRACED = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)


def test_each_op_is_there_once_and_in_order() -> None:
    x = tf.placeholder(tf.float32, [300, 300], name="x")
    y = tf.matmul(x, x, name="y")
    z = tf.reduce_sum(tf.tanh(y, name="t"), name="z")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        value = sess.run(z, {x: np.full((300, 300), 0.01, np.float32)}, options=TRACED, run_metadata=metadata)
    assert value == pytest.approx(90000 * np.tanh(0.03), rel=1e-4)
    (device,) = metadata.step_stats.dev_stats
    assert device.device.endswith("CPU:0")
    assert [n.node_name for n in device.node_stats] == ["y", "t", "z"]
    assert [n.op for n in device.node_stats] == ["MatMul", "Tanh", "Sum"]
    ends = [n.all_start_micros + n.all_end_rel_micros for n in device.node_stats]
    assert all(start.all_start_micros >= end - 2 for start, end in zip(device.node_stats[1:], ends, strict=False))


def test_a_run_that_is_not_traced_tells_nothing() -> None:
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.constant(1) + 1, run_metadata=metadata)
    assert metadata.step_stats.dev_stats == []


@pytest.mark.parametrize("client_is_elsewhere", [False, True])
def test_all_tasks_and_what_they_sent_are_there(client_is_elsewhere: bool) -> None:
    one, two = free_addresses(2)
    spec = tf.train.ClusterSpec({"ps": [one], "worker": [two]})
    with ExitStack() as closing:
        for job in ("ps", "worker"):
            closing.callback(tf.train.Server(spec, job, 0).close)
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(np.ones(100, np.float32), name="v")
        with tf.device("/job:worker/task:0"):
            y = tf.multiply(v, 2.0, name="y")
        target = two.replace("127.0.0.1", "localhost") if client_is_elsewhere else two  # another name, so that it goes over the wire
        sess = closing.enter_context(tf.Session(f"grpc://{target}"))
        sess.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        sess.run(y, options=TRACED, run_metadata=metadata)
    ops = {(d.device.split("/")[1], n.op) for d in metadata.step_stats.dev_stats for n in d.node_stats}
    assert ops == {("job:ps", "ReadVariable"), ("job:ps", "Send"), ("job:worker", "Recv"), ("job:worker", "Mul")}
    received = [n for d in metadata.step_stats.dev_stats for n in d.node_stats if n.op == "Recv"]
    assert [n.node_name.startswith("ps:0 → worker:0") for n in received] == [True]
    assert received[0].output_bytes >= 400


def test_a_timeline_has_a_span_per_op() -> None:
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.exp(tf.constant(1.0), name="e"), options=TRACED, run_metadata=metadata)
    trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))
    (span,) = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert (span["name"], span["args"]["name"]) == ("Exp", "e")
    assert span["dur"] >= 1


def test_a_run_is_given_up_when_its_time_is_over() -> None:
    queue = tf.FIFOQueue(1, tf.int32)
    with tf.Session() as sess:
        began = monotonic()
        with pytest.raises(DeadlineExceededError, match=r"not done in 0\.2 s"):
            sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=200))
        assert monotonic() - began < 10
        assert sess.run(queue.size()) == 0  # the session goes on


def test_a_limit_is_no_negative_number() -> None:
    with pytest.raises(UsageError, match="timeout_in_ms"):
        tf.RunOptions(timeout_in_ms=-1)

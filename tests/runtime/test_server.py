"""Servers in plain processes: a TensorFlow 1 program as it stands, and what happens when one of them dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import pslab as tf
from pslab import errors
from pslab.run.processes import free_addresses

PROGRAM = Path(__file__).with_name("program.py")
DEADLINE_S = 60


@contextmanager
def process(job: str, index: int, ps: list[str], workers: list[str]):
    run = subprocess.Popen(
        [sys.executable, str(PROGRAM), job, str(index), ",".join(ps), ",".join(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield run
    finally:
        run.kill()
        run.wait()
        run.stdout.close()


def servers(ps: int, workers: int):
    names = free_addresses(ps + workers)
    return tf.train.ClusterSpec({"ps": names[:ps], "worker": names[ps:]})


def test_a_program_of_separate_processes_trains() -> None:
    ports = free_addresses(3)
    ps, workers = ports[:2], ports[2:]
    with process("ps", 0, ps, workers) as one, process("ps", 1, ps, workers) as two:
        for server in (one, two):
            assert server.stdout.readline() == "serving\n"
        with process("worker", 0, ps, workers) as worker:
            out, _ = worker.communicate(timeout=DEADLINE_S)
    assert worker.returncode == 0, out
    steps, parameters = out.splitlines()
    assert steps.startswith("step 200 loss ")
    numbers = [float(word) for word in parameters.split() if word not in ("w", "b")]
    np.testing.assert_allclose(numbers, [1, -2, 0.5, 3], atol=1e-2)


def test_a_client_in_another_process_than_the_target() -> None:
    ports = free_addresses(2)
    with process("ps", 0, ports[:1], ports[1:]) as ps:
        assert ps.stdout.readline() == "serving\n"
        with tf.Graph().as_default():
            v = tf.Variable(np.arange(4.0), name="v")
            x = tf.placeholder(tf.float64, [4], name="x")
            dot = tf.reduce_sum(v * x)
            with tf.Session(f"grpc://{ports[0]}") as session:
                session.run(tf.global_variables_initializer())
                assert session.run(dot, {x: np.ones(4)}) == 6
                with pytest.raises(errors.InvalidArgumentError) as caught:
                    session.run(dot)
                assert caught.value.op == "x"
                assert caught.value.device == "/job:ps/replica:0/task:0/device:CPU:0"
                more = dot + 1.0
                assert session.run(more, {x: np.ones(4)}) == 7
            with tf.Session(f"grpc://{ports[0]}") as session:  # variables outlive a session
                assert session.run(dot, {x: np.ones(4)}) == 6


def test_a_step_that_waits_for_a_task_that_dies_fails_and_says_whose_it_was() -> None:
    spec_ports = free_addresses(2)
    spec = tf.train.ClusterSpec({"ps": spec_ports[:1], "worker": spec_ports[1:]})
    with process("ps", 0, spec_ports[:1], spec_ports[1:]) as ps, tf.Graph().as_default():
        assert ps.stdout.readline() == "serving\n"
        server = tf.train.Server(spec, "worker", 0)
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v")
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            os.kill(ps.pid, signal.SIGKILL)
            ps.wait()
            with pytest.raises(errors.UnavailableError, match="ps:0"):
                session.run(v)
        server.close()


def test_a_port_in_use_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(errors.AlreadyExistsError, match=f"ps:0 cannot listen on 127.0.0.1:{port}: the port is in use"):
            tf.train.Server({"ps": [f"127.0.0.1:{port}"]}, "ps", 0)


def test_a_job_or_task_that_the_cluster_has_not() -> None:
    spec = servers(ps=1, workers=2)
    with pytest.raises(errors.NotFoundError, match="job 'worker' has no task 2"):
        tf.train.Server(spec, "worker", 2)
    with pytest.raises(errors.UsageError, match="which task of 'worker' is this server's"):
        tf.train.Server(spec, "worker")


def test_a_local_server_serves_sessions_that_share_its_variables() -> None:
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        v = tf.Variable(2.0)
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
        with tf.Session(server.target) as session:
            assert session.run(v) == 2
    server.close()


LAST_DEQUEUE = """
import sys
import pslab as tf
cluster = {"ps": [sys.argv[1]], "worker": [sys.argv[2]]}
server = tf.train.Server(cluster, "ps", 0)
done = tf.FIFOQueue(1, tf.int32, shared_name="done")
tf.Session(server.target).run(done.dequeue())
"""


@pytest.mark.parametrize("attempt", range(4))
def test_a_program_that_ends_with_what_it_was_sent_has_answered_the_sender(attempt: int) -> None:
    """As a ps ends that waits for its workers on a queue. Without care it is gone before the last worker knows, more often than not."""
    ps, worker = free_addresses(2)
    server = tf.train.Server({"ps": [ps], "worker": [worker]}, "worker", 0)
    with subprocess.Popen([sys.executable, "-c", LAST_DEQUEUE, ps, worker], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as other:
        with tf.device("/job:ps/task:0"):
            put = tf.FIFOQueue(1, tf.int32, shared_name="done").enqueue(1)
        enqueue = tf.group(put)
        with tf.Session(server.target) as session:
            session.run(enqueue)
        assert other.wait(DEADLINE_S) == 0
    server.close()

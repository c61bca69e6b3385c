"""Cells on the tasks of a real cluster."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pslab.cluster import Cluster
from pslab.errors import AbortedError, FailedPreconditionError, NotFoundError
from pslab.lab.lab_cluster import SERVICE
from pslab.run.on_tasks import run_cell
from pslab.run.output import Output
from tests.waiting import until

TRAIN = """\
with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{task_index}")):
    w = tf.Variable(tf.zeros([2]), name="w")
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(w - 1.0)), global_step=step)
hooks = [tf.train.StopAtStepHook(last_step=100)]
with tf.train.MonitoredTrainingSession(server.target, is_chief=task_index == 0, hooks=hooks) as sess:
    while not sess.should_stop():
        sess.run(train)
    print("w", *sess._tf_sess().run(w).round(3))
server.join()
"""


@pytest.fixture(scope="module")
def cluster():
    with Cluster(ps=1, workers=2, processes=True, service=SERVICE) as cluster:
        yield cluster


@pytest.fixture
def on(cluster):
    """Run a cell somewhere; the lines it printed."""

    def run(where: str, source: str, anew: bool = False) -> list[str]:
        console = Console(file=io.StringIO(), soft_wrap=True, highlight=False)
        try:
            run_cell(cluster, where, source, anew, Output(list(cluster.tasks), console, console))
        finally:
            run.printed = sorted(console.file.getvalue().splitlines())
        return run.printed

    return run


def test_each_worker_builds_the_graph_and_trains_and_the_servers_are_there_for_the_next(on) -> None:
    for _ in range(2):
        assert on("worker", TRAIN, anew=True) == ["worker:0 | w 1.0 1.0", "worker:1 | w 1.0 1.0"]


def test_one_worker_and_the_client(on) -> None:
    assert on("worker:1", "print(job_name, task_index)") == ["worker:1 | worker 1"]
    in_graph = """\
total = 0
for i in range(2):
    with tf.device(f"/job:worker/task:{i}"):
        total += tf.constant(i + 1.0)
print(tf.Session(server.target).run(total))
"""
    assert on("client", in_graph) == ["client:0 | 3.0"]


def test_tasks_are_processes_of_their_own(on) -> None:
    pids = {line.split()[-1] for line in on("worker", "import os; print(os.getpid())")}
    assert len(pids) == 2


def test_a_failure_names_its_task(on) -> None:
    with pytest.raises(AbortedError, match="failed on worker:1;"):
        on("worker", "if task_index == 1:\n    raise ValueError('no')\nprint('well')")
    assert "worker:0 | well" in on.printed
    assert "worker:1 | ValueError: no" in on.printed


def test_a_task_that_is_not_there(on) -> None:
    with pytest.raises(NotFoundError, match="no 'worker:7'") as told:
        on("worker:7", "1")
    assert told.value.hint == "one of: ps, worker, client, ps:0, worker:0, worker:1"


def test_a_cell_is_begun_on_all_or_on_none(on, cluster) -> None:
    endless = "import threading\nwhile True:\n    threading.Event().wait(0.05)"
    cluster.call("worker:0", "begin_cell", source=endless, addresses={}, anew=False)
    with pytest.raises(FailedPreconditionError, match="worker:0 is still at work"):
        on("worker", "begun = True")
    assert on("worker:1", "'begun' in globals()") == ["worker:1 | False"]
    cluster.call("worker:0", "interrupt_cell")
    until(lambda: not cluster.call("worker:0", "cell_state").running, "the cell was not interrupted")


@pytest.mark.parametrize("delay", ["", "threading.Event().wait(0.3)"])
def test_a_task_that_is_lost_fails_and_the_others_are_followed(delay: str, on, cluster) -> None:
    with pytest.raises(AbortedError, match="failed on worker:1;"):
        on("worker", f"import os, threading\nif task_index == 1:\n    {delay}\n    os._exit(1)\nthreading.Event().wait(1.0)\nprint('well')")
    assert on.printed[-1] == "worker:0 | well"
    assert on.printed[0].startswith("pslab: the cell was lost: worker:1 ")
    cluster.wait_for("worker:1")

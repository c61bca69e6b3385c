"""The cluster, in real processes: calls, crashes, scaling, and that nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic

import psutil
import pytest

from pslab.cluster import Cluster
from pslab.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, ResourceExhaustedError, UnavailableError, UsageError

SERVICE = "tests.cluster.services:Echo"
ROOT = Path(__file__).parents[2]
DEADLINE_S = 30.0


def until(true, what: str) -> None:
    deadline = monotonic() + DEADLINE_S
    while not true():
        assert monotonic() < deadline, what
        threading.Event().wait(0.02)


def family(pid: int) -> list[psutil.Process]:
    """A process and all it has started."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def gone(processes: list[psutil.Process]) -> bool:
    return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with Cluster(ps=1, workers=2, service=SERVICE) as cluster:
            yield cluster


@pytest.fixture(autouse=True)
def importable(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_each_task_has_a_process_and_a_name(cluster) -> None:
    status = cluster.status()
    assert [t.name for t in status.tasks] == ["ps:0", "worker:0", "worker:1", "client:0"] == list(cluster.tasks)
    assert all(t.state == "running" and t.memory > 0 for t in status.tasks)
    assert len({t.pid for t in status.tasks}) == 4
    assert cluster.call_all("pid") == {t.name: t.pid for t in status.tasks}


def test_calls_bring_values_and_errors_back(cluster) -> None:
    assert cluster.call("worker:1", "echo", value={"a": (1, 2)}) == {"a": (1, 2)}
    with pytest.raises(InvalidArgumentError, match="cannot be meant"):
        cluster.call("ps:0", "fail")
    with pytest.raises(RuntimeError, match="Odd: very odd"):
        cluster.call("ps:0", "crash")
    with pytest.raises(NotFoundError, match="no task 'worker:2'; there is ps:0, worker:0, worker:1, client:0"):
        cluster.call("worker:2", "pid")


def test_tasks_find_each_other_and_share_a_secret(cluster) -> None:
    addresses = {t.name: t.address for t in cluster.status().tasks}
    for task in cluster.tasks:
        assert cluster.call("worker:0", "find", task=task) == addresses[task]
    secrets = set(cluster.call_all("shared_secret").values())
    assert len(secrets) == 1
    assert len(secrets.pop()) == 32
    with pytest.raises(UnavailableError, match="there is no ps:7 now"):
        cluster.call("worker:0", "find", task="ps:7")


def test_a_long_call_keeps_no_other_waiting(cluster) -> None:
    found = []
    waiting = threading.Thread(target=lambda: found.append(cluster.call("worker:0", "wait_at_the_door")))
    waiting.start()
    assert cluster.call("worker:0", "echo", value=1) == 1
    assert cluster.status().tasks[0].state == "running"
    cluster.call("worker:0", "open_the_door")
    waiting.join(DEADLINE_S)
    assert found == [True]


def test_a_killed_task_comes_back_under_its_name(cluster) -> None:
    before = cluster.status().tasks[2]
    cluster.kill("worker:1")
    cluster.wait_for("worker:1", DEADLINE_S)
    until(lambda: cluster.status().tasks[2].pid != before.pid, "worker:1 did not come back")
    after = cluster.status().tasks[2]
    assert (after.name, after.state, after.restarts) == ("worker:1", "running", before.restarts + 1)
    assert cluster.call("worker:1", "pid") == after.pid
    with pytest.raises(FailedPreconditionError, match="the client lives in the host process"):
        cluster.kill("client:0")


def test_scaling_starts_and_retires_tasks(cluster) -> None:
    kept = cluster.call("worker:0", "pid")
    retired = psutil.Process(cluster.call("worker:1", "pid"))
    cluster.scale(ps=2, workers=1)
    assert set(cluster.call_all("pid")) == {"ps:0", "ps:1", "worker:0", "client:0"}
    assert cluster.call("worker:0", "pid") == kept
    until(lambda: gone([retired]), "worker:1 was retired, and lives")
    cluster.scale(ps=1, workers=2)
    assert set(cluster.call_all("pid")) == {"ps:0", "worker:0", "worker:1", "client:0"}


def test_a_second_start_changes_nothing(cluster) -> None:
    before = cluster.call_all("pid")
    assert cluster.start() is cluster
    assert cluster.call_all("pid") == before


def test_tasks_as_threads_of_one_process() -> None:
    with Cluster(1, 2, processes=False, service=SERVICE) as cluster:
        assert len(set(cluster.call_all("pid").values())) == 1
        assert not cluster.status().processes
        with pytest.raises(FailedPreconditionError, match="threads of one process"):
            cluster.kill("worker:1")
        cluster.scale(workers=3)
        assert cluster.call("worker:2", "echo", value=5) == 5


def test_a_small_memory_makes_them_threads_and_says_so() -> None:
    with Cluster(1, 2, memory_limit="400MB", service=SERVICE) as cluster:
        status = cluster.status()
        assert not status.processes
        assert "threads of one process: 3 processes would need about" in status.note


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Cluster(workers=0), UsageError, "workers must be at least 1, found 0"),
        (lambda: Cluster(ps=-1), UsageError, "ps must be at least 1, found -1"),
        (lambda: Cluster(memory_limit="much"), UsageError, "'much' is no amount of memory"),
        (lambda: Cluster(1, 2, memory_limit="100MB"), ResourceExhaustedError, "3 tasks need about 310 MB even as threads"),
        (lambda: Cluster(1, 40, processes=True, memory_limit="1GB"), ResourceExhaustedError, "41 tasks need about"),
    ],
)
def test_what_cannot_be_started_is_refused(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_service_that_cannot_be_made_is_told() -> None:
    cluster = Cluster(1, 1, service="tests.cluster.services:Nothing")
    with pytest.raises(Exception, match="Nothing"):
        cluster.start()
    assert not cluster.running


def test_nothing_is_left_after_a_stop() -> None:
    cluster = Cluster(1, 1, service=SERVICE).start()
    processes = family(cluster.status().tasks[-1].pid)
    assert len(processes) >= 3
    cluster.stop()
    cluster.stop()
    until(lambda: gone(processes), "processes outlive the stop")
    with pytest.raises(FailedPreconditionError, match="does not run"):
        cluster.call("ps:0", "pid")


def test_a_host_that_is_killed_is_told_and_takes_its_tasks_along() -> None:
    cluster = Cluster(1, 1, service=SERVICE).start()
    processes = family(cluster.status().tasks[-1].pid)
    os.kill(processes[0].pid, signal.SIGKILL)
    until(lambda: gone(processes), "tasks outlive their host")
    with pytest.raises(UnavailableError, match="host process has ended"):
        cluster.call("ps:0", "pid")
    cluster.stop()


PROGRAM = f"""
import sys, time
from pslab.cluster import Cluster
cluster = Cluster(1, 1, service={SERVICE!r}).start()
print(cluster.status().tasks[-1].pid, flush=True)
while True:
    time.sleep(1)
"""


@contextlib.contextmanager
def kernel():
    """A process that holds a cluster, as a notebook's kernel does; and the cluster's processes."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield process, family(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_kernel_ends(sent) -> None:
    with kernel() as (process, processes):
        assert len(processes) >= 3
        process.send_signal(sent)
        process.wait(DEADLINE_S)
        until(lambda: gone(processes), "processes outlive the kernel")


def test_tasks_are_guests_on_a_dask_cluster_that_runs_already() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as dask,
        Cluster(1, 2, address=dask.scheduler_address, service=SERVICE) as cluster,
    ):
        assert set(cluster.call_all("pid")) == {"ps:0", "worker:0", "worker:1", "client:0"}
        assert len({cluster.call(t, "pid") for t in ("ps:0", "worker:0", "worker:1")}) == 2
        assert cluster.call("worker:1", "find", task="client:0")
        cluster.stop()
        with Client(dask.scheduler_address) as client:
            assert client.submit(lambda: 41 + 1).result(DEADLINE_S) == 42

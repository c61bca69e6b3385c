"""Where tasks can be: threads of one process, and guests on a Dask cluster that is not ours."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from pslab.cluster import Cluster
from pslab.errors import FailedPreconditionError, ResourceExhaustedError, UnavailableError, UsageError
from tests.cluster.processes import ROOT, SERVICE
from tests.waiting import DEADLINE_S, until


def test_tasks_as_threads_of_one_process() -> None:
    with Cluster(1, 2, processes=False, service=SERVICE) as cluster:
        assert len(set(cluster.call_all("pid").values())) == 1
        assert not cluster.status().processes
        assert cluster.call("worker:1", "find", task="ps:0") == cluster.status().tasks[0].address
        with pytest.raises(FailedPreconditionError, match="threads of one process"):
            cluster.kill("worker:1")


def test_scaling_threads_leaves_the_others_alone() -> None:
    with Cluster(1, 2, processes=False, service=SERVICE) as cluster:
        found = []
        waiting = threading.Thread(target=lambda: found.append(cluster.call("ps:0", "wait_at_the_door")))
        waiting.start()
        cluster.scale(workers=3)
        assert cluster.call("worker:2", "echo", value=5) == 5
        cluster.scale(workers=1)
        assert set(cluster.call_all("pid")) == {"ps:0", "worker:0", "client:0"}
        assert found == []
        cluster.call("ps:0", "open_the_door")
        waiting.join(DEADLINE_S)
        assert found == [True]


def test_a_small_memory_makes_them_threads_and_says_so() -> None:
    with Cluster(1, 2, memory_limit="400MB", service=SERVICE) as cluster:
        status = cluster.status()
        assert not status.processes
        assert "threads of one process: 3 processes would need about" in status.note


class Dask:
    """A scheduler and workers, started from the shell as somebody else would."""

    def __init__(self, stack: contextlib.ExitStack, workers: int) -> None:
        self._stack = stack
        scheduler = self._begin("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        found = None
        while found is None:
            found = re.search(r"Scheduler at:\s+(\S+)", scheduler.stderr.readline())
        self.address = found[1]
        drain = threading.Thread(target=scheduler.stderr.read, daemon=True)
        drain.start()
        stack.callback(scheduler.stderr.close)
        stack.callback(drain.join, DEADLINE_S)
        stack.callback(scheduler.kill)  # so that there is an end to read; it is waited for where it was begun
        for _ in range(workers):
            self.add_worker(cwd=ROOT)

    def add_worker(self, cwd: Path) -> None:
        self._begin("dask_worker", self.address, "--nthreads", "1", "--no-dashboard", cwd=cwd)

    def _begin(self, name: str, *arguments: str, cwd: Path = ROOT) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *arguments],
            stderr=subprocess.PIPE if name == "dask_scheduler" else subprocess.DEVNULL,
            text=True,
            cwd=cwd,
        )
        self._stack.callback(self._end, process)
        return process

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        process.terminate()
        process.wait(DEADLINE_S)


@pytest.fixture(scope="module")
def dask():
    from distributed import Client

    with contextlib.ExitStack() as stack:
        dask = Dask(stack, workers=2)
        with Client(dask.address) as client:
            client.wait_for_workers(2, DEADLINE_S)
            yield client


def ours(client) -> list[str]:
    """What of pslab is on the workers of a Dask cluster."""

    def names(dask_worker) -> list[str]:
        return [name for name in (*dask_worker.handlers, *dask_worker.plugins) if name.startswith("pslab")]

    return [name for found in client.run(names).values() for name in found]


def test_guests_are_spread_over_the_workers_and_leave_them_as_they_were(dask) -> None:
    workers = set(dask.run(os.getpid).values())
    with Cluster(1, 2, address=dask.scheduler.address, service=SERVICE) as cluster:
        pids = cluster.call_all("pid")
        assert set(pids) == {"ps:0", "worker:0", "worker:1", "client:0"}
        assert pids["ps:0"] == pids["worker:1"] != pids["worker:0"]
        assert {pids["ps:0"], pids["worker:0"]} == workers
        assert pids["client:0"] not in workers
        assert cluster.call("worker:1", "find", task="client:0")
        assert cluster.status().note == f"the tasks are guests on the workers of {dask.scheduler.address}"
        assert len(dask.scheduler_info(n_workers=-1)["workers"]) == 2
        with pytest.raises(FailedPreconditionError, match="belongs to the Dask cluster at tcp://"):
            cluster.kill("worker:0")
        assert len(ours(dask)) == 3 + 2 * 3
    assert ours(dask) == []
    assert set(dask.run(os.getpid).values()) == workers
    assert dask.submit(lambda: 41 + 1).result(DEADLINE_S) == 42


def test_scaling_guests_leaves_the_others_alone(dask) -> None:
    with Cluster(1, 1, address=dask.scheduler.address, service=SERVICE) as cluster:
        found = []
        waiting = threading.Thread(target=lambda: found.append(cluster.call("ps:0", "wait_at_the_door")))
        waiting.start()
        cluster.scale(ps=2, workers=3)
        assert set(cluster.call_all("pid")) == {"ps:0", "ps:1", "worker:0", "worker:1", "worker:2", "client:0"}
        cluster.scale(ps=1, workers=1)
        assert set(cluster.call_all("pid")) == {"ps:0", "worker:0", "client:0"}
        assert found == []
        cluster.call("ps:0", "open_the_door")
        waiting.join(DEADLINE_S)
        assert found == [True]


def test_two_clusters_can_be_guests_on_the_same_workers(dask) -> None:
    with (
        Cluster(1, 2, address=dask.scheduler.address, service=SERVICE) as one,
        Cluster(1, 1, address=dask.scheduler.address, service=SERVICE) as other,
    ):
        assert one.call("ps:0", "shared_secret") != other.call("ps:0", "shared_secret")
        other.stop()
        assert one.call_all("echo", value=1) == dict.fromkeys(one.tasks, 1)


def test_a_guest_whose_worker_dies_comes_back_on_another(dask) -> None:
    """Workers started without a name have another after each crash."""
    with Cluster(1, 2, address=dask.scheduler.address, service=SERVICE) as cluster:
        lost = cluster.call("worker:1", "pid")
        os.kill(lost, signal.SIGKILL)
        until(lambda: cluster.status().tasks[2].pid != lost, "worker:1 does not come back")
        for task in cluster.tasks:
            cluster.wait_for(task, DEADLINE_S)
        assert cluster.call_all("echo", value=1) == dict.fromkeys(cluster.tasks, 1)
        assert [t.restarts for t in cluster.status().tasks] == [1, 0, 1, 0]


def test_guests_end_when_their_host_does(dask) -> None:
    with Cluster(1, 2, address=dask.scheduler.address, service=SERVICE) as cluster:
        host = psutil.Process(cluster.status().tasks[-1].pid)
        host.kill()
        until(lambda: not handlers(dask), "guests outlive their host")
    for plugin in set(ours(dask)):
        dask.unregister_worker_plugin(plugin)


def handlers(client) -> list[str]:
    def names(dask_worker) -> list[str]:
        return [name for name in dask_worker.handlers if name.startswith("pslab")]

    return [name for found in client.run(names).values() for name in found]


def test_a_dask_cluster_without_workers_is_told() -> None:
    with contextlib.ExitStack() as stack:
        dask = Dask(stack, workers=0)
        with pytest.raises(ResourceExhaustedError, match=f"the Dask scheduler at {dask.address} has 0 workers"):
            Cluster(1, 1, address=dask.address, service=SERVICE).start()


def test_workers_that_lack_pslab_are_told(tmp_path) -> None:
    from distributed import Client

    with contextlib.ExitStack() as stack:
        dask = Dask(stack, workers=0)
        (tmp_path / "pslab.py").write_text("raise ImportError('pslab is not here')")
        dask.add_worker(cwd=tmp_path)
        with Client(dask.address) as client:
            client.wait_for_workers(1, DEADLINE_S)
        with pytest.raises(FailedPreconditionError, match=r"the Dask worker at tcp://.* cannot import pslab: pslab is not here"):
            Cluster(1, 1, address=dask.address, service=SERVICE).start()


def test_an_address_that_cannot_be_reached_is_told(monkeypatch) -> None:
    with pytest.raises(UsageError, match="'nonsense' is no address of a Dask scheduler"):
        Cluster(1, 1, address="nonsense", service=SERVICE).start()
    with pytest.raises(UnavailableError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        Cluster(1, 1, address="tcp://127.0.0.1:9", service=SERVICE).start()

"""The host process: however its parent or it itself ends, nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil
import pytest

from pslab.cluster import Cluster
from pslab.errors import DeadlineExceededError, UnavailableError
from tests.cluster.processes import ROOT, SERVICE, family, gone
from tests.waiting import DEADLINE_S, until


@pytest.fixture
def temporary(monkeypatch):
    """Where all temporary files go. Its name is short: sockets are there too."""
    with tempfile.TemporaryDirectory() as directory:
        monkeypatch.setenv("TMPDIR", directory)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(directory)


@pytest.mark.parametrize("processes", [True, False])
def test_nothing_is_left_after_a_stop(processes, temporary) -> None:
    cluster = Cluster(1, 1, processes=processes, service=SERVICE).start()
    cluster.call_all("echo", value=1)
    everything = family(cluster.status().tasks[-1].pid)
    assert len(everything) == (5 if processes else 1)
    cluster.stop()
    cluster.stop()
    assert gone(everything[:1])
    until(lambda: gone(everything), "processes outlive the stop")
    assert list(temporary.iterdir()) == []


def test_a_host_that_is_killed_is_told_and_takes_its_tasks_along(temporary) -> None:
    cluster = Cluster(1, 1, service=SERVICE).start()
    everything = family(cluster.status().tasks[-1].pid)
    os.kill(everything[0].pid, signal.SIGKILL)
    until(lambda: gone(everything), "tasks outlive their host")
    with pytest.raises(UnavailableError, match="host process has ended"):
        cluster.call("ps:0", "pid")
    with pytest.raises(UnavailableError, match="host process has ended"):
        cluster.status()
    cluster.stop()
    assert list(temporary.iterdir()) == []
    with cluster:
        assert cluster.call("ps:0", "echo", value=1) == 1


def test_a_host_that_hangs_is_ended_by_force(monkeypatch) -> None:
    monkeypatch.setattr("pslab.cluster.host_process.STOP_S", 0.2)
    cluster = Cluster(1, 1, service=SERVICE).start()
    everything = family(cluster.status().tasks[-1].pid)
    os.kill(everything[0].pid, signal.SIGSTOP)
    cluster.stop()
    until(lambda: gone(everything), "a frozen host outlives the stop")


def test_an_interrupted_stop_goes_on_without_its_caller(temporary) -> None:
    cluster = Cluster(1, 1, service=SERVICE).start()
    everything = family(cluster.status().tasks[-1].pid)
    os.kill(everything[0].pid, signal.SIGSTOP)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        cluster.stop()
    timer.join()
    assert not cluster.running
    os.kill(everything[0].pid, signal.SIGCONT)
    until(lambda: gone(everything), "processes outlive the stop")
    until(lambda: list(temporary.iterdir()) == [], "files outlive the stop")


def test_a_start_that_takes_too_long_is_torn_down(tmp_path, monkeypatch) -> None:
    begun = tmp_path / "begun"
    monkeypatch.setenv("PSLAB_TEST_BEGUN", str(begun))
    cluster = Cluster(1, 1, service="tests.cluster.services:Hangs", timeout=6.0)
    with pytest.raises(DeadlineExceededError, match="the cluster was not up in 6 s"):
        cluster.start()
    assert not cluster.running
    group = int(begun.read_text())
    until(lambda: not members(group), "what was started outlives the start that failed")


def members(group: int) -> list[int]:
    """Processes of a process group."""

    def belongs(pid: int) -> bool:
        try:
            return os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except (OSError, psutil.Error):
            return False

    return [pid for pid in psutil.pids() if belongs(pid)]


HOLDS = f"""
import threading
from pslab.cluster import Cluster
cluster = Cluster(1, 1, service={SERVICE!r}).start()
print(cluster.status().tasks[-1].pid, flush=True)
threading.Event().wait()
"""
ENDS = HOLDS.replace("threading.Event().wait()", "input()")
IS_INTERRUPTED = f"""
import threading
from pslab.cluster import Cluster
cluster = Cluster(1, 1, service={SERVICE!r}).start()
try:
    print("waits", flush=True)
    threading.Event().wait()
except KeyboardInterrupt:
    print(cluster.call("worker:0", "echo", value=7), flush=True)
    input()
"""
FORKS = HOLDS.replace(
    "print(",
    """
import os, sys
if (child := os.fork()) == 0:
    threading.Event().wait()
print(child, flush=True)
print(""",
    1,
)
STARTS = f"""
from pslab.cluster import Cluster
cluster = Cluster(1, 1, service="tests.cluster.services:Hangs")
try:
    cluster.start()
except KeyboardInterrupt:
    print("interrupted", cluster.running, flush=True)
    cluster = Cluster(1, 1, processes=False, service={SERVICE!r})
    with cluster:
        print("answers", cluster.call("ps:0", "echo", value=1), flush=True)
    input()
"""


@contextlib.contextmanager
def kernel(program: str, **environment: str):
    """A process that holds a cluster, as a notebook's kernel does; the leader of its process group."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    assert process.stdin is not None and process.stdout is not None
    with process.stdin, process.stdout:
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_kernel_is_ended(sent, temporary) -> None:
    with kernel(HOLDS) as process:
        everything = family(int(process.stdout.readline()))
        assert len(everything) == 5
        process.send_signal(sent)
        process.wait(DEADLINE_S)
        until(lambda: gone(everything), "processes outlive the kernel")
        until(lambda: list(temporary.iterdir()) == [], "files outlive the kernel")


def test_nothing_is_left_when_the_kernel_exits_without_a_stop(temporary) -> None:
    with kernel(ENDS) as process:
        everything = family(int(process.stdout.readline()))
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(DEADLINE_S) == 0
        until(lambda: gone(everything), "processes outlive the kernel")
        until(lambda: list(temporary.iterdir()) == [], "files outlive the kernel")


def test_nothing_is_left_when_a_fork_outlives_the_kernel(temporary) -> None:
    """It has inherited the pipe to the host."""
    with kernel(FORKS) as process:
        fork = psutil.Process(int(process.stdout.readline()))
        try:
            everything = family(int(process.stdout.readline()))
            process.kill()
            process.wait()
            until(lambda: gone(everything), "processes outlive the kernel")
            assert fork.is_running()
        finally:
            fork.kill()


def test_clusters_of_two_kernels_do_not_hang_together() -> None:
    with kernel(HOLDS) as first, kernel(HOLDS) as second:
        firsts, seconds = (family(int(process.stdout.readline())) for process in (first, second))
        first.kill()
        first.wait()
        until(lambda: gone(firsts), "processes outlive the kernel")
        assert all(p.is_running() for p in seconds)


def test_a_cluster_survives_an_interrupt_of_the_kernels_group() -> None:
    """As a notebook's stop button does it: to the whole process group."""
    with kernel(IS_INTERRUPTED) as process:
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "7\n"


def test_an_interrupted_start_is_torn_down(tmp_path, temporary) -> None:
    begun = tmp_path / "begun"
    with kernel(STARTS, PSLAB_TEST_BEGUN=str(begun)) as process:
        until(lambda: begun.exists() and begun.read_text(), "the start does not begin")
        group = int(begun.read_text())
        assert len(members(group)) >= 3
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted False\n"
        assert process.stdout.readline() == "answers 1\n"
        until(lambda: not members(group), "what was started outlives the interrupt")
        until(lambda: list(temporary.iterdir()) == [], "files outlive the interrupt")


INTERRUPTS_ITSELF = """
import os, signal, sys, threading
from pslab.cluster import Cluster
cluster = Cluster(1, 1, service={service!r})
timer = threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT))
try:
    timer.start()
    cluster.start()
    threading.Event().wait()
except KeyboardInterrupt:
    pass
print(cluster.running, flush=True)
cluster.stop()
print(flush=True)
input()
"""


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.3, 0.6])
def test_an_interrupt_at_any_moment_of_a_start_leaves_it_up_or_down(delay, temporary) -> None:
    with kernel(INTERRUPTS_ITSELF.format(service=SERVICE, delay=delay)) as process:
        assert process.stdout.readline() in {"True\n", "False\n"}
        assert process.stdout.readline() == "\n"
        until(lambda: gone(family(process.pid)[1:]), "what was started outlives the stop")
        until(lambda: list(temporary.iterdir()) == [], "files outlive the stop")

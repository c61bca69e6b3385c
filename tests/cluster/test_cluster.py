"""The cluster as its user holds it, in real processes: calls, crashes, scaling, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pslab.cluster import Cluster
from pslab.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnavailableError,
    UsageError,
)
from tests.cluster.processes import ROOT, SERVICE, family, gone
from tests.waiting import DEADLINE_S, until


def test_each_task_has_a_process_and_a_name(cluster) -> None:
    status = cluster.status()
    assert [t.name for t in status.tasks] == ["ps:0", "worker:0", "worker:1", "client:0"] == list(cluster.tasks)
    assert all(t.state == "running" and t.memory > 0 for t in status.tasks)
    assert len({t.pid for t in status.tasks}) == 4
    assert cluster.call_all("pid") == {t.name: t.pid for t in status.tasks}
    assert status.scheduler.startswith("tcp://127.0.0.1:")


def test_calls_bring_values_and_errors_back(cluster) -> None:
    assert cluster.call("worker:1", "echo", value={"a": (1, 2)}) == {"a": (1, 2)}
    assert cluster.call("worker:1", "echo", value=lambda: 7)() == 7
    with pytest.raises(InvalidArgumentError, match="cannot be meant"):
        cluster.call("ps:0", "fail")
    with pytest.raises(RuntimeError, match="Odd: very odd"):
        cluster.call("ps:0", "crash")
    with pytest.raises(AttributeError, match="no_such_method"):
        cluster.call("ps:0", "no_such_method")
    with pytest.raises(NotFoundError, match="no task 'worker:2'; there is ps:0, worker:0, worker:1, client:0"):
        cluster.call("worker:2", "pid")
    with pytest.raises(NotFoundError, match="no task 'worker:2'"):
        cluster.wait_for("worker:2", DEADLINE_S)


def test_an_error_says_where_it_happened(cluster) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        cluster.call("worker:0", "divide")
    (note,) = caught.value.__notes__
    assert note.startswith("In worker:0:")
    assert "return 1 / 0" in note


def test_tasks_find_each_other_and_share_a_secret(cluster) -> None:
    addresses = {t.name: t.address for t in cluster.status().tasks}
    for task in cluster.tasks:
        assert cluster.call("worker:0", "find", task=task) == addresses[task]
        assert cluster.call(task, "find", task="ps:0") == addresses["ps:0"]
    secrets = set(cluster.call_all("shared_secret").values())
    assert len(secrets) == 1
    assert len(secrets.pop()) == 32
    with pytest.raises(UnavailableError, match="there is no ps:7 now"):
        cluster.call("worker:0", "find", task="ps:7")


def test_tasks_compute_on_one_thread(cluster) -> None:
    assert set(cluster.call_all("environment", name="OMP_NUM_THREADS").values()) == {os.environ.get("OMP_NUM_THREADS", "1")}


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
    after = cluster.status().tasks[2]
    assert (after.name, after.state, after.restarts) == ("worker:1", "running", before.restarts + 1)
    assert after.pid != before.pid
    assert cluster.call("worker:1", "pid") == after.pid
    with pytest.raises(FailedPreconditionError, match="the client lives in the host process"):
        cluster.kill("client:0")
    with pytest.raises(NotFoundError, match="no task 'ps:1'"):
        cluster.kill("ps:1")


def test_a_task_that_is_lost_is_not_found_until_it_is_back(cluster) -> None:
    cluster.kill("ps:0")
    before = cluster.status().tasks[0]
    if before.state == "lost":  # it may be back already
        assert before.memory == 0
    cluster.wait_for("ps:0", DEADLINE_S)
    assert cluster.call("worker:0", "find", task="ps:0") == cluster.status().tasks[0].address


def test_a_call_under_way_learns_of_the_loss(cluster) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cluster.call, "worker:0", "wait_for_ever")
        until(lambda: cluster.call("worker:0", "keeps_somebody"), "the call does not get there")
        with pytest.raises(UnavailableError, match="worker:0 is not answering: it was lost before die was done"):
            cluster.call("worker:0", "die")
        with pytest.raises(UnavailableError, match="worker:0 is not answering: it was lost before wait_for_ever was done"):
            waiting.result(DEADLINE_S)
    cluster.wait_for("worker:0", DEADLINE_S)
    assert cluster.call("worker:0", "echo", value=1) == 1


def test_a_frozen_task_is_silent(cluster) -> None:
    pid = cluster.call("worker:0", "pid")
    caller = threading.Thread(target=lambda: cluster.call("worker:0", "freeze"))
    caller.start()
    try:
        until(lambda: cluster.status().tasks[1].state == "silent", "a frozen task still answers")
        with pytest.raises(DeadlineExceededError, match=r"worker:0 did not answer in 0\.1 s"):
            cluster.wait_for("worker:0", 0.1)
        assert cluster.call("worker:1", "echo", value=1) == 1
    finally:
        os.kill(pid, signal.SIGCONT)
    cluster.wait_for("worker:0", DEADLINE_S)
    caller.join(DEADLINE_S)
    assert cluster.call("worker:0", "pid") == pid


def test_scaling_starts_and_retires_tasks(cluster) -> None:
    kept = cluster.call("worker:0", "pid")
    retired = family(cluster.call("worker:1", "pid"))
    cluster.scale(ps=2, workers=1)
    assert set(cluster.call_all("pid")) == {"ps:0", "ps:1", "worker:0", "client:0"}
    assert cluster.call("worker:0", "pid") == kept
    until(lambda: gone(retired), "worker:1 was retired, and lives")
    with pytest.raises(UnavailableError, match="there is no worker:1 now"):
        cluster.call("ps:0", "find", task="worker:1")
    cluster.scale(ps=1, workers=2)
    assert set(cluster.call_all("pid")) == {"ps:0", "worker:0", "worker:1", "client:0"}
    with pytest.raises(UsageError, match="workers must be at least 1, found 0"):
        cluster.scale(workers=0)


def test_a_scaling_that_fails_leaves_all_as_it_was() -> None:
    with Cluster(1, 1, service="tests.cluster.services:OneWorker") as cluster:
        before = cluster.call_all("pid")
        with pytest.raises(InternalError, match="ValueError: one worker is enough"):
            cluster.scale(ps=2, workers=2)
        assert (cluster.ps, cluster.workers) == (1, 1)
        assert cluster.call_all("pid") == before == {t.name: t.pid for t in cluster.status().tasks}
        until(lambda: len(family(before["client:0"])) == 5, "host, resource tracker, fork server, ps:0 and worker:0 are what there is")
        cluster.scale(ps=2)
        assert cluster.call("ps:1", "echo", value=1) == 1


def test_scaling_beyond_the_memory_is_refused() -> None:
    with Cluster(1, 1, processes=True, memory_limit="700MB", service=SERVICE) as cluster:
        with pytest.raises(ResourceExhaustedError, match="10 tasks need about 1750 MB as processes, but there are 667 MB"):
            cluster.scale(workers=9)
        assert cluster.workers == 1


def test_a_second_start_changes_nothing(cluster) -> None:
    before = cluster.call_all("pid")
    assert cluster.start() is cluster
    assert cluster.call_all("pid") == before


def test_an_interrupted_call_tears_nothing(cluster) -> None:
    def interrupted(delay: float) -> None:
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        cluster.call("worker:0", "size", value=bytes(32 << 20))
        timer.join(DEADLINE_S)
        threading.Event().wait(DEADLINE_S)

    for delay in (0.0, 0.01, 0.05):
        with pytest.raises(KeyboardInterrupt):
            interrupted(delay)
        assert cluster.call("worker:0", "size", value=bytes(1 << 20)) == 1 << 20


def test_two_clusters_in_one_process_do_not_mix(cluster) -> None:
    with Cluster(2, 1, service=SERVICE) as other:
        assert not set(cluster.call_all("pid").values()) & set(other.call_all("pid").values())
        assert cluster.call("ps:0", "shared_secret") != other.call("ps:0", "shared_secret")
        with pytest.raises(UnavailableError, match="there is no ps:1 now"):
            cluster.call("worker:0", "find", task="ps:1")
        assert other.call("worker:0", "find", task="ps:1")
    assert cluster.call("worker:1", "echo", value=2) == 2


def test_the_process_that_holds_it_needs_no_dask() -> None:
    program = (
        f"import sys; from pslab.cluster import Cluster\nwith Cluster(1, 1, service={SERVICE!r}) as c: c.call_all('pid'), c.status()\n"
        "print('distributed' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("processes", [True, False])
def test_tasks_import_what_their_user_can(processes, tmp_path, monkeypatch) -> None:
    (tmp_path / "of_the_user.py").write_text(
        "from tests.cluster.services import Echo\n\nclass Mine(Echo):\n    def mine(self):\n        return __file__\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with Cluster(1, 1, processes=processes, service="of_the_user:Mine") as cluster:
        assert cluster.call_all("mine") == dict.fromkeys(cluster.tasks, str(tmp_path / "of_the_user.py"))


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
def test_what_cannot_be_meant_is_refused(make, error, message) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"service": "tests.cluster.services:Nothing"}, InternalError, "no attribute 'Nothing'"),
        ({"service": "tests.cluster.nothing:Echo"}, InternalError, "No module named 'tests.cluster.nothing'"),
        ({"service": "tests.cluster.services:Raises"}, InternalError, "ValueError: no luck today"),
        ({"service": "tests.cluster.services:Dies"}, InternalError, r"(?s)failed to start.*\n    so long, and thanks"),
        ({"service": "tests.cluster.services:Dies", "processes": False}, UnavailableError, "host process has ended\n    so long, and thanks"),
        ({"host": "203.0.113.7"}, UnavailableError, "cannot listen on 203.0.113.7"),
    ],
)
def test_what_cannot_be_started_is_told(options, error, message) -> None:
    cluster = Cluster(1, 1, **{"service": SERVICE, **options})
    with pytest.raises(error, match=message):
        cluster.start()
    assert not cluster.running
    cluster.stop()


def test_what_is_stopped_answers_no_more() -> None:
    cluster = Cluster(1, 1, processes=False, service=SERVICE).start()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cluster.call, "worker:0", "wait_for_ever")
        until(lambda: cluster.call("worker:0", "keeps_somebody"), "the call does not get there")
        cluster.stop()
        with pytest.raises(UnavailableError, match=r"the cluster was stopped|worker:0 is not answering"):
            waiting.result(DEADLINE_S)
    for use in (cluster.status, lambda: cluster.call("ps:0", "pid"), lambda: cluster.kill("ps:0"), lambda: cluster.scale(workers=2)):
        with pytest.raises(FailedPreconditionError, match="does not run"):
            use()
    assert repr(cluster) == "<pslab.Cluster ps=1 workers=1 stopped>"
    with cluster:  # it can be started again
        assert cluster.call("worker:0", "echo", value=3) == 3


def test_what_is_called_always_is_called_of_tasks_that_come_later_too(cluster) -> None:
    cluster.call_always("note", value="first")
    cluster.call_always("note", value="last")
    assert set(cluster.call_all("noted").values()) == {"last"}
    cluster.kill("worker:1")
    cluster.wait_for("worker:1")
    cluster.scale(workers=cluster.workers + 1)
    try:
        assert set(cluster.call_all("noted").values()) == {"last"}
    finally:
        cluster.scale(workers=cluster.workers - 1)

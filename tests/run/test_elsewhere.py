"""A program whose processes the workers of a Dask cluster start."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from pslab.errors import UnavailableError, UsageError
from pslab.run import elsewhere
from pslab.run.launcher import run_on_dask
from pslab.run.output import Output
from pslab.run.plan import plan_tasks
from pslab.run.processes import Ended
from tests.cluster.processes import gone
from tests.run.test_launcher import FOREVER, HEAD, SERVE
from tests.waiting import until


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def run(scheduler: str, where: Path, body: str, *arguments: str) -> tuple[int, list[str]]:
    """Exit status, and the lines that were printed."""
    script = where / "program.py"
    script.write_text(HEAD + body)
    console = Console(file=io.StringIO(), soft_wrap=True, highlight=False)
    status = run_on_dask(scheduler, script, arguments, 1, 2, True, Output(["ps:0", "worker:0", "worker:1"], console, console))
    return status, sorted(console.file.getvalue().splitlines())


def test_tasks_find_each_other_and_the_ps_ends_with_the_workers(scheduler: str, tmp_path: Path) -> None:
    body = """\
with tf.device("/job:ps/task:0"):
    v = tf.Variable(2.0, name="v")
sess = tf.Session(server.target)
sess.run(v.initializer)
print("value", sess.run(v), rest, os.path.basename(sys.argv[0]))
"""
    status, lines = run(scheduler, tmp_path, SERVE + body, "--rate")
    assert status == 0
    assert lines == ["ps:0     | serving", *(f"worker:{i} | value 2.0 ['--rate'] program.py" for i in range(2))]


def test_a_failure_is_told_and_ends_the_others(scheduler: str, tmp_path: Path) -> None:
    status, lines = run(scheduler, tmp_path, SERVE + "if args.task_index == 1:\n    sys.exit(5)\n" + FOREVER)
    assert status == 5
    assert "pslab: worker:1 failed with exit status 5" in lines
    assert "  worker:0 was running, and was ended" in lines


def test_nobody_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"cannot reach the Dask scheduler tcp://127\.0\.0\.1:9"):
        run("tcp://127.0.0.1:9", tmp_path, "")
    with pytest.raises(UsageError, match="1 worker or more"):
        run_on_dask("tcp://127.0.0.1:9", tmp_path / "program.py", [], 1, 0, False)


def test_processes_end_when_nobody_asks_for_them_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "ALONE_S", 1.0)
    (plan,) = plan_tasks({"worker": ["127.0.0.1:1"]}, [])
    elsewhere.on_worker_start("run", plan, "program.py", "import threading\nprint('up', flush=True)\nthreading.Event().wait()\n", False)
    process = psutil.Process(elsewhere._runs["run"].tasks["worker:0"].pid)
    until(lambda: gone([process]), "it is still there")
    events = []
    until(lambda: events.extend(elsewhere.on_worker_events("run")) or any(isinstance(e, Ended) for e in events), "its end was not told")
    elsewhere.on_worker_forget("run")
    with pytest.raises(UnavailableError, match="started anew"):
        elsewhere.on_worker_events("run")

"""``pslab run`` with real processes: how a program ends, and that nothing of it stays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pslab.errors import ResourceExhaustedError, UsageError
from pslab.run.launcher import run_program
from pslab.run.plan import TaskPlan
from pslab.run.processes import Ended, LocalProcess, events
from tests.cluster.processes import family, gone
from tests.waiting import until

LIMIT_S = 60

HEAD = """\
import argparse, os, sys, threading
import tensorflow as tf
parser = argparse.ArgumentParser()
for flag in ("ps_hosts", "worker_hosts", "job_name"):
    parser.add_argument("--" + flag)
parser.add_argument("--task_index", type=int)
args, rest = parser.parse_known_args()
cluster = tf.train.ClusterSpec({"ps": [h for h in args.ps_hosts.split(",") if h], "worker": args.worker_hosts.split(",")})
"""
SERVE = """\
server = tf.train.Server(cluster, args.job_name, args.task_index)
if args.job_name == "ps":
    print("serving", flush=True)
    server.join()
    print("never reached")
"""
FOREVER = "print('at work', flush=True)\nthreading.Event().wait()\n"


def command(where: Path, body: str, *options: str, arguments: tuple[str, ...] = ()) -> list[str]:
    (where / "program.py").write_text(HEAD + body)
    return [sys.executable, "-m", "pslab.cli", "run", "--tensorflow", *options, str(where / "program.py"), *arguments]


def run(where: Path, body: str, *options: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(where, body, *options, arguments=arguments), cwd=where, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


@contextmanager
def running(where: Path, body: str, lines: int) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A program that is at work in all its tasks, and all processes of it."""
    process = subprocess.Popen(command(where, body), cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    everybody: list[psutil.Process] = []
    try:
        for _ in range(lines):
            assert process.stdout.readline()
        everybody = family(process.pid)
        yield process, everybody
    finally:
        for one in everybody or family(process.pid):
            if one.is_running():
                one.kill()
        process.communicate()


def test_the_ps_ends_when_the_workers_are_done(tmp_path: Path) -> None:
    done = run(tmp_path, SERVE + "print('arguments', rest)\n", arguments=("--rate", "3"))
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert lines == ["ps:0     | serving", "worker:0 | arguments ['--rate', '3']", "worker:1 | arguments ['--rate', '3']"]


def test_a_worker_that_fails_ends_all_and_is_told_last(tmp_path: Path) -> None:
    done = run(tmp_path, SERVE + "if args.task_index == 1:\n    raise ValueError('out of luck')\n" + FOREVER)
    assert done.returncode == 1
    told = done.stderr[done.stderr.index("pslab:") :]
    assert told.startswith("pslab: worker:1 failed with exit status 1\n  ps:0 was running, and was ended\n  worker:0 was running, and was ended\n")
    trace = told.splitlines()[3:]
    assert trace[0] == "Traceback (most recent call last):"
    assert trace[1].endswith('program.py", line 15, in <module>')  # nothing of what started it is in between
    assert trace[-1] == "ValueError: out of luck"


def test_an_exit_status_is_passed_on(tmp_path: Path) -> None:
    done = run(tmp_path, "sys.exit(7 if args.job_name == 'worker' else 0)\n", "--workers", "1")
    assert done.returncode == 7
    assert "worker:0 failed with exit status 7" in done.stderr


def test_a_task_that_is_killed_is_told_by_its_signal(tmp_path: Path) -> None:
    with running(tmp_path, SERVE + FOREVER, 3) as (process, everybody):
        ps = next(p for p in everybody if "--job_name=ps" in p.cmdline())
        ps.kill()
        _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 128 + signal.SIGKILL
        assert "ps:0 was ended by SIGKILL" in err
        until(lambda: gone(everybody), "processes were left behind")


def test_ctrl_c_ends_everything(tmp_path: Path) -> None:
    with running(tmp_path, SERVE + FOREVER, 3) as (process, everybody):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130
        assert "interrupted" in err and "Traceback" not in err
        until(lambda: gone(everybody), "processes were left behind")


def test_a_task_that_does_not_heed_ctrl_c_is_killed(tmp_path: Path) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    with running(tmp_path, deaf + SERVE + FOREVER, 3) as (process, everybody):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 130
        assert re.search(r"ps:0, worker:0, worker:1: still there, and killed", err)
        until(lambda: gone(everybody), "processes were left behind")


def test_nothing_outlives_a_launcher_that_is_killed(tmp_path: Path) -> None:
    grandchild = "import subprocess\nsubprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
    with running(tmp_path, grandchild + SERVE + FOREVER, 3) as (process, everybody):
        assert len(everybody) >= 7
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: gone(everybody), "processes were left behind")


def test_what_a_task_has_started_ends_with_it(tmp_path: Path) -> None:
    done = run(tmp_path, "import subprocess\nprint(subprocess.Popen(['sleep', '60'], stdout=2).pid)\n", "--ps", "0", "--workers", "1")
    assert done.returncode == 0, done.stderr
    until(lambda: not psutil.pid_exists(int(done.stdout.split()[-1])), "a process was left behind")


def test_a_task_that_is_interrupted_as_it_starts_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('never reached')\n")
    for _ in range(5):
        told = events()
        plan = TaskPlan("worker", 0, (), {})
        LocalProcess(plan, str(tmp_path / "program.py"), False, told).interrupt()
        assert told.get(timeout=LIMIT_S) == Ended("worker:0", 128 + signal.SIGINT)


def test_one_who_prints_all_the_time_can_be_interrupted(tmp_path: Path) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    print('on and on')\n"
    with running(tmp_path, deaf, 3) as (process, everybody):
        reader = threading.Thread(target=process.stdout.read)  # type: ignore[union-attr]
        reader.start()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=LIMIT_S) == 130
        reader.join()
        until(lambda: gone(everybody), "processes were left behind")


def test_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(tmp_path, "print('x')\n"), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False
        )
    assert done.returncode == 1
    assert "pslab: [Errno 28] No space left on device" in done.stderr and "Traceback" not in done.stderr


def test_errors_of_ours_show_the_programs_line_and_no_more(tmp_path: Path) -> None:
    done = run(tmp_path, "tf.reduce_men\n", "--workers", "1", "--ps", "0")
    told = done.stderr[done.stderr.index("pslab:") :].splitlines()
    assert told[-1] == "AttributeError: pslab has no tf.reduce_men; did you mean tf.reduce_mean?"
    assert [line for line in told if "File" in line] == [f'  File "{tmp_path}/program.py", line 9, in <module>']


def test_a_port_in_use_and_a_task_that_is_not_there_are_named(tmp_path: Path) -> None:
    twice = "tf.train.Server(cluster, 'worker', 0)\nthreading.Event().wait()\n"
    done = run(tmp_path, twice, "--ps", "0", "--workers", "2")
    assert done.returncode == 1
    assert re.search(r"AlreadyExistsError: .*127\.0\.0\.1:\d+.* in use", done.stderr)
    done = run(tmp_path, "tf.train.Server(cluster, 'worker', 5)\n", "--ps", "0", "--workers", "1")
    assert re.search(r"NotFoundError: .*worker.*5", done.stderr)


def test_a_peer_that_is_late_is_waited_for_and_named(tmp_path: Path) -> None:
    late = """\
if args.job_name == "ps":
    while not os.path.exists("go"):
        threading.Event().wait(0.05)
"""
    step = """\
threading.Timer(6, lambda: open("go", "w")).start()
with tf.device("/job:ps/task:0"):
    v = tf.Variable(1.0)
with tf.Session(server.target) as sess:
    sess.run(tf.global_variables_initializer())
    print("value", sess.run(v))
"""
    done = run(tmp_path, late + SERVE + step, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert re.search(r"worker:0 waits for ps:0, which does not answer at 127\.0\.0\.1:\d+", done.stderr)
    assert "worker:0 | value 1.0" in done.stdout


def test_python_2_is_not_even_started(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import os\nprint 'x'\n")
    done = subprocess.run(
        [sys.executable, "-m", "pslab.cli", "run", "old.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("pslab: old.py:2 is Python 2: print 'x'\n")


@pytest.mark.parametrize(("ps", "workers"), [(1, 0), (-1, 1)])
def test_there_is_a_worker_at_least(ps: int, workers: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="1 worker or more"):
        run_program(tmp_path / "program.py", [], ps, workers, as_tensorflow=False)


def test_a_worker_that_only_serves_says_that_it_does_not_end(tmp_path: Path) -> None:
    body = "tf.train.Server(cluster, args.job_name, args.task_index).join()\n"
    process = subprocess.Popen(command(tmp_path, body, "--workers", "1"), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        told = process.stderr.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert told == "worker:0 | worker:0 serves in Server.join(), and does not end by itself; only a ps does, when the workers are done\n"
    assert process.returncode == 130


def test_more_tasks_than_there_can_be_are_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("pass\n")
    with pytest.raises(ResourceExhaustedError, match=r"1000000001 processes need \d+ MB at the least, but there are \d+ MB") as told:
        run_program(tmp_path / "program.py", [], 1, 10**9, as_tensorflow=False)
    assert told.value.hint == "fewer tasks"


@pytest.mark.parametrize(("files", "what"), [(20, r"find 30 free ports"), (45, r"start (ps|worker):\d+")])
def test_what_the_system_does_not_give_is_told(files: int, what: str, tmp_path: Path) -> None:
    limited = f"import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files})); from pslab.cli import main; sys.exit(main())"
    (tmp_path / "program.py").write_text("import threading\nthreading.Event().wait()\n")
    command = [sys.executable, "-c", limited, "run", "--workers", "29", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert re.fullmatch(rf"pslab: cannot {what}: Too many open files\n  hint: fewer tasks, or higher limits \(ulimit -n, ulimit -u\)\n", done.stderr)


def test_a_wait_that_lasts_is_told(tmp_path: Path) -> None:
    """A worker whose chief never comes, and an op that nobody lets go on, say what they wait for."""
    body = """\
with tf.device("/job:ps/task:0"):
    v = tf.Variable(1.0)
    queue = tf.FIFOQueue(1, tf.int32, shared_name="empty", name="empty")
if args.task_index == 0:
    tf.Session(server.target).run(queue.dequeue())
tf.train.MonitoredTrainingSession(server.target, is_chief=False)
"""
    process = subprocess.Popen(command(tmp_path, SERVE + body), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    everybody: list[psutil.Process] = []
    try:
        told = [process.stderr.readline() for _ in range(2)]
        everybody = family(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
    assert told[0] == "worker:1 | waiting for the chief (task 0) to initialize or restore the model\n"
    assert re.fullmatch(r"ps:0     \| .*(Dequeue|RosterWait).* has been waiting for 10 s\n", told[1])
    until(lambda: gone(everybody), "processes were left behind")


def test_a_task_that_is_ended_while_it_says_why_it_failed_leaves_it_at_that(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""\
import os, signal, sys
class Ended:
    def find_spec(self, name, path=None, target=None):
        if name == "pslab.run.report":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Ended())
1 / 0
""")
    command = [sys.executable, "-m", "pslab.run.child", str(program)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert child.stdin is not None
    assert child.stderr is not None
    with child, child.stderr:  # its standard input stays open as long as it runs: that is its tie
        assert child.wait(LIMIT_S) == 128 + signal.SIGINT
        assert child.stderr.read() == ""

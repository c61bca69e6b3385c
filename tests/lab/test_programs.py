"""%%pslab run and %%pslab on, in a real IPython shell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

PROGRAM = """\
import argparse, helper
import tensorflow as tf
parser = argparse.ArgumentParser()
for flag in ("ps_hosts", "worker_hosts", "job_name", "rate"):
    parser.add_argument("--" + flag)
parser.add_argument("--task_index", type=int)
args = parser.parse_args()
server = tf.train.Server({"ps": args.ps_hosts.split(","), "worker": args.worker_hosts.split(",")}, args.job_name, args.task_index)
if args.job_name == "ps":
    server.join()
print(helper.WORD, args.rate, tf.__version__)
"""


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")
    yield shell
    shell.user_ns["lab"].cluster.stop()


@pytest.fixture
def say(shell, capsys, tmp_path, monkeypatch):
    """Run a cell in a directory that has a module; what was shown, without colours."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helper.py").write_text("WORD = 'hello'\n")

    def run(cell: str) -> list[str]:
        capsys.readouterr()
        shell.run_cell(cell)
        shown = capsys.readouterr()
        return sorted(re.sub(r"\x1b\[[\d;]*m", "", shown.out + shown.err).splitlines())

    return run


def test_a_cell_is_a_program(say) -> None:
    assert say(f"%%pslab run --tensorflow -- --rate 3\n{PROGRAM}") == ["worker:0 | hello 3 1.15.5", "worker:1 | hello 3 1.15.5"]


def test_a_script_is_one_too(say, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    assert say("%pslab run --workers 1 --tensorflow program.py --rate 4") == ["worker:0 | hello 4 1.15.5"]


def test_a_failure_is_shown_in_two_lines_after_the_programs_own(say) -> None:
    lines = say("%%pslab run --ps 0 --workers 1\n1 / 0")
    assert "worker:0 | ZeroDivisionError: division by zero" in lines
    assert "AbortedError: the program has failed with exit status 1" in lines
    assert not any("magics.py" in line for line in lines)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%%pslab run\nprint 'x'", "is Python 2: print 'x'"),
        ("%pslab run", "UsageError: run what?"),
        ("%pslab on worker", "UsageError: on runs a cell"),
        ("%%pslab status\nx", "UsageError: %pslab status takes no cell"),
        ("%%pslab on worker\n1", "FailedPreconditionError: there is no cluster"),
    ],
)
def test_what_cannot_be_meant_is_told(say, cell: str, line: str) -> None:
    assert any(line in shown for shown in say(cell))


def test_a_cell_runs_on_workers(say) -> None:
    say("%pslab cluster start --threads")
    assert say("%%pslab on worker\nprint(task_index)") == ["worker:0 | 0", "worker:1 | 1"]
    assert say("%%pslab on worker:1\ntask_index * 10") == ["worker:1 | 10"]


def test_a_task_has_one_colour_whoever_else_prints(shell, capsys) -> None:
    shell.run_cell("%pslab cluster start --threads")
    capsys.readouterr()
    found = []
    for head in ("run --tensorflow", "on worker", "on worker:1"):
        shell.run_cell(f"%%pslab {head}\nprint('here')")
        found += re.findall(r"(\x1b\[\d+m)worker:1", capsys.readouterr().out)
    assert len(found) == 3
    assert len(set(found)) == 1

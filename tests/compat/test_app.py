"""``tf.app.run``: flags, ``main``, and the exit status."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pslab.compat import app, flags
from pslab.compat.flags import FlagValues


@pytest.fixture(autouse=True)
def values(monkeypatch: pytest.MonkeyPatch) -> FlagValues:
    """Fresh flags with one of their own."""
    fresh = FlagValues()
    monkeypatch.setattr(flags, "FLAGS", fresh)
    flags.DEFINE_integer("steps", 5, "How many steps")
    return fresh


def run(main=None, argv=None) -> object:
    """The exit status."""
    with pytest.raises(SystemExit) as caught:
        app.run(main, argv)
    return caught.value.code


def test_main_gets_what_is_no_flag(values: FlagValues) -> None:
    seen = []
    assert run(lambda argv: seen.append((argv, values.steps)), ["p", "--steps=7", "rest", "--foreign=1"]) is None
    assert seen == [(["p", "rest", "--foreign=1"], 7)]


def test_what_main_returns_is_the_status() -> None:
    assert run(lambda argv: 3, ["p"]) == 3


def test_by_default_it_is_the_programs_main_and_command_line(monkeypatch: pytest.MonkeyPatch, values: FlagValues) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "main", lambda argv: values.steps + len(argv), raising=False)
    monkeypatch.setattr(sys, "argv", ["p", "--steps=2", "rest"])
    assert run() == 4


def test_a_flag_that_cannot_be_parsed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lambda argv: pytest.fail("it ran"), ["p", "--steps=many"]) == 1
    assert "FATAL Flags parsing error: flag --steps=many" in capsys.readouterr().err


@pytest.mark.parametrize("ask", ["--help", "-h"])
def test_help_tells_of_the_flags_and_runs_nothing(ask: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(lambda argv: pytest.fail("it ran"), ["p", ask]) == 0
    assert "How many steps" in capsys.readouterr().out


def test_an_error_of_main_is_the_programs() -> None:
    def main(argv: list[str]) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        app.run(main, ["p"])


def test_a_program_that_reads_a_flag_before_it_runs() -> None:
    program = """
import pslab as tf
tf.app.flags.DEFINE_string("job_name", "", "ps or worker")
FLAGS = tf.app.flags.FLAGS
print(FLAGS.job_name)
def main(unused_argv):
    print(FLAGS.job_name, unused_argv[1:])
if __name__ == "__main__":
    tf.app.run()
"""
    done = subprocess.run([sys.executable, "-c", program, "--job_name=ps", "x"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "ps\nps ['x']\n"

"""Tracebacks of programs: their own lines, and no insides of ours."""

from __future__ import annotations

import linecache

import pytest

from pslab.run.report import program_traceback

FILE = "<program>"


def report(source: str) -> list[str]:
    """What is reported of a program that fails."""
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    with pytest.raises(Exception) as caught:
        exec(compile(source, FILE, "exec"), {})
    return program_traceback(caught.value, FILE).splitlines()


def files(lines: list[str]) -> list[str]:
    return [line.split('"')[1] for line in lines if line.startswith("  File")]


def test_it_begins_with_the_program() -> None:
    lines = report("def f():\n    return 1 / 0\nf()")
    assert files(lines) == [FILE, FILE]
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_an_error_of_ours_ends_where_the_program_called_us() -> None:
    source = "import pslab as tf\nwith tf.Session() as sess:\n    sess.run(tf.check_numerics(tf.log(tf.constant(-1.0)), 'bad'))"
    lines = report(source)
    assert files(lines) == [FILE]
    assert "direct cause" not in "\n".join(lines)
    assert any(line.startswith("pslab.errors.InvalidArgumentError: bad") for line in lines)


def test_an_error_in_what_the_program_gave_us_shows_how_it_came_there() -> None:
    lines = report(
        "import pslab as tf\ndef step(context):\n    raise ValueError('mine')\nwith tf.train.MonitoredSession() as s:\n    s.run_step_fn(step)"
    )
    assert files(lines)[0] == files(lines)[-1] == FILE


def test_what_is_of_python_2_is_said_so() -> None:
    assert report("xrange(3)")[-1] == "xrange is of Python 2; in Python 3 it is range"


def test_an_import_that_the_alias_refuses_ends_with_the_programs_line() -> None:
    lines = report("from pslab.compat.alias import _Finder\n_Finder().find_spec('tensorflow.contrib.slim')")
    assert files(lines) == [FILE]
    assert lines[-1].startswith("ImportError: pslab, which stands in for TensorFlow here, has no 'tensorflow.contrib.slim': slim is not built")


def test_an_import_that_fails_elsewhere_is_shown_whole() -> None:
    lines = report("import importlib\nimportlib.import_module('nowhere_at_all')")
    assert len(files(lines)) > 1

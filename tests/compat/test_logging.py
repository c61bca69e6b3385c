"""Logging by levels, places and numbers of calls."""

from __future__ import annotations

import logging as python_logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pslab.compat import logging


@pytest.fixture(autouse=True)
def _info() -> Iterator[None]:
    logger = python_logging.getLogger("pslab.program")
    level, handlers, propagate = logger.level, list(logger.handlers), logger.propagate
    logger.propagate = True
    logging.set_verbosity(logging.INFO)
    yield
    logger.setLevel(level)
    logger.handlers, logger.propagate = handlers, propagate


def test_levels_are_tensorflows() -> None:
    assert (logging.DEBUG, logging.INFO, logging.WARN, logging.ERROR, logging.FATAL) == (10, 20, 30, 40, 50)


def test_what_is_below_the_verbosity_is_not_written(caplog: pytest.LogCaptureFixture) -> None:
    for write in (logging.debug, logging.info, logging.warn, logging.warning, logging.error, logging.fatal):
        write("step %d", 3)
    assert [r.levelno for r in caplog.records] == [20, 30, 30, 40, 50]
    assert {r.getMessage() for r in caplog.records} == {"step 3"}
    assert logging.get_verbosity() == logging.INFO


def test_a_verbosity_by_name_and_a_level_as_number(caplog: pytest.LogCaptureFixture) -> None:
    logging.set_verbosity("ERROR")
    logging.log(logging.WARN, "no")
    logging.vlog(45, "yes")
    assert (logging.get_verbosity(), [r.getMessage() for r in caplog.records]) == (40, ["yes"])


def test_log_if(caplog: pytest.LogCaptureFixture) -> None:
    logging.log_if(logging.INFO, "no", False)
    logging.log_if(logging.INFO, "value %s", True, 1)
    assert caplog.messages == ["value 1"]


def test_every_nth_of_a_place(caplog: pytest.LogCaptureFixture) -> None:
    for i in range(7):
        logging.log_every_n(logging.INFO, "n %d", 3, i)
        logging.log_every_n(logging.INFO, "other %d", 6, i)
    assert caplog.messages == ["n 0", "other 0", "n 3", "n 6", "other 6"]


def test_the_first_n_of_a_place(caplog: pytest.LogCaptureFixture) -> None:
    for i in range(5):
        logging.log_first_n(logging.INFO, "first %d", 2, i)
    assert caplog.messages == ["first 0", "first 1"]


@pytest.mark.parametrize("write", ["info('x')", "log_if(logging.INFO, 'x', True)", "log(logging.INFO, 'x')", "log_first_n(logging.INFO, 'x', 1)"])
def test_a_record_names_the_place_of_the_call(write: str, caplog: pytest.LogCaptureFixture) -> None:
    exec(compile(f"logging.{write}", "program.py", "exec"), {"logging": logging})
    assert [(r.filename, r.lineno) for r in caplog.records] == [("program.py", 1)]


def test_a_program_that_sets_nothing_up_sees_warnings_on_standard_error() -> None:
    program = "from pslab.compat import logging\nlogging.info('no')\nlogging.warn('loss %.1f', 0.5)\nlogging.set_verbosity(logging.INFO)\nlogging.info('yes')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "WARNING:loss 0.5\nINFO:yes\n")


def test_a_program_that_logs_its_own_way_is_left_to_it() -> None:
    program = (
        "import logging as own, sys\nown.basicConfig(stream=sys.stdout, format='mine %(message)s', level=own.INFO)\n"
        "from pslab.compat import logging\nlogging.info('yes')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("mine yes\n", "")

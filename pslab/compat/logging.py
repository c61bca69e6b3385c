"""Logging (TensorFlow 1's ``tf.logging``), by Python's own ``logging``."""

from __future__ import annotations

import itertools
import logging as python_logging
import sys
from collections import defaultdict
from collections.abc import Iterator
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from types import FrameType
from typing import Any

__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "WARN"]  # and what is defined below

_logger = python_logging.getLogger("pslab.program")
_counts: defaultdict[tuple[str, int], Iterator[int]] = defaultdict(itertools.count)


def _with_handler() -> python_logging.Logger:
    """The logger; it writes to standard error unless the program has set logging up itself."""
    if not _logger.handlers and not python_logging.getLogger().handlers:
        handler = python_logging.StreamHandler(sys.stderr)
        handler.setFormatter(python_logging.Formatter("%(levelname)s:%(message)s"))
        _logger.addHandler(handler)
        _logger.propagate = False
    return _logger


def set_verbosity(v: int | str) -> None:
    """Write messages of this level and above: ``DEBUG``, ``INFO``, ``WARN``, ``ERROR`` or ``FATAL``."""
    _with_handler().setLevel(v)


def get_verbosity() -> int:
    """The level from which on messages are written."""
    return _logger.getEffectiveLevel()


def log(level: int, msg: str, *args: Any) -> None:
    """Write ``msg % args``."""
    depth, _ = _caller()
    _with_handler().log(level, msg, *args, stacklevel=depth)


def debug(msg: str, *args: Any) -> None:
    """Write a message of level ``DEBUG``."""
    log(DEBUG, msg, *args)


def info(msg: str, *args: Any) -> None:
    """Write a message of level ``INFO``."""
    log(INFO, msg, *args)


def warning(msg: str, *args: Any) -> None:
    """Write a message of level ``WARN``."""
    log(WARN, msg, *args)


warn = warning


def error(msg: str, *args: Any) -> None:
    """Write a message of level ``ERROR``."""
    log(ERROR, msg, *args)


def fatal(msg: str, *args: Any) -> None:
    """Write a message of level ``FATAL``. As with TensorFlow, the program goes on."""
    log(FATAL, msg, *args)


def vlog(level: int, msg: str, *args: Any) -> None:
    """Write a message of a level given as a number."""
    log(level, msg, *args)


def log_if(level: int, msg: str, condition: bool, *args: Any) -> None:
    """Write if ``condition`` holds."""
    if condition:
        log(level, msg, *args)


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Write at the first of every ``n`` calls from one place."""
    log_if(level, msg, next(_counts[_place()]) % n == 0, *args)


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Write at the first ``n`` calls from one place."""
    log_if(level, msg, next(_counts[_place()]) < n, *args)


def flush() -> None:
    """Write what is held back."""
    for handler in _logger.handlers:
        handler.flush()


def _place() -> tuple[str, int]:
    _, frame = _caller()
    return frame.f_code.co_filename, frame.f_lineno


def _caller() -> tuple[int, FrameType]:
    """The frame of the program that called, and how many steps it lies above the function that asks."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    return depth, frame

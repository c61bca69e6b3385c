"""Errors as a program's author wants to see them: from the program's own lines on, and no further than into pslab."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from types import TracebackType

from pslab.errors import PslabError
from pslab.run.source import python_2_hint

_OURS = str(Path(__file__).resolve().parents[1])
_LIBRARIES = (_OURS, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), "<pslab", "<frozen")
"""What the files of everything that is not the program's own begin with."""


def program_traceback(error: BaseException, file: str) -> str:
    """The traceback of an error that came out of a program.

    Args:
        error: the error.
        file: what Python knows the program's source by.
    """
    hint = python_2_hint(error)
    if hint is not None:
        error.add_note(hint)
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    if trace is not None and _says_it_all(error):
        _end_with_the_program(trace)
        error.__cause__, error.__suppress_context__ = None, True
    elif trace is None and not isinstance(error, SyntaxError):  # of the program's own syntax the error says where
        trace = error.__traceback__
    return "".join(traceback.format_exception(error.with_traceback(trace)))


def _says_it_all(error: BaseException) -> bool:
    """Whether it is an error of ours that says what was wrong, so that our insides need not be seen."""
    of_the_alias = isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "tensorflow"
    return of_the_alias or isinstance(error, PslabError | AttributeError)


def _end_with_the_program(trace: TracebackType) -> None:
    last = step = trace
    while step.tb_next is not None:
        step = step.tb_next
        if not step.tb_frame.f_code.co_filename.startswith(_LIBRARIES):
            last = step
    last.tb_next = None

"""The process of one task: ``python -m pslab.run.child [--tensorflow] SCRIPT ARGS…``.

Its standard input is its tie to the launcher. A line ``end`` says that the workers are done, which ends a server's ``join()``. At its end, whatever the
reason, the launcher is gone, and so is this process with all that it has started.
"""

from __future__ import annotations

import os
import signal

signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))  # until the program begins, there is nothing to clean up
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the launcher holds it back until here

import logging  # noqa: E402
import runpy  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import BinaryIO  # noqa: E402


def main() -> int:
    """Run the program; returns its exit status."""
    _hold_on()
    as_tensorflow = sys.argv[1] == "--tensorflow"
    script, *arguments = sys.argv[2:] if as_tensorflow else sys.argv[1:]
    if as_tensorflow:
        from pslab.compat import alias

        alias.install()
    import numpy  # noqa: F401 (before the program is: interrupted, its import says that NumPy is broken)

    _tell_of_long_waits()
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).resolve().parent)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _run(script)
    except KeyboardInterrupt:  # also while it says why it failed: another task that failed first is told of
        return 128 + signal.SIGINT


def _run(script: str) -> int:
    try:
        runpy.run_path(script, run_name="__main__")
    except Exception as error:
        from pslab.run.report import program_traceback

        sys.stderr.write(program_traceback(error, script))
        return 1
    return 0


def _tell_of_long_waits() -> None:
    """Nothing is to hang without saying what it waits for, whatever the program logs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    waiting = logging.getLogger("pslab.waiting")
    waiting.addHandler(handler)
    waiting.setLevel(logging.INFO)
    waiting.propagate = False


def _hold_on() -> None:
    """Watch the tie in a thread; the program itself reads nothing from it."""
    tie = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(tie,), name="pslab-tie", daemon=True).start()


def _watch(tie: BinaryIO) -> None:
    from pslab.run.tie import END

    for line in tie:
        if line == END.encode():
            from pslab.runtime.server import end_joining

            end_joining()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())

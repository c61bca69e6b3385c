"""The host process of a cluster, as its parent sees it."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import IO, Any, BinaryIO, cast

from pslab.cluster.options import HostOptions
from pslab.cluster.pipe import FrameWriter, read_frame
from pslab.errors import DeadlineExceededError, InternalError, UnavailableError

STOP_S = 15.0
LAST_LINES = 12


class HostProcess:
    """A process that hosts a cluster, asked over its standard input and answering on its standard output."""

    def __init__(self, options: HostOptions) -> None:
        self._options = options
        self._log: IO[bytes] = tempfile.TemporaryFile("a+b", prefix="pslab-host-")  # noqa: SIM115
        self._directory = tempfile.mkdtemp(prefix="pslab-")
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: FrameWriter | None = None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._start: Future[str] = Future()
        self._waiting: dict[int, Future[Any]] = {0: self._start}
        self._ended = False
        self._closing = False

    def start(self, timeout: float) -> str:
        """Start it, and wait until its cluster is up; returns the scheduler's address.

        Raises:
            DeadlineExceededError: it was not up in ``timeout`` seconds.
            PslabError: it could not be brought up.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pslab.cluster.host", self._directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},  # tasks import what this process can
        )
        self._requests = FrameWriter(cast(BinaryIO, self._process.stdin))
        threading.Thread(target=self._read, args=(self._process.stdout,), name="pslab cluster", daemon=True).start()
        self._requests.write(self._options)
        try:
            return self._start.result(timeout)
        except FutureTimeout:
            raise DeadlineExceededError(f"the cluster was not up in {timeout:g} s{self._last_lines()}") from None
        except InternalError as error:
            raise InternalError(f"{error.message}{self._last_lines()}") from None

    def ask(self, verb: str, *arguments: Any) -> Future[Any]:
        """Ask for something; the answer comes as a future.

        Raises:
            UnavailableError: it has ended.
        """
        assert self._requests is not None
        answer: Future[Any] = Future()
        with self._lock:
            if self._ended:
                raise self._gone()
            number = next(self._numbers)
            self._waiting[number] = answer
        self._requests.write((number, verb, arguments))
        return answer

    def close(self) -> None:
        """End it: by the end of its input, and by force if that takes too long. Where the caller is interrupted, it goes on without it."""
        self._closing = True
        if self._requests is not None:
            self._requests.close()
        ending = threading.Thread(target=self._end, name="pslab cluster ends", daemon=True)
        ending.start()
        ending.join()

    def _end(self) -> None:
        if self._process is not None:
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        shutil.rmtree(self._directory, ignore_errors=True)
        self._log.close()

    def _read(self, answers: BinaryIO) -> None:
        with answers:
            try:
                while True:
                    number, value, error = read_frame(answers)
                    with self._lock:
                        answer = self._waiting.pop(number)
                    if error is not None:
                        answer.set_exception(error)
                    else:
                        answer.set_result(value)
            except (EOFError, OSError):
                with self._lock:
                    self._ended = True
                    waiting, self._waiting = self._waiting, {}
                for answer in waiting.values():
                    answer.set_exception(self._gone())

    def _gone(self) -> UnavailableError:
        if self._closing:
            return UnavailableError("the cluster was stopped")
        return UnavailableError(f"the cluster's host process has ended{self._last_lines()}", "stop the cluster, and start it again")

    def _last_lines(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").rstrip().splitlines()[-LAST_LINES:]
        return "".join(f"\n    {line}" for line in lines)

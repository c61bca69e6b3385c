"""The tasks' processes on this machine."""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Protocol

from pslab.errors import ResourceExhaustedError
from pslab.run.plan import TaskPlan
from pslab.run.tie import END

_DRAIN_S = 2.0
_HELD = 1000
_PORTS = range(15_000, 30_000)
"""Below those that systems hand out by themselves, so that no connection of anybody's takes a port before its task listens there."""


@dataclass(frozen=True)
class Printed:
    """A task has printed a line."""

    task: str
    text: str
    error: bool


@dataclass(frozen=True)
class Ended:
    """A task's process has ended; a signal that ended it is a negative status."""

    task: str
    status: int


Events = queue.Queue[Printed | Ended]


def events() -> Events:
    """Room for what tasks do. Where it is full they wait, as for a terminal: what they print is not heaped up here."""
    return queue.Queue(_HELD)


class Running(Protocol):
    """A task's process, wherever it is. What it does is told as `Printed` and `Ended` events."""

    plan: TaskPlan

    def workers_are_done(self) -> None:
        """Let a server's ``join()`` in it end."""

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""

    def kill(self) -> None:
        """End it, and what it has started."""


class LocalProcess:
    """A task's process on this machine.

    Args:
        plan: what it is started with.
        script: the program.
        as_tensorflow: whether ``import tensorflow`` in it means pslab.
        events: where it is told what happens.

    Attributes:
        pid: of the process.

    Raises:
        ResourceExhaustedError: the system does not start another.
    """

    def __init__(self, plan: TaskPlan, script: str, as_tensorflow: bool, events: Events) -> None:
        self.plan = plan
        self._events = events
        command = [sys.executable, "-m", "pslab.run.child", *(["--tensorflow"] if as_tensorflow else []), script, *plan.arguments]
        with _as_exhausted(f"start {plan.name}"), _interrupts_held():
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env={"OMP_NUM_THREADS": "1", **os.environ, **plan.environment},
                start_new_session=True,  # Ctrl-C reaches the launcher alone, which decides
            )
        self.pid = self._process.pid
        assert self._process.stdout is not None and self._process.stderr is not None
        readers = [
            threading.Thread(target=self._read, args=(pipe, error), daemon=True)
            for pipe, error in ((self._process.stdout, False), (self._process.stderr, True))
        ]
        for reader in readers:
            reader.start()
        threading.Thread(target=self._reap, args=(readers,), daemon=True).start()

    def workers_are_done(self) -> None:
        """Let a server's ``join()`` in it end."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(END)
            self._process.stdin.flush()

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End it, and what it has started."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _read(self, pipe: IO[str], error: bool) -> None:
        with pipe:
            for line in pipe:
                self._events.put(Printed(self.plan.name, line.rstrip("\n"), error))

    def _reap(self, readers: Sequence[threading.Thread]) -> None:
        status = self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # what it has started ends with it
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        for reader in readers:
            reader.join(_DRAIN_S)  # what has left its group may still hold the pipes
        self._events.put(Ended(self.plan.name, status))


def free_addresses(count: int, host: str = "127.0.0.1") -> list[str]:
    """``host:port`` of so many ports that nobody listens on.

    Raises:
        ResourceExhaustedError: there are not so many.
    """
    addresses: list[str] = []
    with _as_exhausted(f"find {count} free ports"), ExitStack() as held:
        for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
            if len(addresses) == count:
                break
            try:
                held.enter_context(socket.create_server((host, port)))
            except OSError as error:
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
            else:
                addresses.append(f"{host}:{port}")
    if len(addresses) < count:
        raise ResourceExhaustedError(f"{count} tasks need a port each, but {host} has {len(addresses)} that are free", "start fewer tasks")
    return addresses


@contextmanager
def _as_exhausted(action: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResourceExhaustedError(f"cannot {action}: {error.strerror}", "fewer tasks, or higher limits (ulimit -n, ulimit -u)") from None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """What is started within begins with SIGINT blocked; `pslab.run.child` lets it through as soon as it can answer."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)

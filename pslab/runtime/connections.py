"""Channels to other tasks, kept open between steps."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pslab.errors import CancelledError
from pslab.runtime.transport import Channel

Dial = Callable[[str, Callable[[], bool]], Channel]
"""From a task's name to a new channel to its server; raises `UnavailableError`. It may wait for the server as long as the function given to it says that
somebody wants the channel."""


class Connection:
    """A channel to a task.

    Attributes:
        channel: the channel.
        plans: ids of the plans whose partition for that task was registered on this channel.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.plans: set[int] = set()


class Connections:
    """A pool of connections by task. Each is used by one thread at a time.

    Attributes:
        closed: whether `close` was called. No step waits any more then.
        cancellations: how often those in use were closed. A step that began before the last of these is given up, even if it needs no connection.
    """

    def __init__(self, dial: Dial) -> None:
        self.cancellations = 0
        self._dial = dial
        self._lock = threading.Lock()
        self._idle: defaultdict[str, list[Connection]] = defaultdict(list)
        self._busy: set[Connection] = set()
        self.closed = False

    def acquire(self, task: str) -> Connection:
        """An idle connection to ``task``, or a new one.

        Raises:
            UnavailableError: the task cannot be reached.
            CancelledError: the pool is closed.
        """
        connection = self._pop(task)
        if connection is None:
            before = self.cancellations
            connection = Connection(self._dial(task, lambda: self.cancellations == before))
            with self._lock:
                self._busy.add(connection)
        if self.closed:
            self.discard(connection)
            raise CancelledError("the session is closed")
        return connection

    def _pop(self, task: str) -> Connection | None:
        while True:
            with self._lock:
                if not self._idle[task]:
                    return None
                connection = self._idle[task].pop()
                self._busy.add(connection)
            if connection.channel.alive():
                return connection
            self.discard(connection)

    def release(self, task: str, connection: Connection) -> None:
        """Give a connection back for the next user."""
        with self._lock:
            self._busy.discard(connection)
            if not self.closed:
                self._idle[task].append(connection)
                return
        connection.channel.close()

    def discard(self, connection: Connection) -> None:
        """Close a connection; the task gives up what it did for it."""
        with self._lock:
            self._busy.discard(connection)
        connection.channel.close()

    @contextmanager
    def borrow(self, task: str) -> Iterator[Connection]:
        """A connection for the length of a block; closed if the block fails."""
        connection = self.acquire(task)
        try:
            yield connection
        except BaseException:
            self.discard(connection)
            raise
        self.release(task, connection)

    def cancel(self) -> None:
        """Close the connections in use, so that their users fail."""
        with self._lock:
            self.cancellations += 1
            busy = list(self._busy)
        for connection in busy:
            connection.channel.close()

    def close(self) -> None:
        """Close everything."""
        with self._lock:
            self.closed = True
            idle = [c for connections in self._idle.values() for c in connections]
            self._idle.clear()
        for connection in idle:
            connection.channel.close()
        self.cancel()

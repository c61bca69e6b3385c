"""The servers of this process, by the targets that sessions name them by."""

from __future__ import annotations

import threading

from pslab.runtime.task_server import TaskServer

_servers: dict[str, TaskServer] = {}
_lock = threading.Lock()


def publish(target: str, server: TaskServer) -> None:
    """Let sessions of this process find ``server``."""
    with _lock:
        _servers[target] = server


def withdraw(target: str) -> None:
    """Forget a server that was closed."""
    with _lock:
        _servers.pop(target, None)


def server_at(target: str) -> TaskServer | None:
    """The server of this process with that target, or None: it is in another process."""
    with _lock:
        return _servers.get(target)

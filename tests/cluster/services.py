"""A service that does nothing but answer, for tests of the cluster around it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from pslab.errors import InvalidArgumentError


class Echo:
    """Stands for a task."""

    def __init__(self, name: str, *, host: str, secret: bytes, resolve: Callable[[str], str], ssl_contexts: Any = None) -> None:
        self.name = name
        self.address = f"pslab://{host}:1/{name}"
        self.secret = secret
        self._resolve = resolve
        self._door = threading.Event()

    def close(self) -> None:
        self._door.set()

    def echo(self, value: Any) -> Any:
        return value

    def pid(self) -> int:
        return os.getpid()

    def find(self, task: str) -> str:
        return self._resolve(task)

    def shared_secret(self) -> bytes:
        return self.secret

    def fail(self) -> None:
        raise InvalidArgumentError("this cannot be meant", "mean something else")

    def crash(self) -> None:
        class Odd(Exception):
            def __reduce__(self) -> Any:
                raise TypeError("cannot be pickled")

        raise Odd("very odd")

    def wait_at_the_door(self) -> bool:
        return self._door.wait(30)

    def open_the_door(self) -> None:
        self._door.set()

"""Services that do nothing but answer, or fail to, for tests of the cluster around them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pslab.errors import InvalidArgumentError


class Echo:
    """Stands for a task."""

    def __init__(self, name: str, *, host: str, secret: bytes, resolve: Callable[[str], str], ssl_contexts: Any = None) -> None:
        self.name = name
        self.address = f"pslab://{host}:1/{name}"
        self.secret = secret
        self._resolve = resolve
        self._ssl_contexts = ssl_contexts
        self._note = ""
        self._door, self._kept = threading.Event(), threading.Event()

    def close(self) -> None:
        self._door.set()

    def echo(self, value: Any) -> Any:
        return value

    def size(self, value: bytes) -> int:
        return len(value)

    def pid(self) -> int:
        return os.getpid()

    def find(self, task: str) -> str:
        return self._resolve(task)

    def shared_secret(self) -> bytes:
        return self.secret

    def encrypts(self) -> bool:
        return self._ssl_contexts is not None

    def environment(self, name: str) -> str | None:
        return os.environ.get(name)

    def fail(self) -> None:
        raise InvalidArgumentError("this cannot be meant", "mean something else")

    def divide(self) -> float:
        return 1 / 0

    def crash(self) -> None:
        class Odd(Exception):
            def __reduce__(self) -> Any:
                raise TypeError("cannot be pickled")

        raise Odd("very odd")

    def die(self) -> None:
        os._exit(4)

    def freeze(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def wait_at_the_door(self) -> bool:
        return self._door.wait(30)

    def wait_for_ever(self) -> None:
        self._kept.set()
        threading.Event().wait()

    def keeps_somebody(self) -> bool:
        return self._kept.is_set()

    def note(self, value: str) -> None:
        self._note = value

    def noted(self) -> str:
        return self._note

    def open_the_door(self) -> None:
        self._door.set()


class Raises(Echo):
    """Cannot be made on worker:0."""

    def __init__(self, name: str, **arguments: Any) -> None:
        if name == "worker:0":
            raise ValueError("no luck today")
        super().__init__(name, **arguments)


class Dies(Echo):
    """Takes its process along on worker:0."""

    def __init__(self, name: str, **arguments: Any) -> None:
        if name == "worker:0":
            print("so long, and thanks", flush=True)
            os._exit(3)
        super().__init__(name, **arguments)


class Hangs(Echo):
    """Is never ready; says in a file that its making has begun."""

    def __init__(self, name: str, **arguments: Any) -> None:
        Path(os.environ["PSLAB_TEST_BEGUN"]).write_text(str(os.getpgid(0)))
        threading.Event().wait()
        super().__init__(name, **arguments)


class OneWorker(Echo):
    """Cannot be made on any worker but worker:0."""

    def __init__(self, name: str, **arguments: Any) -> None:
        if name == "worker:1":
            raise ValueError("one worker is enough")
        super().__init__(name, **arguments)

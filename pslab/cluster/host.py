"""The host process of a cluster: ``python -m pslab.cluster.host``.

It lives as long as its standard input: when that ends, for whatever reason, it takes the cluster down and ends its whole process group. It has a
session of its own, so that an interrupt of the notebook does not reach it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from pslab.cluster.pipe import FrameWriter, read_frame
from pslab.errors import InternalError, PslabError

CLOSE_S = 8.0


def main() -> None:
    """Host the cluster that the first frame asks for."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    answers = FrameWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what models print must not get between the frames
    requests = sys.stdin.buffer
    try:
        asyncio.run(_host(requests, answers))
    finally:
        os.killpg(os.getpgid(0), signal.SIGKILL)  # nothing is left behind, this process included


async def _host(requests: Any, answers: FrameWriter) -> None:
    options = await asyncio.to_thread(read_frame, requests)
    from pslab.cluster.hosting import Hosting

    hosting = Hosting(options)
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    running: set[asyncio.Task[None]] = set()

    def begin(request: tuple[int, str, tuple[Any, ...]]) -> None:
        task = loop.create_task(_answer(hosting, answers, *request))
        running.add(task)
        task.add_done_callback(running.discard)

    threading.Thread(target=_read, args=(requests, loop, begin, ended), daemon=True).start()
    starting = loop.create_task(_answer(hosting, answers, 0, "start", ()))
    await ended.wait()
    starting.cancel()
    for task in running:
        task.cancel()
    try:
        async with asyncio.timeout(CLOSE_S):
            await hosting.close()
    except (TimeoutError, OSError, PslabError):
        return  # the process group ends anyway


def _read(requests: Any, loop: asyncio.AbstractEventLoop, begin: Callable[[Any], None], ended: asyncio.Event) -> None:
    try:
        while True:
            loop.call_soon_threadsafe(begin, read_frame(requests))
    except (EOFError, OSError):
        loop.call_soon_threadsafe(ended.set)


async def _answer(hosting: Any, answers: FrameWriter, number: int, verb: str, arguments: tuple[Any, ...]) -> None:
    value: Any = None
    failure: PslabError | None = None
    try:
        value = getattr(hosting, verb)(*arguments)
        if asyncio.iscoroutine(value):
            value = await value
    except PslabError as error:
        failure = error
    except Exception as error:
        reason: BaseException = error
        while reason.__cause__ is not None:
            reason = reason.__cause__  # Dask says that a worker failed; why is further down
        failure = InternalError(f"the cluster's host failed in {verb}: {type(reason).__name__}: {reason}")
    try:
        answers.write((number, None if failure else value, failure))
    except OSError:
        return  # nobody listens any more; the end of the input ends us


if __name__ == "__main__":
    main()

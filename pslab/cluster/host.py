"""The host process of a cluster: ``python -m pslab.cluster.host DIRECTORY``.

It lives as long as its standard input, and as its parent: when one of them ends, for whatever reason, it takes the cluster down and ends its whole
process group. It has a session of its own, so that an interrupt of the notebook does not reach it. What it and its tasks keep in temporary files is in
``DIRECTORY``, and goes with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing import forkserver
from typing import Any

from pslab.cluster.options import HostOptions
from pslab.cluster.pipe import FrameWriter, read_frame
from pslab.errors import InternalError, PslabError

CLOSE_S = 8.0


def main() -> None:
    """Host the cluster that the first frame asks for."""
    directory = sys.argv[1]
    os.environ["TMPDIR"] = directory
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "warning")  # the parent shows the last lines when something goes wrong
    answers = FrameWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what models print must not get between the frames
    requests = sys.stdin.buffer
    try:
        options = read_frame(requests)
        _warm_up(options)
        asyncio.run(_host(options, requests, answers))
    except EOFError:
        return
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.killpg(os.getpgid(0), signal.SIGKILL)  # nothing is left behind, this process included


def _warm_up(options: HostOptions) -> None:
    """Have the server that the tasks' processes are forked from import what they need, while this process does so too."""
    if options.processes and options.address is None:
        forkserver.set_forkserver_preload(["pslab.cluster.plugin", options.service.partition(":")[0]])
        forkserver.ensure_running()


async def _host(options: HostOptions, requests: Any, answers: FrameWriter) -> None:
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
    _follow_parent(loop, ended)
    begin((0, "start", ()))
    await ended.wait()
    for task in tuple(running):
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


def _follow_parent(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Note the parent's end, where the system can tell: a fork of the parent, still alive, keeps our input open."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # an old kernel, or one that forbids it
            loop.add_reader(os.pidfd_open(os.getppid()), ended.set)


async def _answer(hosting: Any, answers: FrameWriter, number: int, verb: str, arguments: tuple[Any, ...]) -> None:
    value: Any = None
    failure: PslabError | None = None
    try:
        value = await getattr(hosting, verb)(*arguments)
    except PslabError as error:
        failure = error
    except Exception as error:
        reason: BaseException = error
        while reason.__cause__ is not None:
            reason = reason.__cause__  # Dask says that a worker failed; why is further down
        failure = InternalError(f"the cluster's host failed in {verb}: {type(reason).__name__}: {reason}")
    answers.write((number, value, failure))


if __name__ == "__main__":
    main()

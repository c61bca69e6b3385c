"""How much memory there is, and what a cluster takes of it."""

from __future__ import annotations

import os
import re

import psutil

from pslab.errors import ResourceExhaustedError, UsageError

PROCESS = 150 << 20
"""Bytes that a task with a process of its own takes before it computes anything."""
HOST = 250 << 20
"""Bytes of the host process, which runs the scheduler and the client."""
THREAD = 20 << 20
"""Bytes of a task that is threads of the host process."""

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}


def parse_bytes(limit: int | str) -> int:
    """A number of bytes: ``2_000_000_000``, ``"2GB"``, ``"512 MiB"``.

    Raises:
        UsageError: it is none.
    """
    if isinstance(limit, int):
        size = limit
    else:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", limit.lower())
        if match is None or match[2] not in _UNITS:
            raise UsageError(f"{limit!r} is no amount of memory", "write it as 2GB or 512MiB")
        size = int(float(match[1]) * _UNITS[match[2]])
    if size < 1:
        raise UsageError(f"a memory limit must be positive, found {limit!r}")
    return size


_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available() -> int:
    """Bytes that this machine, or the container this runs in, has."""
    limits = [psutil.virtual_memory().total]
    for path in _CGROUP_LIMITS:
        if os.path.exists(path):
            with open(path) as file:
                text = file.read().strip()
            if text.isdigit():
                limits.append(int(text))
    return min(limits)


def overhead(tasks: int, processes: bool) -> int:
    """Bytes that a cluster of so many tasks takes before it computes anything."""
    return HOST + tasks * (PROCESS if processes else THREAD)


def choose_processes(tasks: int, wanted: bool | None, limit: int) -> tuple[bool, str]:
    """Whether each of ``tasks`` tasks gets a process of its own, and a note where that was not asked for.

    Raises:
        ResourceExhaustedError: they do not fit into ``limit`` bytes.
    """
    apart, together = overhead(tasks, True), overhead(tasks, False)
    if wanted is not False and apart <= limit:
        return True, ""
    if wanted is True or together > limit:
        needed = apart if wanted is True else together
        kind = "as processes" if wanted is True else "even as threads of one process"
        raise ResourceExhaustedError(
            f"{tasks} tasks need about {needed >> 20} MB {kind}, but there are {limit >> 20} MB",
            "fewer tasks" + ("; or processes=False, to run them as threads of one process" if wanted is True else ""),
        )
    if wanted is False:
        return False, ""
    return False, f"tasks are threads of one process: {tasks} processes would need about {apart >> 20} MB of the {limit >> 20} MB there are"

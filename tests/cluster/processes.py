"""Processes under test: whose they are, and whether they are gone."""

from __future__ import annotations

from pathlib import Path

import psutil

SERVICE = "tests.cluster.services:Echo"
ROOT = Path(__file__).parents[2]


def family(pid: int) -> list[psutil.Process]:
    """A process and all it has started."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def gone(processes: list[psutil.Process]) -> bool:
    return not any(_runs(p) for p in processes)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it went between the two questions
        return False

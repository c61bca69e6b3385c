"""Servers of one program's tasks, in this process, on free ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

import pslab as tf
from pslab.run.processes import free_addresses


@dataclass(frozen=True)
class Tasks:
    """A ps and workers."""

    spec: tf.train.ClusterSpec
    ps: list[tf.train.Server]
    workers: list[tf.train.Server]

    def setter(self, worker: int) -> Callable[..., object]:
        return tf.train.replica_device_setter(worker_device=f"/job:worker/task:{worker}", cluster=self.spec)


@pytest.fixture
def tasks() -> Iterator[Callable[[int, int], Tasks]]:
    started: list[tf.train.Server] = []

    def start(ps: int, workers: int) -> Tasks:
        addresses = free_addresses(ps + workers)
        spec = tf.train.ClusterSpec({"ps": addresses[:ps], "worker": addresses[ps:]})
        for job, count in (("ps", ps), ("worker", workers)):
            started.extend(tf.train.Server(spec, job, i) for i in range(count))
        return Tasks(spec, started[-ps - workers : -workers], started[-workers:])

    yield start
    for server in started:
        server.close()

"""The lab's cluster: started, scaled, hurt and stopped by hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pslab.errors import FailedPreconditionError, NotFoundError, UnavailableError, UsageError
from pslab.lab.memory import Room
from pslab.runtime.transport.network import Duplex, Link, Network, parse_bandwidth, parse_time
from pslab.train.delays import Delay, check_delay

if TYPE_CHECKING:
    from pslab.cluster import Cluster, ClusterStatus
    from pslab.train.trainer import Trainer

SERVICE = "pslab.run.cell_service:CellService"


class LabCluster:
    """At most one running `Cluster`.

    Args:
        leave: called before the cluster goes away: what trains on it is given up.
        resized: called with the scaling itself, to be done while nothing trains, and the number of workers there will be.
        trainer: gives the present training, if there is one.
    """

    def __init__(self, leave: Callable[[], None], resized: Callable[[Callable[[], None], int], None], trainer: Callable[[], Trainer | None]) -> None:
        self._leave = leave
        self._resized = resized
        self._trainer = trainer
        self._delays: dict[str, Delay] = {}
        self._cluster: Cluster | None = None
        self._network = Network()

    @property
    def network(self) -> Network:
        """What the links between the tasks are like."""
        return self._network

    @property
    def cores(self) -> int | None:
        """Cores that all tasks share; None where they are guests on machines of others."""
        return None if self.require().room is None else len(os.sched_getaffinity(0))

    @property
    def running(self) -> bool:
        """Whether there is a cluster."""
        return self._cluster is not None

    @property
    def ps(self) -> int:
        """Number of parameter servers; 0 without a cluster."""
        return self._cluster.ps if self._cluster is not None else 0

    @property
    def workers(self) -> int:
        """Number of workers; 0 without a cluster."""
        return self._cluster.workers if self._cluster is not None else 0

    @property
    def delays(self) -> Mapping[str, Delay]:
        """The delays of the workers that are slow, by task."""
        return {task: self._delays[task] for task in (f"worker:{i}" for i in range(self.workers)) if task in self._delays}

    @property
    def room(self) -> Room:
        """The memory that each task may take for what it computes: equal shares, of a GPU too."""
        cluster, gpu = self.require(), None
        with suppress(UnavailableError):  # a worker that was lost is on its way back
            gpu = cluster.call("worker:0", "gpu_memory")
        return Room(cluster.room, gpu and gpu // len(cluster.tasks))

    def start(
        self,
        ps: int = 1,
        workers: int = 2,
        *,
        processes: bool | None = None,
        address: str | None = None,
        memory_limit: int | str | None = None,
    ) -> ClusterStatus:
        """Bring a cluster up. If one is running already, it stays as it is, and is reported.

        Args:
            ps: number of parameter servers.
            workers: number of workers.
            processes: a process per task; False for threads of one process; None chooses by the memory there is.
            address: of a Dask scheduler that is running already, whose workers are to host the tasks.
            memory_limit: bytes that all tasks together may use, in equal shares, such as ``"2GB"``; the machine's (or the container's) by default.
        """
        from pslab.cluster import Cluster

        if self._cluster is None:
            cluster = Cluster(ps, workers, processes=processes, address=address, memory_limit=memory_limit, service=SERVICE)
            cluster.start()
            self._cluster = cluster
        return self.status()

    def stop(self) -> None:
        """Take the cluster down, and with it a training that runs. Without a cluster, nothing happens."""
        if self._cluster is not None:
            cluster, self._cluster, self._network = self._cluster, None, Network()
            self._delays = {}
            try:
                self._leave()
            finally:
                cluster.stop()

    def status(self) -> ClusterStatus:
        """Its tasks: who is where, and how they fare."""
        status, delays = self.require().status(), self.delays
        return replace(status, tasks=tuple(replace(t, delay=str(delays.get(t.name, ""))) for t in status.tasks))

    def scale(self, ps: int | None = None, workers: int | None = None) -> ClusterStatus:
        """Change the number of tasks. A training goes on with its parameters spread anew.

        Raises:
            UsageError: a number is less than 1.
        """
        cluster = self.require()
        for name, number in (("ps", ps), ("workers", workers)):
            if number is not None and number < 1:
                raise UsageError(f"{name} must be at least 1, found {number}")
        if (ps or cluster.ps, workers or cluster.workers) != (cluster.ps, cluster.workers):
            self._resized(lambda: cluster.scale(ps=ps, workers=workers), workers or cluster.workers)
        return self.status()

    def slow(self, task: str, delay: Delay | None) -> ClusterStatus:
        """Let a worker take longer in each step of training, at once, and also when it was lost and comes back.

        Args:
            task: such as ``"worker:1"``.
            delay: such as ``pslab.Constant(0.05)``; None lets it be as fast as it can be.

        Raises:
            NotFoundError: there is no such worker.
            UsageError: it is no delay.
        """
        workers = [f"worker:{i}" for i in range(self.require().workers)]
        if task not in workers:
            raise NotFoundError(f"there is no worker {task!r} to be slowed down", f"one of: {', '.join(workers)}")
        if delay is None:
            self._delays.pop(task, None)
        else:
            self._delays[task] = check_delay(delay)
        if (trainer := self._trainer()) is not None:
            trainer.slow(_index(task), delay)
        return self.status()

    def be_like(self, network: Network, delays: Mapping[str, Delay]) -> None:
        """Let links and workers be as slow as these, and no others."""
        self._shape(network)
        for task in {*self._delays, *delays}:
            self.slow(task, delays.get(task))

    def slow_down(self, trainer: Trainer) -> None:
        """Let the workers be slow in a new training too."""
        for task, delay in self.delays.items():
            trainer.slow(_index(task), delay)

    def kill(self, task: str) -> None:
        """End a task's process with SIGKILL, as a crash would. It comes back under its name; a worker goes on, a ps has lost its parameters."""
        self.require().kill(task)

    def link(
        self,
        bandwidth: float | str | None = None,
        latency: float | str | None = None,
        jitter: float | str | None = None,
        *,
        duplex: Duplex | str | None = None,
        between: tuple[str, str] | None = None,
    ) -> Network:
        """Make the links slow, as those of a network are; also while something trains. What is not said is as fast as it goes.

        Only the data plane is shaped: the tensors between the tasks, and not how the cluster itself is steered.

        Args:
            bandwidth: of each task's port, which all its links share: ``"100Mbit"``, ``"12MB/s"``, or bytes per second. With ``between``, of a cable of
                their own.
            latency: from the leaving of a byte to its arrival: ``"1ms"``, or seconds.
            jitter: mean of what comes on top of a message's latency, exponentially distributed.
            duplex: ``"full"`` (each direction has the bandwidth) or ``"half"`` (both share it); of all links. As it was, if None.
            between: two tasks whose link alone is changed; what is not said of it is as of all others.

        Raises:
            UsageError: a number cannot be meant, or there is no such task.
        """
        rate = None if bandwidth is None else parse_bandwidth(bandwidth)
        late, late_by = (None if value is None else parse_time(value) for value in (latency, jitter))
        way: Any = self._network.duplex if duplex is None else duplex
        if between is None:
            network = Network(rate, late or 0.0, late_by or 0.0, way, self._network.links)
        else:
            network = replace(self._network, duplex=way).with_link(self._pair(between), Link(rate, late, late_by))
        return self._shape(network)

    def unlink(self, between: tuple[str, str] | None = None) -> Network:
        """Make the links as fast as they go again; or one as all others are.

        Raises:
            UsageError: there is no such task.
        """
        return self._shape(Network() if between is None else self._network.with_link(self._pair(between), Link()))

    def _pair(self, between: tuple[str, str]) -> tuple[str, str]:
        tasks = self.require().tasks
        for task in between:
            if task not in tasks:
                raise UsageError(f"there is no task {task!r}", f"there is {', '.join(tasks)}")
        return between

    def _shape(self, network: Network) -> Network:
        self.require().call_always("shape", network=network)
        self._network = network
        return network

    def require(self) -> Cluster:
        """The running cluster.

        Raises:
            FailedPreconditionError: there is none.
        """
        if self._cluster is None:
            raise FailedPreconditionError("there is no cluster", "lab.cluster.start(ps=1, workers=2), or %pslab cluster start")
        return self._cluster


def _index(task: str) -> int:
    return int(task.partition(":")[2])

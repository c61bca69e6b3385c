"""A task: the state behind one ``/job:name/task:index``, and the programs that run against it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from pslab.execution.arrays import local_devices
from pslab.execution.compiler import Program, compile_partition
from pslab.graph.plan import Partition
from pslab.runtime.rendezvous import Rendezvous
from pslab.runtime.tally import Tally
from pslab.runtime.variables import VariableStore

T = TypeVar("T")


class Task:
    """Variables, resources (queues, accumulators, random generators) and the monitor they are touched under.

    Attributes:
        name: ``"job:index"``.
        monitor: the condition that every stateful op runs under, and that blocking ops wait on.
        variables: the variables placed on this task.
        rendezvous: where tensors from other tasks arrive.
        devices: names of its devices, preferred first.
        tally: what the tensors weigh that it sends.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.monitor = threading.Condition()
        self.variables = VariableStore()
        self.rendezvous = Rendezvous()
        self.devices = local_devices()
        self.tally = Tally()
        self._resources: dict[str, Any] = {}

    def resource(self, key: str, factory: Callable[[], T]) -> T:
        """The resource of this key, made by ``factory`` at its first use. Call it under the monitor."""
        if key not in self._resources:
            self._resources[key] = factory()
        return self._resources[key]  # type: ignore[no-any-return]

    def resources(self, prefix: str) -> list[Any]:
        """The resources whose keys begin with ``prefix``. Call it under the monitor."""
        return list(self.resources_by_key(prefix).values())

    def resources_by_key(self, prefix: str) -> dict[str, Any]:
        """The resources whose keys begin with ``prefix``, by key. Call it under the monitor."""
        return {key: resource for key, resource in self._resources.items() if key.startswith(prefix)}

    def drop_resources(self, prefix: str) -> list[Any]:
        """Forget the resources whose keys begin with ``prefix``, and return them. Ops that wait for one of them make it anew."""
        with self.monitor:
            dropped = [self._resources.pop(key) for key in list(self._resources) if key.startswith(prefix)]
            self.monitor.notify_all()
        return dropped

    def reset(self) -> None:
        """Forget all variables and resources."""
        with self.monitor:
            self.variables.clear()
            self._resources.clear()
            self.monitor.notify_all()

    def compile(self, partition: Partition) -> Program:
        """Compile a partition to run against this task."""
        return compile_partition(partition, self)

"""Simulated machines: the ports of tasks, as the transport shapes them, and cores that they share."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

from pslab.runtime.transport.network import Duplex, Network
from pslab.runtime.transport.timeline import Timeline
from pslab.simulate.events import Events

NS = 1e9


@dataclass
class _Port:
    """The ways out and in of a task, or of one end of a cable of its own."""

    out: Timeline
    into: Timeline
    busy_out: int = 0
    busy_into: int = 0


@dataclass
class Machines:
    """Ports and cores.

    Attributes:
        events: the time.
        network: the shape of the links; the jitter's sequence begins with its seed.
        cores: how many tasks compute at once; None for as many as there are.
        overhead: seconds that a message takes on top, on links as fast as they go.
        free: tasks whose ports are thought to take no time.
    """

    events: Events
    network: Network
    cores: int | None = None
    overhead: float = 0.0
    free: frozenset[str] = frozenset()
    _ports: dict[tuple[str, str], _Port] = field(default_factory=dict)
    _jitter: random.Random = field(default_factory=random.Random)
    _cores: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._cores = [0] * (self.cores or 0)
        self._jitter.seed(self.network.seed)

    def compute(self, seconds: float) -> int:
        """The moment at which a computation ends that begins as soon as a core is free."""
        duration = round(seconds * NS)
        if not self._cores:
            return self.events.now + duration
        core = min(range(len(self._cores)), key=self._cores.__getitem__)
        self._cores[core] = max(self.events.now, self._cores[core]) + duration
        return self._cores[core]

    def send(self, source: str, destination: str, size: float) -> tuple[int, int]:
        """Send a message now: when the sender goes on, and when it is delivered."""
        link = self.network.between(source, destination)
        begin = end = due = self.events.now
        jitter = self._jitter.expovariate(1 / link.jitter) if link.jitter else 0.0
        late = round(((link.latency or 0.0) + jitter + self.overhead) * NS)
        own = link.bandwidth is not None
        bandwidth = link.bandwidth if own else self.network.bandwidth
        if bandwidth is not None:
            duration = round(size / bandwidth * NS)
            if source not in self.free or own:
                port = self._port(source, destination if own else "")
                begin, end = port.out.reserve(self.events.now, duration)
                port.busy_out += duration
            due = end + late
            if destination not in self.free or own:
                port = self._port(destination, source if own else "")
                due = max(due, port.into.reserve(begin + late, duration)[1])
                port.busy_into += duration
        else:
            due += late
        return end, due

    def _port(self, task: str, peer: str) -> _Port:
        if (task, peer) not in self._ports:
            out = Timeline()
            self._ports[task, peer] = _Port(out, out if self.network.duplex is Duplex.HALF else Timeline())
        return self._ports[task, peer]

    def busy(self) -> dict[str, float]:
        """Seconds for which each task's port was busy in its busier direction; in both, where it is half duplex."""
        found: defaultdict[str, float] = defaultdict(float)
        for (task, _), port in self._ports.items():
            busy = port.busy_out + port.busy_into if port.out is port.into else max(port.busy_out, port.busy_into)
            found[task] = max(found[task], busy / NS)
        return dict(found)

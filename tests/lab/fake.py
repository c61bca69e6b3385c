"""A lab without a cluster: it notes what it is asked for, and answers at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.cluster.status import ClusterStatus, TaskStatus
from pslab.errors import DeadlineExceededError
from pslab.lab.lab import Lab
from pslab.lab.status import LabStatus, LoopState
from pslab.runtime.transport import Network
from pslab.train.race import Message
from pslab.train.stepping import Passage, Passages
from pslab.train.strategy import Strategy

STATUS = LabStatus(
    "paused",
    "as <asked>",
    "between-graph",
    "sync",
    "",
    7,
    9,
    (LoopState("worker:0", "waits", 3), LoopState("chief", "waits", 7)),
    0.25,
    {"accuracy": 0.875},
    100.0,
    0,
    "digits",
    "mlp",
)
TASKS = (
    TaskStatus("ps:0", "running", 11, "here", "tcp://here:1", 50_000_000, 0),
    TaskStatus("worker:0", "lost", 12, "here", "tcp://here:2", 0, 2),
    TaskStatus("client:0", "running", 13, "here", "tcp://here:3", 60_000_000, 0),
)
CLUSTER = ClusterStatus(TASKS, "tcp://here:0", True, "")


class FakeCluster:
    """Notes calls in a list that it shares with its lab."""

    def __init__(self, calls: list[tuple[Any, ...]]) -> None:
        self._calls = calls
        self.running = False
        self.ps, self.workers = 1, 2
        self.network = Network()

    def start(self, **options: Any) -> ClusterStatus:
        self._calls.append(("start", options))
        self.running = True
        return CLUSTER

    def status(self) -> ClusterStatus:
        return CLUSTER

    def scale(self, **numbers: Any) -> ClusterStatus:
        self._calls.append(("scale", numbers))
        return CLUSTER

    @property
    def delays(self) -> dict[str, Any]:
        return {}

    def slow(self, task: str, delay: Any) -> ClusterStatus:
        self._calls.append(("slow", task, delay))
        return CLUSTER

    def kill(self, task: str) -> None:
        self._calls.append(("kill", task))

    def link(self, bandwidth: Any, latency: Any, jitter: Any, **words: Any) -> Network:
        self._calls.append(("link", bandwidth, latency, jitter, words))
        self.network = Network(12.5e6, 1e-3)
        return self.network

    def unlink(self, between: Any) -> Network:
        self._calls.append(("unlink", between))
        return Network()

    def stop(self) -> None:
        self._calls.append(("stop cluster",))


class FakeLab(Lab):
    """A `Lab` whose verbs only note that they were called.

    Attributes:
        calls: name and arguments of each call.
        running: how many statuses will still say that it runs.
        interrupt: whether waiting is interrupted, as by the notebook's stop button.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []
        self.cluster = FakeCluster(self.calls)  # type: ignore[assignment]
        self.running = 0
        self.interrupt = False

    def _noted(self, *call: Any) -> LabStatus:
        self.calls.append(call)
        return STATUS

    def status(self) -> LabStatus:
        from dataclasses import replace

        self.running -= 1
        return replace(STATUS, state="running") if self.running >= 0 else STATUS

    def mode(self, strategy: Strategy | None = None, **fields: Any) -> Strategy:
        self._noted("mode", fields)
        return super().mode(strategy, **fields)

    def take_share(self, text: str) -> None:
        self._noted("take_share", text)

    def timeline(self, path: Any = None) -> Any:
        from matplotlib.figure import Figure

        self._noted("timeline", path)
        return Figure()

    def trajectories(self, path: Any = None, **how: Any) -> Any:
        from matplotlib.figure import Figure

        self._noted("trajectories", path, how)
        return Figure()

    def train(self, steps: int = 500, *, wait: bool = False) -> LabStatus:
        return self._noted("train", steps)

    def wait(self, step: int | None = None, timeout: float | None = None) -> LabStatus:
        self._noted("wait")
        if self.interrupt:
            raise KeyboardInterrupt
        raise DeadlineExceededError("not yet")

    def pause(self) -> LabStatus:
        return self._noted("pause")

    def resume(self) -> LabStatus:
        return self._noted("resume")

    def step(self, n: int = 1, *, messages: int | None = None, worker: int | None = None) -> Any:
        if messages is None:
            return self._noted("step", n)
        self._noted("step", messages, worker)
        return Passages([Passage(Message("ps:0", 1, "commit"), 0, 2, 3, 3, (), ())])

    def stop(self) -> LabStatus:
        return self._noted("stop")

    def reset(self) -> LabStatus:
        return self._noted("reset")

    def evaluate(self) -> dict[str, float]:
        self._noted("evaluate")
        return {"loss": 0.25, "accuracy": 0.875}

    def predict(self, x: Any = None, *, n: int = 10) -> dict[str, np.ndarray[Any, Any]]:
        self._noted("predict", n)
        return {"prediction": np.arange(n), "target": np.arange(n)}

    def save(self, prefix: Any) -> str:
        self._noted("save", prefix)
        return f"{prefix}.safetensors"

    def restore(self, prefix: Any) -> LabStatus:
        return self._noted("restore", prefix)

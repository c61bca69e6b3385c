"""What a run may be told, and what it tells (TensorFlow 1's ``tf.RunOptions`` and ``tf.RunMetadata``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from pslab.errors import UsageError


@dataclass
class RunOptions:
    """How a run is made.

    Attributes:
        trace_level: ``RunOptions.FULL_TRACE`` measures every op; ``NO_TRACE`` does not.
        timeout_in_ms: milliseconds after which the run is given up; 0 for never.
        inter_op_thread_pool: accepted.
        output_partition_graphs: accepted.
        report_tensor_allocations_upon_oom: accepted.
    """

    NO_TRACE: ClassVar[int] = 0
    SOFTWARE_TRACE: ClassVar[int] = 1
    HARDWARE_TRACE: ClassVar[int] = 2
    FULL_TRACE: ClassVar[int] = 3

    trace_level: int = 0
    timeout_in_ms: int = 0
    inter_op_thread_pool: int = 0
    output_partition_graphs: bool = False
    report_tensor_allocations_upon_oom: bool = False

    def __post_init__(self) -> None:
        if self.timeout_in_ms < 0:
            raise UsageError(f"timeout_in_ms must be 0 or more, found {self.timeout_in_ms}")

    @property
    def timeout(self) -> float | None:
        """Seconds after which the run is given up, or None."""
        return self.timeout_in_ms / 1000 or None

    @property
    def traced(self) -> bool:
        """Whether its ops are measured one by one."""
        return self.trace_level != self.NO_TRACE


PLAIN = RunOptions()
"""A run without limit and without trace."""


@dataclass
class NodeExecStats:
    """One op, or one exchange, of a traced run.

    Attributes:
        node_name: name of the op.
        op: its type.
        all_start_micros: when it began, in microseconds since 1970.
        all_end_rel_micros: how long it took, in microseconds.
        output_bytes: bytes of what it gave, or of the message.
    """

    node_name: str
    op: str
    all_start_micros: int
    all_end_rel_micros: int
    output_bytes: int


@dataclass
class DeviceStepStats:
    """What ran on a device.

    Attributes:
        device: its name.
        node_stats: the ops, in order.
    """

    device: str
    node_stats: list[NodeExecStats] = field(default_factory=list)


@dataclass
class StepStats:
    """A traced run.

    Attributes:
        dev_stats: by device.
    """

    dev_stats: list[DeviceStepStats] = field(default_factory=list)


@dataclass
class RunMetadata:
    """What a run tells of itself.

    Attributes:
        step_stats: what a traced run measured; empty where it was not traced.
    """

    step_stats: StepStats = field(default_factory=StepStats)

"""How a session behaves (TensorFlow 1's ``tf.ConfigProto``)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from pslab.errors import UsageError


@dataclass
class GPUOptions:
    """Accepted as TensorFlow has them; CuPy's memory pool grows by itself and gives back what it does not need."""

    per_process_gpu_memory_fraction: float = 0.0
    allow_growth: bool = False
    visible_device_list: str = ""


@dataclass
class ConfigProto:
    """Options of a session.

    Attributes:
        allow_soft_placement: run an op on the CPU where the device it asks for is not there.
        log_device_placement: print ``op: (Type): device`` for each op of each newly planned step.
        device_filters: the tasks this session may use, such as ``["/job:ps", "/job:worker/task:0"]``; all of them if empty.
        operation_timeout_in_ms: milliseconds after which a step is given up; 0 for never.
        gpu_options: see `GPUOptions`.
        inter_op_parallelism_threads: accepted; a task runs one step's ops in one thread.
        intra_op_parallelism_threads: accepted; set the BLAS library's own variable instead.
        device_count: accepted; the devices are those of the tasks.
    """

    allow_soft_placement: bool = False
    log_device_placement: bool = False
    device_filters: list[str] = field(default_factory=list)
    operation_timeout_in_ms: int = 0
    gpu_options: GPUOptions = field(default_factory=GPUOptions)
    inter_op_parallelism_threads: int = 0
    intra_op_parallelism_threads: int = 0
    device_count: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.operation_timeout_in_ms < 0:
            raise UsageError(f"operation_timeout_in_ms must be 0 or more, found {self.operation_timeout_in_ms}")

    def over(self, others: ConfigProto) -> ConfigProto:
        """These options; those that are not given here are as in ``others``."""
        return replace(others, **{f.name: value for f in fields(self) if (value := getattr(self, f.name))})

    @property
    def operation_timeout(self) -> float | None:
        """Seconds after which a step is given up, or None."""
        return self.operation_timeout_in_ms / 1000 or None

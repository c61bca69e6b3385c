"""Device names: ``/job:worker/task:1/gpu:0`` and what merging them means."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from pslab.errors import DeviceError

_PART = re.compile(
    r"/(?:job:(?P<job>[A-Za-z][\w.-]*)|replica:(?P<replica>\d+|\*)|task:(?P<task>\d+|\*)"
    r"|(?:device:)?(?!job\b|task\b|replica\b)(?P<kind>[A-Za-z][A-Za-z_]*)(?::(?P<index>\d+|\*))?)"
)


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """A possibly partial device name; a field that is None is left open.

    Attributes:
        job: the job's name, such as ``"ps"``.
        replica: always 0 or open; kept because TensorFlow 1's programs write it.
        task: index of the task within its job.
        device_type: ``"CPU"`` or ``"GPU"``.
        device_index: which of the task's devices of that type.
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    @classmethod
    @lru_cache(maxsize=4096)  # a graph asks for each of its few devices again and again, op by op
    def from_string(cls, text: str | None) -> DeviceSpec:
        """Parse a device name; ``""`` and None leave everything open.

        Raises:
            DeviceError: the text is not a device name.
        """
        fields: dict[str, str | int | None] = {}
        position = 0
        while text and position < len(text):
            part = _PART.match(text, position)
            if part is None:
                raise DeviceError(
                    f"{text!r} is not a device name: could not read {text[position:]!r}",
                    "write it as /job:worker/task:0/gpu:0; any part may be left out",
                )
            position = part.end()
            if part["kind"] is not None:
                fields["device_type"] = part["kind"].upper()
                fields["device_index"] = _number(part["index"])
            elif part["job"] is not None:
                fields["job"] = part["job"]
            elif part["replica"] is not None:
                fields["replica"] = _number(part["replica"])
            else:
                fields["task"] = _number(part["task"])
        return cls(**fields)  # type: ignore[arg-type]

    def to_string(self) -> str:
        """The canonical name, as TensorFlow prints it."""
        parts = [
            "" if self.job is None else f"/job:{self.job}",
            "" if self.replica is None else f"/replica:{self.replica}",
            "" if self.task is None else f"/task:{self.task}",
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def merge_under(self, inner: DeviceSpec) -> DeviceSpec:
        """This name, with every field that ``inner`` gives taken from ``inner``."""
        kind = self if inner.device_type is None else inner
        return DeviceSpec(
            job=self.job if inner.job is None else inner.job,
            replica=self.replica if inner.replica is None else inner.replica,
            task=self.task if inner.task is None else inner.task,
            device_type=kind.device_type,
            device_index=kind.device_index,
        )

    @property
    def task_name(self) -> str:
        """``"job:task"``, such as ``"worker:1"``: the short name of the task this device belongs to."""
        return f"{self.job or 'localhost'}:{self.task or 0}"

    def replace(self, **fields: str | int | None) -> DeviceSpec:
        """A copy with some fields changed."""
        return replace(self, **fields)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.to_string()


def _number(text: str | None) -> int | None:
    return None if text is None or text == "*" else int(text)

"""Array backends: NumPy on the CPU, CuPy on a GPU. The only module that imports cupy."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

import numpy as np

from pslab.errors import DeviceError


class ArrayBackend:
    """The array module of one device, and the way to and from the host's memory.

    Attributes:
        device: ``"CPU:0"`` or ``"GPU:n"``.
        xp: the array module that kernels compute with.
    """

    def __init__(self, device: str, xp: ModuleType) -> None:
        self.device = device
        self.xp = xp

    def from_host(self, array: Any) -> Any:
        """A host array as an array of this device."""
        return array

    def to_host(self, array: Any) -> Any:
        """An array of this device as a NumPy array."""
        return array

    def active(self) -> AbstractContextManager[Any]:
        """A context in which new arrays are made on this device."""
        return nullcontext()


class CudaBackend(ArrayBackend):
    """CuPy on one GPU."""

    def __init__(self, device: str, xp: ModuleType) -> None:
        super().__init__(device, xp)
        self._index = int(device.partition(":")[2])

    def from_host(self, array: Any) -> Any:
        """Copy to the GPU."""
        with self.active():
            return self.xp.asarray(array)

    def to_host(self, array: Any) -> Any:
        """Copy to the host, after the GPU has finished with it."""
        return self.xp.asnumpy(array)

    def active(self) -> AbstractContextManager[Any]:
        """CuPy's device context."""
        return self.xp.cuda.Device(self._index)  # type: ignore[no-any-return]


CPU = ArrayBackend("CPU:0", np)


@functools.cache
def local_devices() -> tuple[str, ...]:
    """Devices of this process, preferred first. Importing cupy is tried once; without it there is only ``CPU:0``."""
    return (*(f"GPU:{i}" for i in range(_gpu_count())), "CPU:0")


@functools.cache
def backend(device: str) -> ArrayBackend:
    """The backend of a local device.

    Raises:
        DeviceError: this process has no such device.
    """
    if device not in local_devices():
        raise DeviceError(f"there is no device {device} here; there is {', '.join(local_devices())}")
    if device == CPU.device:
        return CPU
    import cupy

    return CudaBackend(device, cupy)


def host_array(array: Any) -> Any:
    """An array of any device as a NumPy array."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def gpu_memory() -> int | None:
    """Bytes of memory that this process's first GPU has; None without one."""
    if not _gpu_count():
        return None
    import cupy

    with cupy.cuda.Device(0):
        return int(cupy.cuda.runtime.memGetInfo()[1])


def _gpu_count() -> int:
    try:
        import cupy
    except ImportError:
        return 0
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0

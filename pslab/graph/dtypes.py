"""Element types with TensorFlow's names, over NumPy's dtypes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from pslab.errors import GraphError


class DType:
    """The type of a tensor's elements, such as ``pslab.float32``. There is one object per type, so ``is`` and ``==`` agree."""

    __slots__ = ("as_numpy_dtype", "name")

    def __init__(self, name: str, numpy_type: Any) -> None:
        self.name = name
        self.as_numpy_dtype: np.dtype[Any] = np.dtype(numpy_type)

    @property
    def is_floating(self) -> bool:
        """Whether this is a real floating-point type; only such tensors have gradients."""
        return self.as_numpy_dtype.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether this is a signed or unsigned integer type."""
        return self.as_numpy_dtype.kind in "iu"

    @property
    def is_bool(self) -> bool:
        """Whether this is the type of truth values."""
        return self.as_numpy_dtype.kind == "b"

    @property
    def base_dtype(self) -> DType:
        """This type itself: pslab has no reference types."""
        return self

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return self.as_numpy_dtype.itemsize

    @property
    def max(self) -> Any:
        """The greatest finite value."""
        return np.finfo(self.as_numpy_dtype).max if self.is_floating else np.iinfo(self.as_numpy_dtype).max

    @property
    def min(self) -> Any:
        """The least finite value."""
        return np.finfo(self.as_numpy_dtype).min if self.is_floating else np.iinfo(self.as_numpy_dtype).min

    def __repr__(self) -> str:
        return f"pslab.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (as_dtype, (self.name,))


float16 = DType("float16", np.float16)
float32 = DType("float32", np.float32)
float64 = DType("float64", np.float64)
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
bool_ = DType("bool", np.bool_)
string = DType("string", np.object_)

_NUMPY_NAME = re.compile(r"[<>=|]?[A-Za-z]\w*", re.ASCII)
"""Of what NumPy takes as a dtype, names alone: ``numpy.dtype("<m8[s/0]")`` ends the process."""
_ALL = (float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_, string)
_BY_NAME = {t.name: t for t in _ALL} | {"float": float32, "double": float64, "half": float16, "int": int32, "str": string}
_BY_NUMPY = {t.as_numpy_dtype: t for t in _ALL}


def as_dtype(value: DType | npt.DTypeLike | str) -> DType:
    """Return the `DType` that ``value`` names: a `DType`, a TensorFlow name (``"float"`` is float32), or anything NumPy takes.

    Raises:
        GraphError: there is no such element type.
    """
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if value is float:
        return float32
    if value is int:
        return int32
    try:
        found = np.dtype(value) if not isinstance(value, str) or _NUMPY_NAME.fullmatch(value) else None
    except TypeError:
        found = None
    if found is not None and found.kind in "SU":
        return string
    if found is None or found not in _BY_NUMPY:
        raise GraphError(f"there is no element type {value!r}", f"one of: {', '.join(t.name for t in _ALL)}")
    return _BY_NUMPY[found]

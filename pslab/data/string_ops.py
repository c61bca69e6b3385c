"""Strings into numbers and back, and joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.data.text import each, number, string_array
from pslab.errors import GraphError, InvalidArgumentError, ShapeError, UsageError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import DType, as_dtype, float32, string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.strings import as_bytes
from pslab.graph.tensor import Tensor


def _strings(op: Operation) -> TensorShape:
    if op.inputs[0].dtype is not string:
        raise ShapeError(f"expected strings, found {op.inputs[0].dtype.name}")
    return op.inputs[0].shape


def _infer_decode_raw(op: Operation) -> infer.Inferred:
    shape = _strings(op)
    return [(as_dtype(op.attrs["out_type"]), TensorShape(None if shape.dims is None else [*shape, None]))]


def _decode_raw(xp: Any, values: Any, *, out_type: str, little_endian: bool) -> Any:
    dtype = np.dtype(out_type)
    strings = [as_bytes(v) for v in np.ravel(values)]
    lengths = {len(s) for s in strings}
    if len(lengths) > 1:
        raise InvalidArgumentError(f"the strings must have one length, found {sorted(lengths)} bytes")
    length = lengths.pop() if lengths else 0
    if length % dtype.itemsize:
        raise InvalidArgumentError(f"{length} bytes are no whole number of {out_type}, of {dtype.itemsize} bytes each")
    decoded = np.frombuffer(b"".join(strings), dtype.newbyteorder("<" if little_endian else ">"))
    return decoded.astype(dtype).reshape(*np.shape(values), length // dtype.itemsize)


def _string_to_number(xp: Any, values: Any, *, out_type: str) -> Any:
    dtype = np.dtype(out_type)
    return each(lambda text: number(text, dtype), values, dtype)


def _as_string(xp: Any, values: Any, *, pattern: str) -> Any:
    if values.dtype == bool:
        return each(lambda v: as_bytes(pattern % ("true" if v else "false")), values)
    return each(lambda v: as_bytes(pattern % v), values)


def _string_join(xp: Any, *values: Any, separator: str) -> Any:
    parts = np.broadcast_arrays(*(each(as_bytes, v) for v in values))
    joined = [as_bytes(separator).join(strings) for strings in zip(*(p.ravel() for p in parts), strict=True)]
    return string_array(joined, parts[0].shape)


def _infer_string_join(op: Operation) -> infer.Inferred:
    shape = scalar()
    for tensor in op.inputs:
        if tensor.dtype is not string:
            raise ShapeError(f"expected strings, found {tensor.dtype.name}")
        if tensor.shape.ndims != 0:
            shape = tensor.shape if shape.ndims == 0 else shape.merge_with(tensor.shape)
    return [(string, shape)]


def _on_host(type: str, **fields: Any) -> None:
    register(type, gradient=not_differentiable, host_only=True, **fields)


_on_host("DecodeRaw", infer=_infer_decode_raw, kernel=_decode_raw)
_on_host("StringToNumber", infer=lambda op: [(as_dtype(op.attrs["out_type"]), _strings(op))], kernel=_string_to_number)
_on_host("AsString", infer=lambda op: [(string, op.inputs[0].shape)], kernel=_as_string)
_on_host("StringJoin", infer=_infer_string_join, kernel=_string_join)


def decode_raw(
    input_bytes: Any = None, out_type: DType | Any = None, little_endian: bool = True, name: str | None = None, bytes: Any = None
) -> Tensor:
    """The numbers that strings of bytes hold.

    Args:
        input_bytes: strings of any shape, all of one length when it runs.
        out_type: of the numbers.
        little_endian: the order of their bytes.
        name: of the op.
        bytes: ``input_bytes``, by its older name.

    Returns:
        Numbers of the strings' shape with an axis more.

    Raises:
        UsageError: there are no strings, or no type.
        InvalidArgumentError: (when it runs) the strings have different lengths, or hold no whole number of numbers.
    """
    strings = input_bytes if input_bytes is not None else bytes
    if strings is None or out_type is None or as_dtype(out_type) is string:
        raise UsageError(f"decode_raw needs strings and the numbers' type, found out_type={out_type!r}")
    return apply_one("DecodeRaw", [strings], name, out_type=as_dtype(out_type).name, little_endian=little_endian)


def string_to_number(string_tensor: Any, out_type: DType | Any = float32, name: str | None = None) -> Tensor:
    """The number that each string is: float32, float64, int32 or int64.

    Raises:
        GraphError: another type.
        InvalidArgumentError: (when it runs) a string is no such number.
    """
    dtype = as_dtype(out_type)
    if dtype.name not in ("float32", "float64", "int32", "int64"):
        raise GraphError(f"strings become float32, float64, int32 or int64, not {dtype.name}", "use pslab.cast afterwards")
    return apply_one("StringToNumber", [string_tensor], name, out_type=dtype.name)


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = "", name: str | None = None
) -> Tensor:
    """Numbers, or truth values, as strings.

    Args:
        input: numbers of any shape.
        precision: digits after the point, of floats; 6 if negative.
        scientific: whether floats have an exponent.
        shortest: whether floats are written with or without one, whichever is shorter.
        width: to which they are filled up, if positive.
        fill: what with: a blank, or as C's printf has it ``"0"``, ``"-"``, ``"+"``.
        name: of the op.

    Raises:
        GraphError: formats that do not go together, or do not fit the type.
    """
    tensor = convert_to_tensor(input)
    if scientific and shortest:
        raise GraphError("scientific and shortest cannot both be meant")
    if not tensor.dtype.is_floating and (scientific or shortest or precision >= 0):
        raise GraphError(f"{tensor.dtype.name} has no digits after the point")
    if fill not in ("", " ", "0", "-", "+"):
        raise GraphError(f"there is no fill {fill!r}", 'one of " ", "0", "-", "+"')
    kind = ("e" if scientific else "g" if shortest else "f") if tensor.dtype.is_floating else "d" if tensor.dtype.is_integer else "s"
    pattern = f"%{fill}{width if width > 0 else ''}{f'.{precision}' if precision >= 0 else ''}{kind}"
    return apply_one("AsString", [tensor], name, pattern=pattern)


def string_join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Strings joined elementwise; a scalar goes with every element of the others."""
    return apply_one("StringJoin", [convert_to_tensor(v) for v in inputs], name, separator=separator)

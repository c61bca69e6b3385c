"""Numbers of few bits in place of floats: eight bits and a scale, or a sign and two means.

What is not finite stays visible: where an input has a NaN or an infinity, so has what is made of its code.
"""

from __future__ import annotations

from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, apply_op
from pslab.graph.dtypes import int8, uint8
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.tensor import Tensor

LEVELS = 127
"""Levels of int8 on each side of 0."""

# Eight bits and a scale


def _infer_quantize(op: Operation) -> infer.Inferred:
    [x] = op.inputs
    return [(int8, x.shape), (x.dtype, scalar())]


def _quantize(xp: Any, x: Any) -> Any:
    scale = xp.asarray((xp.abs(x).max() if x.size else 0) / LEVELS, x.dtype)
    levels = xp.rint(x / (scale if scale > 0 else 1))
    return xp.clip(levels, -LEVELS, LEVELS).astype("int8"), scale  # a scale so small that it was rounded would lead beyond


def _infer_dequantize(op: Operation) -> infer.Inferred:
    levels, scale = op.inputs
    if levels.dtype is not int8 or not scale.dtype.is_floating or not scale.shape.is_compatible_with(()):
        raise ShapeError(f"expected int8 levels and a floating scale, found {levels.dtype.name}, and {scale.dtype.name} of shape {scale.shape}")
    return [(scale.dtype, levels.shape)]


register(
    "QuantizeInt8",
    infer=infer.floating(_infer_quantize),
    kernel=_quantize,
    gradient=not_differentiable,
    flops=lambda op: 4 * infer.elements_in(op),
    scratch=lambda op: 2 * op.inputs[0].dtype.size * infer.elements_in(op),
)
register(
    "DequantizeInt8",
    infer=_infer_dequantize,
    kernel=lambda xp, levels, scale: xp.asarray(levels.astype(scale.dtype) * scale),
    gradient=not_differentiable,
    flops=infer.elements,
    scratch=lambda op: op.outputs[0].dtype.size * infer.elements(op),
)


def quantize_int8(x: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """``x`` as int8 levels and a scale, a scalar of its dtype: max|x| / 127. Each element is rounded to the nearest level, of two the even one."""
    levels, scale = apply_op("QuantizeInt8", [x], name).outputs
    return levels, scale


def dequantize_int8(levels: Any, scale: Any, name: str | None = None) -> Tensor:
    """Levels times their scale.

    Raises:
        ShapeError: ``levels`` are not int8, or ``scale`` is no floating scalar.
    """
    return apply_one("DequantizeInt8", [levels, scale], name)


# A sign and two means


def _infer_pack(op: Operation) -> infer.Inferred:
    [x] = op.inputs
    size = x.shape.num_elements()
    return [(uint8, TensorShape([None if size is None else -(-size // 8)])), (x.dtype, TensorShape([2]))]


def _pack(xp: Any, x: Any) -> Any:
    flat = x.ravel()
    positive = flat >= 0
    sides = flat[~positive], flat[positive]
    return xp.packbits(positive), xp.stack([xp.asarray(side.mean() if side.size else 0, x.dtype) for side in sides])


def _infer_unpack(op: Operation) -> infer.Inferred:
    bits, means = op.inputs
    if bits.dtype is not uint8 or not means.dtype.is_floating or not means.shape.is_compatible_with((2,)):
        raise ShapeError(f"expected uint8 bits and two floating means, found {bits.dtype.name}, and {means.dtype.name} of shape {means.shape}")
    return [(means.dtype, TensorShape(op.attrs["shape"]))]


def _unpack(xp: Any, bits: Any, means: Any, *, shape: tuple[int, ...]) -> Any:
    size = infer.size(TensorShape(shape))
    if bits.size != -(-size // 8):
        raise InvalidArgumentError(f"{size} signs are packed into {-(-size // 8)} bytes, found {bits.size}")
    return means[xp.unpackbits(bits)[:size]].reshape(shape)


register(
    "PackSigns",
    infer=infer.floating(_infer_pack),
    kernel=_pack,
    gradient=not_differentiable,
    flops=lambda op: 2 * infer.elements_in(op),
    scratch=lambda op: (op.inputs[0].dtype.size + 2) * infer.elements_in(op),  # the two sides, and truth values
)
register(
    "UnpackSigns",
    infer=_infer_unpack,
    kernel=_unpack,
    gradient=not_differentiable,
    flops=infer.elements,
    scratch=infer.elements,  # a byte for each bit
)


def pack_signs(x: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The signs of ``x``, and what they stand for (Seide et al., 2014).

    Returns:
        The signs in row order, eight to a byte (uint8; 1 for 0 and above), and a vector of the mean of the negative elements and that of the others, which
        make the squared error the least; 0 where there are none.
    """
    bits, means = apply_op("PackSigns", [x], name).outputs
    return bits, means


def unpack_signs(bits: Any, means: Any, shape: tuple[int, ...], name: str | None = None) -> Tensor:
    """A tensor of ``shape`` that has, for each sign, what it stands for.

    Raises:
        InvalidArgumentError: when it runs, there are more or fewer signs than elements.
        ShapeError: ``bits`` are not uint8, or ``means`` no floating vector of two.
    """
    return apply_one("UnpackSigns", [bits, means], name, shape=shape)

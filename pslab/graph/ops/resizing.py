"""Images in another size, by interpolation: along each axis a product with a matrix, so that the gradient is a product with its transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import float32
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.shapes import expand_dims, squeeze
from pslab.graph.ops.static import constant_value
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


class ResizeMethod:
    """How pixels between pixels are made."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1


def _places(length: int, size: int, align: bool) -> np.ndarray[Any, Any]:
    """Where the new pixels lie among the old ones."""
    step = (length - 1) / (size - 1) if align and size > 1 else length / size
    return np.arange(size, dtype=np.float32) * np.float32(step)


def _nearest(length: int, size: int, align: bool) -> np.ndarray[Any, Any]:
    places = _places(length, size, align)
    whole = np.floor(places + np.float32(0.5)) if align else np.floor(places)
    return np.minimum(whole, length - 1).astype(np.intp)


def _weights(xp: Any, length: int, size: int, nearest: bool, align: bool, dtype: Any) -> Any:
    """The matrix ``[size, length]`` that makes the new pixels along an axis."""
    matrix = np.zeros((size, length), dtype)
    rows = np.arange(size)
    if nearest:
        matrix[rows, _nearest(length, size, align)] = 1
        return xp.asarray(matrix)
    places = _places(length, size, align)
    below = np.minimum(np.floor(places), length - 1).astype(np.intp)
    share = places - below
    matrix[rows, below] += 1 - share
    matrix[rows, np.minimum(below + 1, length - 1)] += share
    return xp.asarray(matrix)


def _along_both(xp: Any, images: Any, down: Any, across: Any) -> Any:
    wide = xp.matmul(across, images)
    return xp.ascontiguousarray(xp.moveaxis(xp.matmul(down, xp.moveaxis(wide, 2, 1)), 1, 2))


def _resize(xp: Any, images: Any, *, size: tuple[int, int], nearest: bool, align: bool) -> Any:
    height, width = images.shape[1:3]
    if nearest:
        rows, columns = (xp.asarray(_nearest(n, s, align)) for n, s in zip((height, width), size, strict=True))
        return images[:, rows[:, None], columns]
    dtype = np.dtype("float64") if images.dtype == np.float64 else np.dtype("float32")
    down, across = (_weights(xp, n, s, nearest, align, dtype) for n, s in zip((height, width), size, strict=True))
    return _along_both(xp, images.astype(dtype, copy=False), down, across)


def _resize_grad(xp: Any, g: Any, like: Any, *, size: tuple[int, int], nearest: bool, align: bool) -> Any:
    down, across = (_weights(xp, n, s, nearest, align, g.dtype).T for n, s in zip(like.shape[1:3], size, strict=True))
    return _along_both(xp, g, down, across)


def _infer_resize(op: Operation) -> infer.Inferred:
    x = op.inputs[0]
    batch, _, _, channels = x.shape.merge_with([None] * 4).as_list()
    dtype = x.dtype if op.attrs["nearest"] or x.dtype.name == "float64" else float32
    return [(dtype, TensorShape([batch, *op.attrs["size"], channels]))]


def _resize_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    return [apply_one("ResizeGrad", [g, op.inputs[0]], **op.attrs)]


register("Resize", infer=infer.numeric(_infer_resize), kernel=_resize, gradient=_resize_gradient, flops=infer.per_element(8))
register(
    "ResizeGrad",
    infer=lambda op: [(op.inputs[0].dtype, op.inputs[1].shape)],
    kernel=_resize_grad,
    gradient=lambda op, g: [apply_one("Resize", [g], **op.attrs), None],
    flops=infer.per_element(8),
)


def resize_images(
    images: Any,
    size: Any,
    method: int = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images in another size.

    Args:
        images: ``[batch, height, width, channels]`` or ``[height, width, channels]``.
        size: new height and width, known when the graph is built.
        method: ``ResizeMethod.BILINEAR``, which makes float32, or ``NEAREST_NEIGHBOR``, which keeps the dtype.
        align_corners: whether the corners' pixels lie on each other.
        preserve_aspect_ratio: shrink one side of ``size`` so that the picture keeps its proportions; its own size must be known.
        name: name of the op.

    Raises:
        ShapeError: the rank is another, the size is not known, or there is no such method.
    """
    x = convert_to_tensor(images)
    if x.shape.ndims == 3:
        batch = resize_images(expand_dims(x, 0), size, method, align_corners, preserve_aspect_ratio)
        return squeeze(batch, 0, name)
    wanted = constant_value(convert_to_tensor(size))
    if wanted is None or wanted.shape != (2,) or (wanted < 1).any():
        raise ShapeError(f"size must be a known height and width, found {size!r}")
    if method not in (ResizeMethod.BILINEAR, ResizeMethod.NEAREST_NEIGHBOR):
        raise ShapeError(f"there is no resize method {method!r}; use ResizeMethod.BILINEAR or NEAREST_NEIGHBOR")
    height, width = int(wanted[0]), int(wanted[1])
    own = x.shape.merge_with([None] * 4).as_list()[1:3]
    if preserve_aspect_ratio:
        if own[0] is None or own[1] is None:
            raise ShapeError(f"the proportions of {x.name} of shape {x.shape} are not known")
        scale = min(height / own[0], width / own[1])
        height, width = round(scale * own[0]), round(scale * own[1])
    if own == [height, width]:
        return x
    attrs = {"size": (height, width), "nearest": method == ResizeMethod.NEAREST_NEIGHBOR, "align": bool(align_corners)}
    return apply_one("Resize", [x], name or "resize_images", **attrs)


def resize_bilinear(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """`resize_images` by ``ResizeMethod.BILINEAR``."""
    return resize_images(images, size, ResizeMethod.BILINEAR, align_corners, name=name)


def resize_nearest_neighbor(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """`resize_images` by ``ResizeMethod.NEAREST_NEIGHBOR``."""
    return resize_images(images, size, ResizeMethod.NEAREST_NEIGHBOR, align_corners, name=name)

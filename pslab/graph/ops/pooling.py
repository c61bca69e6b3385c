"""Pooling by the mean: the average over windows of images ``[batch, height, width, channels]``."""

from __future__ import annotations

from typing import Any

from pslab.graph.build import apply_one
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.convolution import infer_pool, pool_flops
from pslab.graph.ops.windows import Windows, check_format, checked_padding, spatial
from pslab.graph.registry import register
from pslab.graph.tensor import Tensor


def _counts(xp: Any, windows: Windows, images: Any) -> Any:
    """How many pixels inside the image each window sees, ``[1, rows, columns, 1]``: those beyond the edges do not count."""
    ones = xp.ones((1, *images.shape[1:3], 1), images.dtype)
    return windows.patches(xp, ones).sum(axis=(3, 4))


def _avg_pool(xp: Any, images: Any, *, size: tuple[int, int], strides: tuple[int, int], padding: str) -> Any:
    windows = Windows(size, strides, padding)
    return windows.patches(xp, images).sum(axis=(3, 4)) / _counts(xp, windows, images)


def _avg_pool_grad(xp: Any, images: Any, g: Any, *, size: tuple[int, int], strides: tuple[int, int], padding: str) -> Any:
    """The gradient of a window is shared evenly by its pixels."""
    windows = Windows(size, strides, padding)
    result = xp.zeros(images.shape, g.dtype)
    share = g / _counts(xp, windows, images)
    for _, _, (rows, columns), (lines, pixels) in windows.overlaps(*images.shape[1:3]):
        result[:, lines, pixels] += share[:, rows, columns]
    return result


def _avg_pool_grad_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    return [None, apply_one("AvgPool", [g], **op.attrs)]


register(
    "AvgPool",
    infer=infer.floating(infer_pool),
    kernel=_avg_pool,
    gradient=lambda op, g: [apply_one("AvgPoolGrad", [op.inputs[0], g], **op.attrs)],
    flops=pool_flops,
)
register("AvgPoolGrad", infer=infer.like_first, kernel=_avg_pool_grad, gradient=_avg_pool_grad_gradient, flops=infer.elements_in)


def avg_pool(value: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """The mean of each window, channel by channel; pixels beyond the edges do not count.

    Args:
        value: images, ``[batch, height, width, channels]``.
        ksize: size of a window, ``[1, height, width, 1]``.
        strides: ``[1, down, across, 1]``.
        padding: ``"SAME"`` or ``"VALID"``.
        data_format: ``"NHWC"``.
        name: name of the op.

    Raises:
        ShapeError: shapes, size or strides do not fit.
    """
    check_format(data_format)
    size, steps = spatial(ksize, "ksize"), spatial(strides, "strides")
    return apply_one("AvgPool", [value], name, size=size, strides=steps, padding=checked_padding(padding))

"""Convolutions and pooling over images ``[batch, height, width, channels]``."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.windows import Windows, check_format, checked_padding, spatial
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

# Convolution


def _infer_conv(op: Operation) -> infer.Inferred:
    images, filters = (t.shape.merge_with([None] * 4) for t in op.inputs)
    dtype = infer.same_dtype(op)
    batch, height, width, channels = images.as_list()
    down, across, inner, outer = filters.as_list()
    if None not in (channels, inner) and channels != inner:
        raise ShapeError(f"the images have {channels} channels, the filters take {inner}")
    rows = columns = None
    if down is not None and across is not None:
        windows = Windows((down, across), op.attrs["strides"], op.attrs["padding"])
        rows, columns = windows.count(0, height), windows.count(1, width)
    return [(dtype, TensorShape([batch, rows, columns, outer]))]


def _windows(filters: Any, strides: tuple[int, int], padding: str) -> Windows:
    return Windows(filters.shape[:2], strides, padding)


def _flat(filters: Any) -> Any:
    return filters.reshape(-1, filters.shape[-1])


def _conv(xp: Any, images: Any, filters: Any, *, strides: tuple[int, int], padding: str) -> Any:
    patches = _windows(filters, strides, padding).patches(xp, images)
    flat = _flat(filters)
    return patches.reshape(-1, len(flat)).dot(flat).reshape(*patches.shape[:3], -1)


def _conv_images(xp: Any, filters: Any, g: Any, like: Any, *, strides: tuple[int, int], padding: str) -> Any:
    windows = _windows(filters, strides, padding)
    patches = g.reshape(-1, g.shape[-1]).dot(_flat(filters).T)
    return windows.collect(xp, patches.reshape(*g.shape[:3], *windows.size, like.shape[-1]), like)


def _conv_filters(xp: Any, images: Any, g: Any, like: Any, *, strides: tuple[int, int], padding: str) -> Any:
    patches = _windows(like, strides, padding).patches(xp, images)
    flat = g.reshape(-1, g.shape[-1])
    return patches.reshape(len(flat), -1).T.dot(flat).reshape(like.shape)


def _conv_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    images, filters = op.inputs
    return [
        apply_one("Conv2DBackpropInput", [filters, g, images], **op.attrs),
        apply_one("Conv2DBackpropFilter", [images, g, filters], **op.attrs),
    ]


def _conv_images_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    filters, incoming, _ = op.inputs
    return [apply_one("Conv2DBackpropFilter", [g, incoming, filters], **op.attrs), apply_one("Conv2D", [g, filters], **op.attrs), None]


def _conv_filters_gradient(op: Operation, g: Tensor) -> list[Tensor | None]:
    images, incoming, _ = op.inputs
    return [apply_one("Conv2DBackpropInput", [g, incoming, images], **op.attrs), apply_one("Conv2D", [images, g], **op.attrs), None]


def _like_third(op: Operation) -> infer.Inferred:
    return [(op.inputs[0].dtype, op.inputs[2].shape)]


def _conv_flops(op: Operation) -> int:
    return 2 * infer.elements(op) * infer.size(op.inputs[1].shape[:3])


def _backprop_flops(op: Operation) -> int:
    g = op.inputs[1].shape
    filters = op.inputs[0 if op.type == "Conv2DBackpropInput" else 2].shape
    return 2 * infer.size(g) * infer.size(filters[:3])


def _patches_bytes(images: Tensor, filters: Tensor) -> int:
    """Bytes of what all windows see, which the kernels lay out beside each other."""
    return infer.size(TensorShape([*images.shape[:3], *filters.shape[:3]])) * images.dtype.size


register(
    "Conv2D",
    infer=infer.floating(_infer_conv),
    kernel=_conv,
    gradient=_conv_gradient,
    flops=_conv_flops,
    scratch=lambda op: _patches_bytes(op.outputs[0], op.inputs[1]),
)
register(
    "Conv2DBackpropInput",
    infer=_like_third,
    kernel=_conv_images,
    gradient=_conv_images_gradient,
    flops=_backprop_flops,
    scratch=lambda op: _patches_bytes(op.inputs[1], op.inputs[0]),
)
register(
    "Conv2DBackpropFilter",
    infer=_like_third,
    kernel=_conv_filters,
    gradient=_conv_filters_gradient,
    flops=_backprop_flops,
    scratch=lambda op: _patches_bytes(op.inputs[1], op.inputs[2]),
)


def conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """Slide filters over images.

    Args:
        input: images, ``[batch, height, width, channels]``.
        filter: ``[height, width, channels, filters]``.
        strides: ``[1, down, across, 1]``.
        padding: ``"SAME"`` (with zeros beyond the edges) or ``"VALID"``.
        use_cudnn_on_gpu: changes nothing.
        data_format: ``"NHWC"``.
        name: name of the op.

    Returns:
        ``[batch, rows, columns, filters]``.

    Raises:
        ShapeError: shapes or strides do not fit.
    """
    check_format(data_format)
    images = convert_to_tensor(input)
    filters = convert_to_tensor(filter, like=images)
    return apply_one("Conv2D", [images, filters], name, strides=spatial(strides, "strides"), padding=checked_padding(padding))


# Pooling


def infer_pool(op: Operation) -> infer.Inferred:
    """One output with a pixel per window."""
    x = op.inputs[0]
    batch, height, width, channels = x.shape.merge_with([None] * 4).as_list()
    windows = Windows(**op.attrs)
    return [(x.dtype, TensorShape([batch, windows.count(0, height), windows.count(1, width), channels]))]


def _max_pool(xp: Any, images: Any, *, size: tuple[int, int], strides: tuple[int, int], padding: str) -> Any:
    return Windows(size, strides, padding).patches(xp, images, -xp.inf).max(axis=(3, 4))


def _max_pool_grad(xp: Any, images: Any, greatest: Any, g: Any, *, size: tuple[int, int], strides: tuple[int, int], padding: str) -> Any:
    """The gradient of a window goes to its greatest pixel, the first if there are several."""
    result = xp.zeros(images.shape, g.dtype)
    taken = xp.zeros(greatest.shape, bool)
    for _, _, windows, pixels in Windows(size, strides, padding).overlaps(*images.shape[1:3]):
        at = (slice(None), *windows)
        seen = (slice(None), *pixels)
        here = (images[seen] == greatest[at]) & ~taken[at]
        result[seen] += g[at] * here
        taken[at] |= here
    return result


def pool_flops(op: Operation) -> int:
    """One operation per pixel of each window."""
    height, width = op.attrs["size"]
    return infer.elements(op) * int(height * width)


register(
    "MaxPool",
    infer=infer.floating(infer_pool),
    kernel=_max_pool,
    gradient=lambda op, g: [apply_one("MaxPoolGrad", [op.inputs[0], op.outputs[0], g], **op.attrs)],
    flops=pool_flops,
    scratch=lambda op: pool_flops(op) * op.outputs[0].dtype.size,
)
register(
    "MaxPoolGrad",
    infer=infer.like_first,
    kernel=_max_pool_grad,
    flops=infer.elements_in,
    scratch=lambda op: infer.size(op.inputs[1].shape) * (3 + op.inputs[1].dtype.size),  # of the windows: truth values, and a gradient
)


def max_pool(value: Any, ksize: Any, strides: Any, padding: str, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """The greatest value of each window, channel by channel.

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
    return apply_one(
        "MaxPool",
        [value],
        name,
        size=spatial(ksize, "ksize"),
        strides=spatial(strides, "strides"),
        padding=checked_padding(padding),
    )

"""Colours, brightness, contrast and cut-outs of images ``[height, width, channels]`` or ``[batch, height, width, channels]``."""

from __future__ import annotations

from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.dtypes import DType, as_dtype, float32
from pslab.graph.ops import math
from pslab.graph.ops.activations import relu
from pslab.graph.ops.arrays import cast
from pslab.graph.ops.clip import clip_by_value
from pslab.graph.ops.compare import less, where
from pslab.graph.ops.ordering import reverse
from pslab.graph.ops.random import random_uniform
from pslab.graph.ops.reduce import reduce_mean, reduce_sum
from pslab.graph.ops.shapes import size, transpose
from pslab.graph.ops.slicing import pad
from pslab.graph.tensor import Tensor

# Element types: floats in [0, 1], integers in [0, their greatest]


def convert_image_dtype(image: Any, dtype: DType | Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """``image`` with another element type, scaled: floats are from 0 to 1, integers up to their greatest.

    ``saturate`` cuts off what is beyond the integers, instead of letting it wrap around.
    """
    x, wanted = convert_to_tensor(image), as_dtype(dtype)
    if x.dtype is wanted:
        return x
    name = name or "convert_image"
    if x.dtype.is_integer and wanted.is_integer:
        if x.dtype.max > wanted.max:
            return cast(x // ((int(x.dtype.max) + 1) // (int(wanted.max) + 1)), wanted, name)
        return math.multiply(cast(x, wanted), (int(wanted.max) + 1) // (int(x.dtype.max) + 1), name)
    if x.dtype.is_integer:
        return math.multiply(cast(x, wanted), 1.0 / int(x.dtype.max), name)
    if not wanted.is_integer:
        return cast(x, wanted, name)
    scaled = x * (int(wanted.max) + 0.5)
    return cast(clip_by_value(scaled, float(wanted.min), float(wanted.max)) if saturate else scaled, wanted, name)


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """Grey images, one channel, from red, green and blue by how bright they look."""
    x = convert_to_tensor(images)
    grey = reduce_sum(convert_image_dtype(x, float32) * [0.2989, 0.587, 0.114], -1, keep_dims=True)
    return convert_image_dtype(grey, x.dtype, name=name or "rgb_to_grayscale")


# Brightness and contrast


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """``image + delta``, where an image goes from 0 to 1; integers are scaled, and cut off at their bounds."""
    x = convert_to_tensor(image)
    return convert_image_dtype(convert_image_dtype(x, float32) + delta, x.dtype, saturate=True)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_brightness` by a number in ``[-max_delta, max_delta)``.

    Raises:
        ShapeError: ``max_delta`` is negative.
    """
    if max_delta < 0:
        raise ShapeError(f"max_delta must not be negative, found {max_delta}")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """``mean + contrast_factor · (image − mean)``, the mean that of each channel of each image."""
    x = convert_to_tensor(images)
    pixels = convert_image_dtype(x, float32)
    mean = reduce_mean(pixels, [-3, -2], keep_dims=True)
    return convert_image_dtype((pixels - mean) * contrast_factor + mean, x.dtype, saturate=True)


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_contrast` by a factor in ``[lower, upper)``.

    Raises:
        ShapeError: ``lower`` is negative, or not less than ``upper``.
    """
    if not 0 <= lower < upper:
        raise ShapeError(f"expected 0 <= lower < upper, found {lower} and {upper}")
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def per_image_standardization(image: Any) -> Tensor:
    """``(image − mean) / max(standard deviation, 1 / √n)`` over the n values of each image, as float32."""
    x = cast(image, float32)
    axes = [-3, -2, -1]
    mean = reduce_mean(x, axes, keep_dims=True)
    deviation = math.sqrt(relu(reduce_mean(math.square(x), axes, keep_dims=True) - math.square(mean)))
    count = cast(size(x) // size(mean), float32)
    return math.truediv(x - mean, math.maximum(deviation, math.rsqrt(count)), "per_image_standardization")


# Turning over


def flip_left_right(image: Any) -> Tensor:
    """The columns in reverse order."""
    return reverse(image, [-2])


def flip_up_down(image: Any) -> Tensor:
    """The rows in reverse order."""
    return reverse(image, [-3])


def transpose_image(image: Any) -> Tensor:
    """Rows and columns exchanged."""
    x = convert_to_tensor(image)
    return transpose(x, [1, 0, 2] if x.shape.ndims == 3 else [0, 2, 1, 3])


def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """`flip_left_right`, or not, with the same probability."""
    return _perhaps(image, -2, seed)


def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """`flip_up_down`, or not, with the same probability."""
    return _perhaps(image, -3, seed)


def _perhaps(image: Any, axis: int, seed: int | None) -> Tensor:
    x = convert_to_tensor(image)
    return where(less(random_uniform([], 0, 1, seed=seed), 0.5), reverse(x, [axis]), x)


# Cut-outs


def crop_to_bounding_box(image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int) -> Tensor:
    """The part of this size that begins ``offset_height`` rows from the top and ``offset_width`` columns from the left.

    Raises:
        ShapeError: it is outside.
    """
    x = convert_to_tensor(image)
    height, width = _known(x)
    below, right = offset_height + target_height, offset_width + target_width
    if min(offset_height, offset_width) < 0 or below > height or right > width:
        raise ShapeError(f"the part from ({offset_height}, {offset_width}) to ({below}, {right}) is outside {height} x {width}")
    return x[..., offset_height:below, offset_width:right, :]


def pad_to_bounding_box(image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int) -> Tensor:
    """A picture of this size, zeros, with ``image`` in it, ``offset_height`` rows from the top and ``offset_width`` columns from the left.

    Raises:
        ShapeError: the image hangs over.
    """
    x = convert_to_tensor(image)
    height, width = _known(x)
    below, right = target_height - offset_height - height, target_width - offset_width - width
    if min(offset_height, offset_width, below, right) < 0:
        raise ShapeError(f"{height} x {width} from ({offset_height}, {offset_width}) on does not fit into {target_height} x {target_width}")
    batch = [[0, 0]] if x.shape.ndims == 4 else []
    return pad(x, [*batch, [offset_height, below], [offset_width, right], [0, 0]])


def resize_image_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Tensor:
    """The middle of ``image``, cut down or padded with zeros to this size.

    Raises:
        ShapeError: the size of ``image`` is not known.
    """
    x = convert_to_tensor(image)
    height, width = _known(x)
    rows, columns = min(height, target_height), min(width, target_width)
    cut = crop_to_bounding_box(x, (height - rows) // 2, (width - columns) // 2, rows, columns)
    return pad_to_bounding_box(cut, (target_height - rows) // 2, (target_width - columns) // 2, target_height, target_width)


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle part, ``central_fraction`` of each side.

    Raises:
        ShapeError: the fraction is not in (0, 1], or the size of ``image`` is not known.
    """
    if not 0 < central_fraction <= 1:
        raise ShapeError(f"central_fraction must be in (0, 1], found {central_fraction}")
    x = convert_to_tensor(image)
    height, width = _known(x)
    top, left = int((height - height * central_fraction) / 2), int((width - width * central_fraction) / 2)
    return crop_to_bounding_box(x, top, left, height - 2 * top, width - 2 * left)


def _known(x: Tensor) -> tuple[int, int]:
    if x.shape.ndims not in (3, 4) or None in x.shape.as_list()[-3:-1]:
        raise ShapeError(f"expected an image, or a batch of them, of known height and width, but {x.name} has shape {x.shape}")
    return int(x.shape[-3]), int(x.shape[-2])

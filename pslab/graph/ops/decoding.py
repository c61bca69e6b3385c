"""Pictures from files: from the bytes of a PNG or JPEG to its pixels, by Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one
from pslab.graph.dtypes import DType, as_dtype, string, uint8
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def _infer(op: Operation) -> infer.Inferred:
    contents = op.inputs[0]
    if contents.dtype is not string or not contents.shape.is_compatible_with(()):
        raise ShapeError(f"expected the bytes of one file, a string scalar, found {contents.dtype.name} of shape {contents.shape}")
    return [(uint8, TensorShape([None, None, op.attrs["channels"] or None]))]


def _decode(xp: Any, contents: Any, *, channels: int) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(contents.item())) as picture:
            own = picture.mode if picture.mode in _MODES.values() else "RGB"
            return np.array(picture.convert(_MODES.get(channels, own))).reshape(picture.height, picture.width, -1)
    except MemoryError:
        raise
    except UnidentifiedImageError:
        raise InvalidArgumentError(f"these {len(contents.item())} bytes are no picture that can be read", "PNG, JPEG, GIF or BMP files") from None
    except Exception as error:  # Pillow's readers raise what they will: SyntaxError, struct.error, DecompressionBombError
        raise InvalidArgumentError(
            f"the picture in these {len(contents.item())} bytes cannot be read: {error}", "was it written to its end?"
        ) from None


register("DecodeImage", infer=_infer, kernel=_decode, gradient=not_differentiable, host_only=True)


def decode_image(contents: Any, channels: int | None = 0, dtype: DType | Any = uint8, name: str | None = None) -> Tensor:
    """The pixels of a picture, uint8, ``[height, width, channels]``.

    Args:
        contents: the bytes of a file, a string scalar.
        channels: 1 for grey, 3 for colours, 4 with transparency, 0 for as many as the file has.
        dtype: uint8.
        name: name of the op.

    Raises:
        ShapeError: there is no such number of channels, or another dtype is asked for.
        InvalidArgumentError: when it runs, the bytes are no picture.
    """
    count = channels or 0
    if count not in (0, *_MODES):
        raise ShapeError(f"a picture has 1, 3 or 4 channels, or 0 for as many as the file has, not {count}")
    if as_dtype(dtype) is not uint8:
        raise ShapeError(f"pictures are decoded to uint8, not {as_dtype(dtype).name}; use pslab.image.convert_image_dtype")
    return apply_one("DecodeImage", [contents], name or "DecodeImage", channels=count)


def decode_png(contents: Any, channels: int | None = 0, dtype: DType | Any = uint8, name: str | None = None) -> Tensor:
    """`decode_image`; the kind of file is found out from its bytes."""
    return decode_image(contents, channels, dtype, name or "DecodePng")


def decode_jpeg(
    contents: Any,
    channels: int | None = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """`decode_image`; the kind of file is found out from its bytes. The further arguments must be TensorFlow's defaults or change nothing.

    Raises:
        ShapeError: a ``ratio`` other than 1.
    """
    if ratio != 1:
        raise ShapeError(f"pictures are decoded in their own size, not at a ratio of {ratio}; use pslab.image.resize_images")
    return decode_image(contents, channels, uint8, name or "DecodeJpeg")

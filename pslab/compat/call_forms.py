"""Functions whose arguments TensorFlow ordered otherwise before version 1.0; each is told by the kinds of its arguments, so both forms can be meant."""

from __future__ import annotations

from typing import Any

from pslab.graph.ops import joining
from pslab.graph.tensor import Tensor
from pslab.summary import ops as summaries


def concat(values: Any, axis: Any, name: str | None = None) -> Tensor:
    """`pslab.graph.ops.joining.concat`; ``concat(axis, values)``, as before TensorFlow 1.0, is understood too."""
    if isinstance(values, int) and isinstance(axis, list | tuple):
        values, axis = axis, values
    return joining.concat(values, axis, name)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str | None = None) -> list[Tensor]:
    """`pslab.graph.ops.joining.split`; ``split(axis, number, value)``, as before TensorFlow 1.0, is understood too."""
    if isinstance(value, int) and isinstance(num_or_size_splits, int) and not isinstance(axis, int):
        value, axis = axis, value
    return joining.split(value, num_or_size_splits, axis, num, name)


def scalar_summary(tags: Any, values: Any, collections: list[str] | None = None, name: str | None = None) -> Tensor:
    """``summary.scalar`` as it was called before TensorFlow 1.0."""
    return summaries.scalar(_tag(tags, name), values, collections)


def histogram_summary(tag: Any, values: Any, collections: list[str] | None = None, name: str | None = None) -> Tensor:
    """``summary.histogram`` as it was called before TensorFlow 1.0."""
    return summaries.histogram(_tag(tag, name), values, collections)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: list[str] | None = None, name: str | None = None) -> Tensor:
    """``summary.image`` as it was called before TensorFlow 1.0."""
    return summaries.image(_tag(tag, name), tensor, max_images, collections)


def _tag(tag: Any, name: str | None) -> str:
    return str(tag if isinstance(tag, str) else name or "summary")

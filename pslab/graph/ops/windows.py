"""Windows that slide over images: where they lie, and the way from an image to its patches and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.ops.static import integer


@dataclass(frozen=True)
class Windows:
    """Windows of one size over images ``[batch, height, width, channels]``.

    Attributes:
        size: height and width of a window.
        strides: steps between windows, down and across.
        padding: ``"SAME"``: windows begin at every stride, and hang over the edges evenly; ``"VALID"``: they lie inside.
    """

    size: tuple[int, int]
    strides: tuple[int, int]
    padding: str

    def count(self, axis: int, length: int | None) -> int | None:
        """How many windows fit along a spatial axis (0 down, 1 across) of this length.

        Raises:
            ShapeError: not one.
        """
        if length is None:
            return None
        if self.padding == "SAME":
            return -(-length // self.strides[axis])
        if length < self.size[axis]:
            raise ShapeError(f"a window of {self.size[0]} x {self.size[1]} does not fit into an axis of {length} with padding 'VALID'")
        return (length - self.size[axis]) // self.strides[axis] + 1

    def before(self, axis: int, length: int) -> int:
        """How far the first window hangs over the edge."""
        if self.padding == "VALID":
            return 0
        over = ((self.count(axis, length) or 0) - 1) * self.strides[axis] + self.size[axis] - length
        return max(over, 0) // 2

    def overlaps(self, height: int, width: int) -> Iterator[tuple[int, int, tuple[slice, slice], tuple[slice, slice]]]:
        """For each place ``(i, j)`` in a window: which windows have it inside the image, and which pixels these are."""
        for i in range(self.size[0]):
            rows, lines = self._along(0, i, height)
            for j in range(self.size[1]):
                columns, pixels = self._along(1, j, width)
                yield i, j, (rows, columns), (lines, pixels)

    def _along(self, axis: int, offset: int, length: int) -> tuple[slice, slice]:
        stride, start = self.strides[axis], offset - self.before(axis, length)
        first = max(0, -(start // stride))
        stop = max(first, min(self.count(axis, length) or 0, (length - 1 - start) // stride + 1))
        begin = first * stride + start
        return slice(first, stop), slice(begin, begin + (stop - first) * stride, stride)

    def patches(self, xp: Any, images: Any, fill: float = 0.0) -> Any:
        """What each window sees: ``[batch, rows, columns, height, width, channels]``, with ``fill`` beyond the edges."""
        batch, height, width, channels = images.shape
        shape = (batch, self.count(0, height), self.count(1, width), *self.size, channels)
        seen = xp.full(shape, fill, images.dtype) if self.padding == "SAME" else xp.empty(shape, images.dtype)
        for i, j, (rows, columns), (lines, pixels) in self.overlaps(height, width):
            seen[:, rows, columns, i, j] = images[:, lines, pixels]
        return seen

    def collect(self, xp: Any, patches: Any, like: Any) -> Any:
        """The reverse of `patches`: images of the shape of ``like``, each pixel the sum over the windows that see it."""
        images = xp.zeros(like.shape, patches.dtype)
        for i, j, (rows, columns), (lines, pixels) in self.overlaps(*like.shape[1:3]):
            images[:, lines, pixels] += patches[:, rows, columns, i, j]
        return images


def spatial(values: Any, what: str) -> tuple[int, int]:
    """The middle two of TensorFlow's four numbers, one per axis.

    Raises:
        ShapeError: there are not four positive ones, or those of batch and channels are not 1.
    """
    numbers = [integer(v, what) for v in values] if isinstance(values, Sequence) else []
    if len(numbers) != 4 or numbers[0] != 1 or numbers[3] != 1 or min(numbers) < 1:
        raise ShapeError(f"{what} must be [1, down, across, 1], found {values!r}")
    return numbers[1], numbers[2]


def checked_padding(padding: str) -> str:
    """``padding``, if it is one.

    Raises:
        ShapeError: it is neither ``"SAME"`` nor ``"VALID"``.
    """
    if padding not in ("SAME", "VALID"):
        raise ShapeError(f"padding is 'SAME' or 'VALID', not {padding!r}")
    return padding


def check_format(data_format: str | None) -> None:
    """Refuse channels that are not last.

    Raises:
        ShapeError: they are not.
    """
    if data_format not in (None, "NHWC"):
        raise ShapeError(f"images are 'NHWC', channels last, not {data_format!r}")

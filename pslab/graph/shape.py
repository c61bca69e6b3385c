"""Static shapes: what is known of a tensor's shape before the graph runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pslab.errors import ShapeError


class Dimension(int):
    """A known dimension. An ``int`` that also has TensorFlow 1's ``.value``."""

    @property
    def value(self) -> int:
        """The dimension as a plain ``int``."""
        return int(self)


class UnknownDimension:
    """A dimension that is not known: TensorFlow 1's ``Dimension(None)``. Whatever is reckoned with it is not known either."""

    value = None

    def _unknown(self, other: object) -> UnknownDimension:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _unknown

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, UnknownDimension)

    def __hash__(self) -> int:
        return hash(None)

    def __str__(self) -> str:
        return "?"

    def __repr__(self) -> str:
        return "Dimension(None)"


class TensorShape:
    """A shape in which the rank, or any dimension, may be unknown (``None``).

    Args:
        dims: a sequence of ``int`` or ``None``, another `TensorShape`, or None where the rank itself is unknown.
    """

    __slots__ = ("dims",)

    def __init__(self, dims: TensorShape | Iterable[int | UnknownDimension | None] | int | None = None) -> None:
        self.dims: tuple[int | None, ...] | None
        if dims is None:
            self.dims = None
        elif isinstance(dims, TensorShape):
            self.dims = dims.dims
        elif isinstance(dims, int):
            self.dims = (dims,)
        else:
            self.dims = tuple(None if d is None or isinstance(d, UnknownDimension) or d == -1 else int(d) for d in dims)
            if any(d is not None and d < 0 for d in self.dims):
                raise ShapeError(f"a shape has no negative dimension, but {list(self.dims)} has")

    @property
    def ndims(self) -> int | None:
        """The rank, or None where it is unknown."""
        return None if self.dims is None else len(self.dims)

    rank = ndims

    def dim(self, axis: int) -> int | None:
        """The length of an axis, or None where it, or the rank, is not known."""
        return None if self.dims is None else self.dims[axis]

    def is_fully_defined(self) -> bool:
        """Whether the rank and every dimension are known."""
        return self.dims is not None and None not in self.dims

    def as_list(self) -> list[int | None]:
        """The dimensions as a list.

        Raises:
            ShapeError: the rank is unknown.
        """
        if self.dims is None:
            raise ShapeError("the shape's rank is unknown, so it has no list of dimensions")
        return list(self.dims)

    def as_tuple(self) -> tuple[int, ...]:
        """The dimensions of a fully known shape.

        Raises:
            ShapeError: a dimension is unknown.
        """
        if self.dims is None or None in self.dims:
            raise ShapeError(f"shape {self} is not fully known")
        return tuple(d for d in self.dims if d is not None)

    def num_elements(self) -> int | None:
        """The number of elements, or None where a dimension is unknown."""
        if not self.is_fully_defined():
            return None
        count = 1
        for d in self.as_tuple():
            count *= d
        return count

    def is_compatible_with(self, other: TensorShape | Sequence[int | None] | None) -> bool:
        """Whether some shape fits both."""
        try:
            self.merge_with(other)
        except ShapeError:
            return False
        return True

    def merge_with(self, other: TensorShape | Sequence[int | None] | None) -> TensorShape:
        """The shape that knows what both know.

        Raises:
            ShapeError: no shape fits both.
        """
        other = TensorShape(other)
        if self.dims is None:
            return other
        if other.dims is None:
            return self
        if len(self.dims) != len(other.dims) or any(a is not None and b is not None and a != b for a, b in zip(self.dims, other.dims, strict=True)):
            raise ShapeError(f"shapes {self} and {other} do not fit")
        return TensorShape(b if a is None else a for a, b in zip(self.dims, other.dims, strict=True))

    def broadcast_with(self, other: TensorShape) -> TensorShape:
        """The shape of an elementwise operation between the two, by NumPy's rules.

        Raises:
            ShapeError: two dimensions differ and neither is 1.
        """
        if self.dims is None or other.dims is None:
            return TensorShape(None)
        rank = max(len(self.dims), len(other.dims))
        left = (1,) * (rank - len(self.dims)) + self.dims
        right = (1,) * (rank - len(other.dims)) + other.dims
        return TensorShape(_broadcast_dimension(a, b, self, other) for a, b in zip(left, right, strict=True))

    def holds(self, other: TensorShape) -> bool:
        """Whether an array of this shape is certainly not stretched by broadcasting with one of shape ``other``."""
        if self.dims is None or other.dims is None or len(other.dims) > len(self.dims):
            return False
        tail = self.dims[len(self.dims) - len(other.dims) :]
        return all(theirs == 1 or ours not in (None, 1) for ours, theirs in zip(tail, other.dims, strict=True))

    def __iter__(self) -> Iterator[int | None]:
        return iter(self.as_list())

    def __len__(self) -> int:
        return len(self.as_list())

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return TensorShape(None if self.dims is None else self.dims[key])
        found = self.dim(key)
        return UnknownDimension() if found is None else Dimension(found)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self.dims == other.dims
        if other is None or isinstance(other, list | tuple):
            return self.dims == TensorShape(other).dims
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dims)

    def __str__(self) -> str:
        if self.dims is None:
            return "<unknown>"
        return "(" + ", ".join("?" if d is None else str(d) for d in self.dims) + ("," if len(self.dims) == 1 else "") + ")"

    def __repr__(self) -> str:
        return f"TensorShape({None if self.dims is None else list(self.dims)})"


def _broadcast_dimension(a: int | None, b: int | None, left: TensorShape, right: TensorShape) -> int | None:
    if a == 1:
        return b
    if b == 1 or a == b:
        return a
    if a is None:
        return b
    if b is None:
        return a
    raise ShapeError(f"shapes {left} and {right} do not broadcast: {a} and {b} differ and neither is 1")


def scalar() -> TensorShape:
    """The shape of a single value: rank 0."""
    return TensorShape(())

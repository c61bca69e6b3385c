"""A tensor: one output of an operation, as a symbol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pslab.errors import GraphError, ShapeError
from pslab.graph import defaults

if TYPE_CHECKING:
    from pslab.graph.dtypes import DType
    from pslab.graph.graph import Graph
    from pslab.graph.operation import Operation
    from pslab.graph.shape import TensorShape


class Tensor:
    """A value that an operation will produce when the graph runs. It has a dtype and a static shape, but no numbers yet.

    Python's operators build further ops (they are attached in `pslab.graph.ops.operators`). ``==`` compares identity, as in TensorFlow 1: use
    `pslab.equal` for the elementwise comparison.
    """

    __slots__ = ("_shape", "dtype", "op", "value_index")
    __array_priority__ = 100  # so that ndarray + Tensor is ours
    __array_ufunc__ = None

    def __init__(self, op: Operation, value_index: int, dtype: DType, shape: TensorShape) -> None:
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        self._shape = shape

    @property
    def name(self) -> str:
        """``"op:index"``, such as ``"hidden/MatMul:0"``."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self) -> Graph:
        """The graph this tensor belongs to."""
        return self.op.graph

    @property
    def device(self) -> str:
        """The device name asked for the op, possibly partial or empty."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The static shape, by TensorFlow 1's name."""
        return self._shape

    def set_shape(self, shape: Any) -> None:
        """Add what you know about the shape.

        Raises:
            ShapeError: it contradicts what is known already.
        """
        try:
            self._shape = self._shape.merge_with(shape)
        except ShapeError as error:
            raise ShapeError(f"{self.name}: {error.message}") from None

    def consumers(self) -> list[Operation]:
        """The ops that take this tensor as an input, in the order they were built."""
        return [op for op in self.graph.operations if any(t is self for t in op.inputs)]

    def eval(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> np.ndarray[Any, Any]:
        """Run what is needed for this tensor in ``session``, or in the default session.

        Raises:
            UsageError: there is no default session.
        """
        return (session or defaults.require_session()).run(self, feed_dict)  # type: ignore[no-any-return]

    if TYPE_CHECKING:  # attached by pslab.graph.ops.operators

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __bool__(self) -> bool:
        raise TypeError(f"{self.name} has no truth value while the graph is being built; run it in a Session first")

    def __iter__(self) -> Iterator[Tensor]:
        raise TypeError(f"{self.name} cannot be iterated; use pslab.unstack or pslab.split")

    def __len__(self) -> int:
        raise TypeError(f"{self.name} has no length; use its static .shape, or pslab.shape")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise GraphError(f"{self.name} is a symbol and has no numbers yet", "run it: session.run(tensor)")

    def __repr__(self) -> str:
        return f"<pslab.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

"""Products of tensors over named or listed axes, and the small matrices that go with them."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.build import apply_one, constant_in, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype, float32
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.arrays import ones_like
from pslab.graph.ops.compare import where
from pslab.graph.ops.reduce import reduce_sum
from pslab.graph.ops.shapes import expand_dims, transpose
from pslab.graph.ops.static import constant_value, integer, is_symbolic
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _sides(op: Operation) -> tuple[list[str], str]:
    left, right = op.attrs["equation"].split("->")
    return left.split(","), right


def _infer_einsum(op: Operation) -> infer.Inferred:
    terms, result = _sides(op)
    lengths: dict[str, TensorShape] = {}
    for term, tensor in zip(terms, op.inputs, strict=True):
        for label, length in zip(term, tensor.shape.merge_with([None] * len(term)), strict=True):
            try:
                lengths[label] = TensorShape([length]).merge_with(lengths.get(label))
            except ShapeError:
                raise ShapeError(
                    f"{op.attrs['equation']!r}: the axes {label!r} differ in length, in shapes {[str(t.shape) for t in op.inputs]}"
                ) from None
    return [(infer.same_dtype(op), TensorShape(lengths[label][0] for label in result))]


def _einsum_gradient(op: Operation, g: Tensor) -> list[Tensor]:
    """With respect to each input: the product of what flows in, of all the others, and of ones, which spread over axes of its own."""
    terms, result = _sides(op)
    found = []
    for i, (term, tensor) in enumerate(zip(terms, op.inputs, strict=True)):
        others = [(t, x) for j, (t, x) in enumerate(zip(terms, op.inputs, strict=True)) if j != i]
        own = set(term) - set(result).union(*(t for t, _ in others))
        factors = [(result, g), *others, *([(term, ones_like(tensor))] if own else [])]
        equation = ",".join(t for t, _ in factors) + f"->{term}"
        found.append(apply_one("Einsum", [x for _, x in factors], equation=equation))
    return found


def _flops(op: Operation) -> int:
    return 2 * max(infer.size(t.shape) for t in (*op.inputs, *op.outputs))


register(
    "Einsum",
    infer=infer.numeric(_infer_einsum),
    kernel=lambda xp, *values, equation: xp.ascontiguousarray(xp.einsum(equation, *values, optimize=len(values) > 1)),
    gradient=_einsum_gradient,
    flops=_flops,
)


def einsum(equation: str, *inputs: Any, name: str | None = None) -> Tensor:
    """The sum over products that ``equation`` names, such as ``"ij,jk->ik"`` for the product of matrices.

    Raises:
        ShapeError: the equation does not fit the inputs, or has an ellipsis, or an axis twice in one input.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow:
        right = "".join(label for label in sorted(set(left) - {","}) if left.count(label) == 1)
    if not all(set(t) <= set(string.ascii_letters) and len(set(t)) == len(t) for t in [*terms, right]) or not set(right) <= set(left):
        raise ShapeError(f"{equation!r} must name axes by letters, each once in an input and at most once in the result")
    if len(terms) != len(inputs):
        raise ShapeError(f"{equation!r} takes {len(terms)} inputs, found {len(inputs)}")
    return apply_one("Einsum", [convert_to_tensor(x) for x in inputs], name or "einsum", equation=f"{left}->{right}")


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum over products along pairs of axes.

    Args:
        a: a tensor of known rank.
        b: another.
        axes: a number n: the last n of ``a`` with the first n of ``b``; or two lists of axes (or two axes), which are paired.
        name: name of the op.

    Raises:
        ShapeError: ranks are not known, or axes do not pair.
    """
    x, y = convert_to_tensor(a), convert_to_tensor(b)
    if x.shape.ndims is None or y.shape.ndims is None:
        raise ShapeError(f"tensordot needs known ranks, found shapes {x.shape} and {y.shape}")
    if is_symbolic(axes):
        axes = np.asarray(constant_value(convert_to_tensor(axes))).tolist()
    if not isinstance(axes, list | tuple | np.ndarray):
        count = integer(axes, "axes")
        pairs = list(zip(range(x.shape.ndims - count, x.shape.ndims), range(count), strict=True))
    else:
        first, second = (np.atleast_1d(side).tolist() for side in axes)
        if len(first) != len(second):
            raise ShapeError(f"tensordot pairs axes, but {first} and {second} are not as many")
        pairs = [(infer.axis_in(i, x.shape.ndims), infer.axis_in(j, y.shape.ndims)) for i, j in zip(first, second, strict=True)]
    left = string.ascii_lowercase[: x.shape.ndims]
    right = list(string.ascii_uppercase[: y.shape.ndims])
    for i, j in pairs:
        right[j] = left[i]
    summed = {left[i] for i, _ in pairs}
    kept = "".join(label for label in (*left, *right) if label not in summed)
    return einsum(f"{left},{''.join(right)}->{kept}", x, y, name=name or "Tensordot")


def matrix_transpose(a: Any, name: str | None = None) -> Tensor:
    """The last two axes exchanged.

    Raises:
        ShapeError: the rank is not known, or less than 2.
    """
    x = convert_to_tensor(a)
    rank = x.shape.ndims
    if rank is None or rank < 2:
        raise ShapeError(f"matrix_transpose takes matrices, but {x.name} has shape {x.shape}")
    return transpose(x, [*range(rank - 2), rank - 1, rank - 2], name or "matrix_transpose")


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: DType | Any = float32, name: str | None = None) -> Tensor:
    """The unit matrix; with ``batch_shape``, as many of it. All must be known when the graph is built."""
    rows = integer(num_rows, "num_rows")
    matrix = np.eye(rows, rows if num_columns is None else integer(num_columns, "num_columns"), dtype=as_dtype(dtype).as_numpy_dtype)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*(integer(d, "a dimension") for d in batch_shape), *matrix.shape)).copy()
    return constant_in(get_default_graph(), matrix, name or "eye")


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """The matrix with this vector, of known length, on its diagonal, and zeros elsewhere."""
    x = convert_to_tensor(diagonal)
    if x.shape.ndims != 1 or x.shape.dim(0) is None:
        raise ShapeError(f"diag takes a vector of known length, but {x.name} has shape {x.shape}")
    return where(eye(x.shape[0], dtype=bool), expand_dims(x, 0), convert_to_tensor(0, like=x), name or "Diag")


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a matrix of known shape, or of each of a stack of them."""
    x = convert_to_tensor(input)
    if x.shape.ndims is None or x.shape.ndims < 2 or None in x.shape.as_list()[-2:]:
        raise ShapeError(f"a diagonal needs a matrix of known shape, but {x.name} has shape {x.shape}")
    rows, columns = (int(d) for d in x.shape[-2:])
    short = min(rows, columns)
    on = where(eye(rows, columns, dtype=bool), x, convert_to_tensor(0, like=x))
    return reduce_sum(on[..., :short, :short], -1, name=name or "DiagPart")


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the diagonal of a matrix of known shape, or of each of a stack of them."""
    return reduce_sum(diag_part(x), -1, name=name or "Trace")

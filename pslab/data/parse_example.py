"""From serialised ``tf.train.Example`` messages to tensors (TensorFlow 1's ``tf.parse_example``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from pslab.data.example_proto import Example
from pslab.data.text import string_array
from pslab.errors import GraphError, InvalidArgumentError, ShapeError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.dtypes import as_dtype, string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.strings import as_bytes
from pslab.graph.tensor import Tensor

_KINDS = {"float32": "float_list", "int64": "int64_list", "string": "bytes_list"}


class FixedLenFeature(NamedTuple):
    """A feature that has as many values in every example.

    Attributes:
        shape: of its values, fully known.
        dtype: float32, int64 or string.
        default_value: what stands for it where an example lacks it: of that shape, or one value for all; None if it is required.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


def _kernel(xp: Any, serialized: Any, *defaults: Any, keys: Any, dtypes: Any, shapes: Any, required: Any) -> Any:
    examples = [_parsed(as_bytes(s), index) for index, s in enumerate(np.ravel(serialized))]
    columns = []
    for key, dtype, shape, needed, default in zip(keys, dtypes, shapes, required, defaults, strict=True):
        rows = [_values(example, index, key, dtype, shape, None if needed else default) for index, example in enumerate(examples)]
        flat = [value for row in rows for value in row]
        whole = (*np.shape(serialized), *shape)
        columns.append(string_array(flat, whole) if dtype == "string" else np.array(flat, dtype).reshape(whole))
    return tuple(columns) if len(columns) > 1 else columns[0]


def _parsed(serialized: bytes, index: int) -> Any:
    try:
        return Example.FromString(serialized).features.feature
    except DecodeError:
        raise InvalidArgumentError(f"could not parse example {index}: its {len(serialized)} bytes are no serialised Example") from None


def _values(example: Any, index: int, key: str, dtype: str, shape: Any, default: Any) -> Any:
    kind = example[key].WhichOneof("kind") if key in example else None
    count = int(np.prod(shape))
    if kind is None:
        if default is None:
            raise InvalidArgumentError(f"feature {key!r} is required, but example {index} lacks it", "a default_value may stand for it")
        return [as_bytes(v) if dtype == "string" else v for v in np.broadcast_to(default, shape).ravel()]
    if kind != _KINDS[dtype]:
        raise InvalidArgumentError(f"feature {key!r} of example {index} is a {kind}, but {dtype} was expected, which is a {_KINDS[dtype]}")
    values = getattr(example[key], kind).value
    if len(values) != count:
        raise InvalidArgumentError(f"feature {key!r} of example {index} has {len(values)} values, but its shape {tuple(shape)} needs {count}")
    return values


def _infer(op: Operation) -> infer.Inferred:
    serialized = op.inputs[0]
    if serialized.dtype is not string:
        raise ShapeError(f"serialised examples are strings, found {serialized.dtype.name}")
    batch = serialized.shape.dims
    columns = zip(op.attrs["dtypes"], op.attrs["shapes"], strict=True)
    return [(as_dtype(dtype), TensorShape(None if batch is None else [*batch, *shape])) for dtype, shape in columns]


register("ParseExample", infer=_infer, kernel=_kernel, gradient=not_differentiable, host_only=True)


def parse_example(serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None) -> dict[str, Tensor]:
    """Tensors by name, each with the examples along its first axis.

    Args:
        serialized: a vector of strings, a serialised `Example` each.
        features: which features are wanted, and what they look like.
        name: of the op.
        example_names: changes nothing; messages name an example by its position.

    Raises:
        GraphError: ``serialized`` is no vector, or a feature is not described.
        InvalidArgumentError: (when it runs) a string is no example, or a feature is missing, of another kind or of another length.
    """
    return _parse(serialized, features, name or "ParseExample", [None])


def parse_single_example(
    serialized: Any, features: Mapping[str, FixedLenFeature], name: str | None = None, example_names: Any = None
) -> dict[str, Tensor]:
    """As `parse_example`, of one example: ``serialized`` is a scalar, and the tensors have no axis more than their features."""
    return _parse(serialized, features, name or "ParseSingleExample", [])


def _parse(serialized: Any, features: Mapping[str, FixedLenFeature], name: str, batch: list[None]) -> dict[str, Tensor]:
    strings = convert_to_tensor(serialized)
    if not strings.shape.is_compatible_with(batch):
        raise GraphError(
            f"expected serialised examples of shape {TensorShape(batch)}, found {strings.shape}", "parse_single_example takes one, parse_example many"
        )
    strings.set_shape(batch)
    if not features:
        raise GraphError("there are no features to parse")
    keys = sorted(features)
    defaults = [_default(key, features[key]) for key in keys]
    op = apply_op(
        "ParseExample",
        [strings, *(d if d is not None else np.zeros(0, np.float32) for d in defaults)],
        name,
        keys=tuple(keys),
        dtypes=tuple(as_dtype(features[k].dtype).name for k in keys),
        shapes=tuple(TensorShape(features[k].shape).as_tuple() for k in keys),
        required=tuple(d is None for d in defaults),
    )
    return dict(zip(keys, op.outputs, strict=True))


def _default(key: str, feature: Any) -> Tensor | None:
    if not isinstance(feature, FixedLenFeature):
        raise GraphError(f"feature {key!r} must be a FixedLenFeature, not {type(feature).__name__}", "pslab has no sparse tensors")
    dtype, shape = as_dtype(feature.dtype), TensorShape(feature.shape)
    if dtype.name not in _KINDS:
        raise GraphError(f"feature {key!r} can be {', '.join(_KINDS)}, not {dtype.name}", "use pslab.cast afterwards")
    if not shape.is_fully_defined():
        raise GraphError(f"the shape of feature {key!r} must be fully known, found {shape}")
    if feature.default_value is None:
        return None
    default = convert_to_tensor(feature.default_value, dtype)
    if default.shape.num_elements() != 1 and not default.shape.is_compatible_with(shape):
        raise GraphError(f"the default of feature {key!r} has shape {default.shape}, but {shape} is needed")
    return default

"""Records of comma-separated values (TensorFlow 1's ``tf.decode_csv``)."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.data.text import number
from pslab.errors import GraphError, InvalidArgumentError, ShapeError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.dtypes import as_dtype, string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.strings import as_bytes, as_text
from pslab.graph.tensor import Tensor

csv.field_size_limit(sys.maxsize)  # a field may be of any length, as in TensorFlow

_DTYPES = ("float32", "float64", "int32", "int64", "string")


def _kernel(xp: Any, records: Any, *defaults: Any, dtypes: Any, field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Any) -> Any:
    dialect = {"delimiter": field_delim, "quoting": csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE, "strict": True}
    rows = [_fields(as_text(record), index, len(defaults), select_cols, dialect) for index, record in enumerate(np.ravel(records))]
    columns = []
    for position, (default, dtype) in enumerate(zip(defaults, dtypes, strict=True)):
        kind = as_dtype(dtype).as_numpy_dtype
        column = np.empty(len(rows), kind)
        for index, row in enumerate(rows):
            column[index] = _value(row[position], default, kind, na_value, position, index)
        columns.append(column.reshape(np.shape(records)))
    return tuple(columns) if len(columns) > 1 else columns[0]


def _fields(record: str, index: int, count: int, select_cols: Any, dialect: dict[str, Any]) -> list[str]:
    try:
        fields = next(csv.reader([record], **dialect), [""]) or [""]
    except csv.Error as error:
        raise InvalidArgumentError(f"record {index} cannot be read: {error}: {record!r:.200}") from None
    if select_cols is not None:
        if select_cols[-1] >= len(fields):
            raise InvalidArgumentError(f"column {select_cols[-1]} is selected, but record {index} has {len(fields)} fields: {record!r:.200}")
        return [fields[i] for i in select_cols]
    if len(fields) != count:
        raise InvalidArgumentError(f"expected {count} fields, but record {index} has {len(fields)}: {record!r:.200}")
    return fields


def _value(field: str, default: Any, dtype: np.dtype[Any], na_value: str, position: int, index: int) -> Any:
    if field in ("", na_value):
        if not default.size:
            raise InvalidArgumentError(f"field {position} is required, but missing in record {index}", "a default may stand for it")
        value = default.reshape(-1)[0]
        return as_bytes(value) if dtype.kind == "O" else value
    if dtype.kind == "O":
        return as_bytes(field)
    try:
        return number(field, dtype)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"field {position} in record {index}: {error.message}") from None


def _infer(op: Operation) -> infer.Inferred:
    records, *defaults = op.inputs
    if records.dtype is not string:
        raise ShapeError(f"records must be strings, found {records.dtype.name}")
    for default in defaults:
        if default.dtype.name not in _DTYPES:
            raise ShapeError(f"a field can be {', '.join(_DTYPES)}, not {default.dtype.name}")
        if not (default.shape.is_compatible_with([]) or default.shape.is_compatible_with([1]) or default.shape.is_compatible_with([0])):
            raise ShapeError(f"a default is one value, or none, but {default.name} has shape {default.shape}")
    return [(default.dtype, records.shape) for default in defaults]


register("DecodeCSV", infer=_infer, kernel=_kernel, gradient=not_differentiable, host_only=True)


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """A tensor per column, each of the shape of ``records``.

    Args:
        records: strings, a record of RFC 4180 each.
        record_defaults: per column a default, which tells the column's type: float32, float64, int32, int64 or string. An empty tensor of that
            type makes the field a required one.
        field_delim: what parts the fields, one character.
        use_quote_delim: whether fields may be in double quotes.
        name: of the op.
        na_value: a field that stands for the default, besides an empty one.
        select_cols: which columns are wanted, in ascending order; as many as there are defaults.

    Raises:
        GraphError: the columns, or the delimiter, cannot be meant.
        InvalidArgumentError: (when it runs) a record has another number of fields, a field is no number, or a required one is missing.
    """
    if len(field_delim) != 1 or field_delim in '"\r\n':
        raise GraphError(f"field_delim is one character, neither a quote nor the end of a line, not {field_delim!r}")
    if not isinstance(record_defaults, list | tuple) or not record_defaults:
        raise GraphError(f"record_defaults is a list with a default for each column, at least one; found {record_defaults!r:.80}", "[[0.0], ['']]")
    columns = None if select_cols is None else tuple(int(i) for i in select_cols)
    if columns is not None and (len(columns) != len(record_defaults) or list(columns) != sorted(set(columns)) or columns[0] < 0):
        raise GraphError(f"select_cols must be {len(record_defaults)} different columns in ascending order, found {list(columns)}")
    defaults = [convert_to_tensor(default) for default in record_defaults]
    op = apply_op(
        "DecodeCSV",
        [convert_to_tensor(records), *defaults],
        name,
        dtypes=tuple(d.dtype.name for d in defaults),
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=columns,
    )
    return list(op.outputs)

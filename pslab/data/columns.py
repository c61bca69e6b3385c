"""Files of columns: arrays of ``.npy`` and ``.npz`` files, columns of Parquet and CSV files. They are read whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.data.files import open_file
from pslab.data.text import each
from pslab.errors import DataLossError, InvalidArgumentError, NotFoundError
from pslab.graph.strings import as_bytes

Array = np.ndarray[Any, np.dtype[Any]]


def numpy_columns(name: str, names: Sequence[str] | None) -> list[Array]:
    """The array of a ``.npy`` file, or arrays of a ``.npz`` file by their names; all of them if ``names`` is None.

    Raises:
        NotFoundError: there is no such file, or no array of a name in it.
        DataLossError: it is no such file, or its arrays have different lengths.
    """
    with open_file(name) as file:
        try:
            found = np.load(file, allow_pickle=False)
            arrays = {"": found} if isinstance(found, np.ndarray) else dict(found)
        except MemoryError:
            raise
        except Exception as error:  # of the zip file, of zlib, of Python's own reader of a header: whichever part is broken
            raise DataLossError(
                f"{name!r} is no file of NumPy's, or a broken one: {error}", "was it written to its end, by numpy.save or savez?"
            ) from None
    if isinstance(found, np.ndarray) and names:
        raise InvalidArgumentError(f"{name!r} holds one array without a name, so there is no {', '.join(names)}")
    chosen = _chosen(name, arrays, list(arrays) if names is None else names)
    if len({a.shape[:1] for a in chosen}) != 1 or chosen[0].ndim == 0:
        raise DataLossError(f"the arrays of {name!r} have no rows in common: their shapes are {', '.join(str(a.shape) for a in chosen)}")
    return chosen


def parquet_columns(name: str, names: Sequence[str]) -> list[Array]:
    """Columns of a Parquet file. Texts are bytes; lists of one length make a further axis.

    Raises:
        NotFoundError: there is no such file, or no such column.
        DataLossError: it is no Parquet file, or a column has empty places or lists of different lengths.
    """
    import pyarrow
    import pyarrow.parquet

    with open_file(name) as file:
        try:
            table = pyarrow.parquet.read_table(file)
        except (pyarrow.ArrowException, OSError) as error:
            raise DataLossError(f"{name!r} is no Parquet file, or a broken one: {error}", "was it written to its end?") from None
    found = {column: table.column(column) for column in table.column_names}
    return [_dense(name, column, values) for column, values in zip(names, _chosen(name, found, names), strict=True)]


def as_type(array: Array, dtype: str, name: str) -> Array:
    """``array`` as pslab's element type ``dtype``.

    Raises:
        InvalidArgumentError: it would lose something.
    """
    if dtype == "string":
        if array.dtype.kind not in "OSU":
            raise InvalidArgumentError(f"{name!r} holds {array.dtype}, not strings")
        return each(as_bytes, array)
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise InvalidArgumentError(f"{name!r} holds {array.dtype}, which makes no {dtype} without losing something")
    return array.astype(dtype)


def _chosen(name: str, found: dict[str, Any], names: Sequence[str]) -> list[Any]:
    if not names:
        raise DataLossError(f"{name!r} holds no array", "numpy.savez(file, x=…, y=…) writes arrays")
    missing = [n for n in names if n not in found]
    if missing:
        raise NotFoundError(f"{name!r} has no {', '.join(map(repr, missing))}", f"it has {', '.join(map(str, found))}")
    return [found[n] for n in names]


def _dense(name: str, column: str, values: Any) -> Array:
    if values.null_count:
        raise DataLossError(f"column {column!r} of {name!r} has {values.null_count} empty places", "fill or drop them first")
    array = values.to_numpy()
    if array.dtype == object and len(array) and isinstance(array[0], np.ndarray):
        if len({len(row) for row in array}) != 1:
            raise DataLossError(f"the lists in column {column!r} of {name!r} have different lengths")
        array = np.stack(array)
    return np.asarray(array)

"""What readers read: for each kind of file, its records with their keys, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from pslab.data import columns
from pslab.data.files import open_file, read_whole
from pslab.data.tfrecord import records_in
from pslab.graph.strings import as_bytes

Record = tuple[bytes, tuple[Any, ...]]
"""Key and values."""
Format = Callable[..., Iterator[Record]]
"""From a file's name, and options as keywords, to its records."""


def _lines(name: str, *, skip_header_lines: int) -> Iterator[Record]:
    with open_file(name) as file:
        for number, line in enumerate(islice(file, skip_header_lines, None), skip_header_lines + 1):
            yield _key(name, number), (line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line,)


def _tf_records(name: str, *, compression: str) -> Iterator[Record]:
    for offset, record in records_in(name, compression):
        yield _key(name, offset), (record,)


def _fixed_length(name: str, *, record_bytes: int, header_bytes: int, footer_bytes: int, hop_bytes: int) -> Iterator[Record]:
    """Records of one length, as many as are whole: TensorFlow too passes over what is left before the footer."""
    with open_file(name) as file:
        end = file.seek(0, 2) - footer_bytes
        begins = range(header_bytes, end - record_bytes + 1, hop_bytes or record_bytes)
        for number, begin in enumerate(begins):
            file.seek(begin)
            yield _key(name, number), (file.read(record_bytes),)


def _whole(name: str) -> Iterator[Record]:
    yield as_bytes(name), (read_whole(name),)


def _identity(name: str) -> Iterator[Record]:
    yield as_bytes(name), (as_bytes(name),)


def _numpy_rows(name: str, *, names: Sequence[str] | None, dtypes: Sequence[str]) -> Iterator[Record]:
    return _rows(name, columns.numpy_columns(name, names), dtypes)


def _parquet_rows(name: str, *, names: Sequence[str], dtypes: Sequence[str]) -> Iterator[Record]:
    return _rows(name, columns.parquet_columns(name, names), dtypes)


def _rows(name: str, arrays: Sequence[columns.Array], dtypes: Sequence[str]) -> Iterator[Record]:
    """A record per row, its number as the key."""
    taken = [columns.as_type(array, dtype, name) for array, dtype in zip(arrays, dtypes, strict=True)]
    for number, values in enumerate(zip(*taken, strict=True)):
        yield _key(name, number), tuple(np.asarray(v, a.dtype) for v, a in zip(values, taken, strict=True))


def _key(name: str, number: int) -> bytes:
    return as_bytes(f"{name}:{number}")


FORMATS: Mapping[str, Format] = {
    "TextLine": _lines,
    "TFRecord": _tf_records,
    "FixedLengthRecord": _fixed_length,
    "WholeFile": _whole,
    "Identity": _identity,
    "Numpy": _numpy_rows,
    "Parquet": _parquet_rows,
}
"""By kind of reader."""

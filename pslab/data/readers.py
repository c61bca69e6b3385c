"""Readers: from names of files, taken from a queue, to the records in them (TensorFlow 1's ``tf.ReaderBase`` and its like)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pslab.data.tfrecord import TFRecordOptions
from pslab.errors import DeviceError, UsageError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.device import DeviceSpec
from pslab.graph.dtypes import as_dtype, int64
from pslab.graph.operation import Operation
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.queues.queue import QueueBase


class ReaderBase:
    """A reader on the task that was the current device when it was made. It reads one file after another, each to its end.

    Attributes:
        reader_ref: the op that stands for the reader in the graph.
    """

    _kind = ""

    def __init__(self, name: str, options: Mapping[str, Any], dtypes: Sequence[Any] = ("string",), shapes: Sequence[Any] = ((),)) -> None:
        with get_default_graph().control_dependencies(None):
            self.reader_ref = apply_op("NoOp", [], name)
        self._reader = {"reader": self.reader_ref.name}
        self._attrs = {
            **self._reader,
            "kind": self._kind,
            "options": dict(options),
            "dtypes": tuple(as_dtype(d).name for d in dtypes),
            "shapes": tuple(TensorShape(s).dims for s in shapes),
        }

    def read(self, queue: QueueBase, name: str | None = None) -> tuple[Any, Any]:
        """The next record, once there is a file to read.

        Args:
            queue: names of files: a queue of strings on the reader's task.
            name: of the op.

        Returns:
            Key and value, a string scalar each: where the record is, and what.

        Raises:
            DeviceError: the queue is on another task.
            OutOfRangeError: (when it runs) the queue is closed and empty, and the last file at its end.
            NotFoundError: (when it runs) there is no such file.
            DataLossError: (when it runs) the file is truncated, or not what it should be.
        """
        return self._result(self._on_queue("ReaderRead", [], queue, name or f"{self._kind}Read"))

    def read_up_to(self, queue: QueueBase, num_records: Any, name: str | None = None) -> tuple[Any, Any]:
        """As `read`, but up to ``num_records`` records, at least one and all of one file: keys and values, with a first axis more."""
        inputs = [convert_to_tensor(num_records, int64)]
        return self._result(self._on_queue("ReaderReadUpTo", inputs, queue, name or f"{self._kind}ReadUpTo"))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records were read, an int64 scalar."""
        return self._op("ReaderNumRecordsProduced", [], name, self._reader).outputs[0]

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files were read to their end, an int64 scalar."""
        return self._op("ReaderNumWorkUnitsCompleted", [], name, self._reader).outputs[0]

    def reset(self, name: str | None = None) -> Operation:
        """An op after which the reader is as it was first: no file is open, and it counts from 0."""
        return self._op("ReaderReset", [], name, self._reader)

    def _on_queue(self, type: str, inputs: list[Tensor], queue: QueueBase, name: str) -> Operation:
        if [d.name for d in queue.dtypes] != ["string"]:
            raise UsageError(f"a reader takes names of files from a queue of strings; {queue.name!r} holds {', '.join(d.name for d in queue.dtypes)}")
        here, there = (DeviceSpec.from_string(ref.device) for ref in (self.reader_ref, queue.queue_ref))
        if (here.job, here.task) != (there.job, there.task):
            raise DeviceError(
                f"reader {self.reader_ref.name!r} is on {self.reader_ref.device!r}, its queue {queue.name!r} on {queue.queue_ref.device!r}",
                "make both in one device block",
            )
        return self._op(type, inputs, name, {**self._attrs, "queue": queue.attrs})

    def _op(self, type: str, inputs: list[Tensor], name: str | None, attrs: dict[str, Any]) -> Operation:
        graph = self.reader_ref.graph
        with graph.as_default(), graph.colocate_with(self.reader_ref):
            return apply_op(type, inputs, name, **attrs)

    def _result(self, op: Operation) -> tuple[Any, Any]:
        key, value = op.outputs
        return key, value


class TextLineReader(ReaderBase):
    """Reads lines of text, without their ends. A key is ``file:line``, counted from 1.

    Args:
        skip_header_lines: how many lines at the beginning of a file are none.
        name: of the reader.

    Raises:
        UsageError: that is less than none.
    """

    _kind = "TextLine"

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        if (skip_header_lines or 0) < 0:
            raise UsageError(f"skip_header_lines must be at least 0, found {skip_header_lines}")
        super().__init__(name or "TextLineReader", {"skip_header_lines": skip_header_lines or 0})


class TFRecordReader(ReaderBase):
    """Reads the records of TFRecord files. A key is ``file:offset``, in bytes.

    Args:
        name: of the reader.
        options: how the files are compressed.
    """

    _kind = "TFRecord"

    def __init__(self, name: str | None = None, options: TFRecordOptions | int | str | None = None) -> None:
        super().__init__(name or "TFRecordReader", {"compression": TFRecordOptions.of(options).compression_type})


class FixedLengthRecordReader(ReaderBase):
    """Reads records of one length. A key is ``file:record``, counted from 0. What is left before the footer and is no whole record is passed over.

    Args:
        record_bytes: the length.
        header_bytes: bytes at the beginning of a file that are no record.
        footer_bytes: bytes at its end that are none.
        hop_bytes: bytes between the beginnings of two records; 0 for ``record_bytes``.
        name: of the reader.

    Raises:
        UsageError: a length is negative or no integer, or that of a record 0.
    """

    _kind = "FixedLengthRecord"

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
    ) -> None:
        options = {"record_bytes": record_bytes, "header_bytes": header_bytes or 0, "footer_bytes": footer_bytes or 0, "hop_bytes": hop_bytes or 0}
        if not all(isinstance(v, int | np.integer) for v in options.values()) or record_bytes < 1 or min(options.values()) < 0:
            raise UsageError(f"record_bytes must be at least 1, the others at least 0, integers all; found {options}")
        super().__init__(name or "FixedLengthRecordReader", options)


class WholeFileReader(ReaderBase):
    """Reads files as they are: the key is the name, the value the contents."""

    _kind = "WholeFile"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name or "WholeFileReader", {})


class IdentityReader(ReaderBase):
    """Gives what is in the queue, as key and as value."""

    _kind = "Identity"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name or "IdentityReader", {})


class _RowReader(ReaderBase):
    """Reads rows of columns: the value is a list of tensors, one per column. A key is ``file:row``, counted from 0."""

    def __init__(self, names: Sequence[str] | None, dtypes: Sequence[Any], shapes: Sequence[Any] | None, name: str) -> None:
        shapes = [()] * len(dtypes) if shapes is None else shapes
        if len(shapes) != len(dtypes) or (names is not None and len(names) != len(dtypes)):
            raise UsageError(f"{len(dtypes)} dtypes need as many names and shapes; found {names} and {shapes}")
        kinds = tuple(as_dtype(d).name for d in dtypes)
        super().__init__(name, {"names": None if names is None else tuple(names), "dtypes": kinds}, kinds, shapes)

    def _result(self, op: Operation) -> tuple[Any, Any]:
        return op.outputs[0], list(op.outputs[1:])


class NumpyReader(_RowReader):
    """Reads the rows of ``.npy`` files, or of arrays in ``.npz`` files. TensorFlow has no such reader.

    ``key, (x, y) = NumpyReader(names=["x", "y"], dtypes=[tf.float32, tf.int64], shapes=[[64], []]).read(queue)``

    Args:
        names: of the arrays in ``.npz`` files; None for ``.npy`` files.
        dtypes: of the tensors.
        shapes: of a row of each; scalars if None.
        name: of the reader.

    Raises:
        UsageError: there are not as many names, dtypes and shapes.
    """

    _kind = "Numpy"

    def __init__(
        self, names: Sequence[str] | None = None, dtypes: Sequence[Any] = ("float32",), shapes: Sequence[Any] | None = None, name: str | None = None
    ) -> None:
        super().__init__(names, dtypes, shapes, name or "NumpyReader")


class ParquetReader(_RowReader):
    """Reads the rows of Parquet files. TensorFlow has no such reader.

    Args:
        names: of the columns.
        dtypes: of the tensors.
        shapes: of a row of each; scalars if None. A column of lists of one length has rows of that shape.
        name: of the reader.

    Raises:
        UsageError: there are not as many names, dtypes and shapes.
    """

    _kind = "Parquet"

    def __init__(self, names: Sequence[str], dtypes: Sequence[Any], shapes: Sequence[Any] | None = None, name: str | None = None) -> None:
        super().__init__(names, dtypes, shapes, name or "ParquetReader")

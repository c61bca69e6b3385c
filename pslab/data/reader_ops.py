"""Readers as stateful ops: how far a reader is, is a resource of the task that it is placed on.

A read waits for a file's name, and then reads under the task's monitor: in blocks, so that it holds others up only now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pslab.data.record_formats import FORMATS, Record
from pslab.data.text import string_array
from pslab.errors import InvalidArgumentError
from pslab.graph.dtypes import as_dtype, int64, string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import NOT_YET, not_differentiable, register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.strings import as_text
from pslab.queues.ops import queue_of

READERS = "reader/"
"""Beginning of the resource key of every reader; its name follows."""


class ReaderState:
    """How far a reader is.

    Attributes:
        records: it has produced.
        work_units: files it has read to their end.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, with no file open."""
        self.records = 0
        self.work_units = 0
        self._open: Iterator[Record] | None = None

    def read_up_to(self, count: int, next_file: Callable[[], Any], records_of: Callable[[str], Iterator[Record]]) -> Any:
        """Records, at least one and at most ``count``, all of one file; `NOT_YET` while there is no file to read.

        Args:
            count: at least 1.
            next_file: the name of a file, or `NOT_YET`.
            records_of: the records of a file.
        """
        found: list[Record] = []
        while not found:
            if self._open is None:
                name = next_file()
                if name is NOT_YET:
                    return NOT_YET
                self._open = records_of(name)
            found = self._take(count)
        self.records += len(found)
        return found

    def _take(self, count: int) -> list[Record]:
        """Records of the open file, which is closed at its end."""
        found: list[Record] = []
        opened, self._open = self._open, None  # a file that cannot be read is not tried again
        for record in opened or ():
            found.append(record)
            if len(found) == count:
                self._open = opened
                return found
        self.work_units += 1
        return found


def _state(state: Any, reader: str) -> ReaderState:
    return state.resource(READERS + reader, ReaderState)  # type: ignore[no-any-return]


def _records(state: Any, count: int, reader: str, kind: str, options: dict[str, Any], queue: dict[str, Any]) -> Any:
    def next_file() -> Any:
        taken = queue_of(state, **{k: v for k, v in queue.items() if k != "pads"}).dequeue_many(1)
        if taken is NOT_YET:
            return taken
        state.monitor.notify_all()  # there is room in the queue, even if this file has no record and the read goes on waiting
        return as_text(taken[0][0].item())

    return _state(state, reader).read_up_to(count, next_file, lambda name: FORMATS[kind](name, **options))


def _read(state: Any, name: str, xp: Any, *, dtypes: Any, shapes: Any, **reader: Any) -> Any:
    found = _records(state, 1, **reader)
    if found is NOT_YET:
        return found
    ((key, values),) = found
    _checked(key, values, shapes)
    return (np.array(key, object), *(np.array(v, as_dtype(d).as_numpy_dtype) for v, d in zip(values, dtypes, strict=True)))


def _read_up_to(state: Any, name: str, xp: Any, count: Any, *, dtypes: Any, shapes: Any, **reader: Any) -> Any:
    if int(count) < 1:
        raise InvalidArgumentError(f"cannot read {int(count)} records")
    found = _records(state, int(count), **reader)
    if found is NOT_YET:
        return found
    for key, values in found:
        _checked(key, values, shapes)
    columns = zip(*(values for _, values in found), strict=True)
    arrays = [np.stack([np.array(v, as_dtype(d).as_numpy_dtype) for v in column]) for column, d in zip(columns, dtypes, strict=True)]
    return (string_array([key for key, _ in found], (len(found),)), *arrays)


def _checked(key: bytes, values: tuple[Any, ...], shapes: Any) -> None:
    for value, shape in zip(values, shapes, strict=True):
        if not TensorShape(shape).is_compatible_with(np.shape(value)):
            raise InvalidArgumentError(f"record {as_text(key)} has shape {np.shape(value)}, but the reader was told {TensorShape(shape)}")


def _reset(state: Any, name: str, xp: Any, *, reader: str) -> None:
    _state(state, reader).reset()


def _infer_read(op: Operation) -> infer.Inferred:
    return [(string, scalar()), *((as_dtype(d), TensorShape(s)) for d, s in zip(op.attrs["dtypes"], op.attrs["shapes"], strict=True))]


def _infer_read_up_to(op: Operation) -> infer.Inferred:
    return [(dtype, TensorShape(None if shape.dims is None else [None, *shape])) for dtype, shape in _infer_read(op)]


def _register(type: str, shape_rule: Callable[[Operation], infer.Inferred], kernel: Callable[..., Any], **fields: Any) -> None:
    register(type, infer=shape_rule, kernel=kernel, gradient=not_differentiable, stateful=True, host_only=True, **fields)


_register("ReaderRead", _infer_read, _read, blocking=True)
_register("ReaderReadUpTo", _infer_read_up_to, _read_up_to, blocking=True)
_register(
    "ReaderNumRecordsProduced",
    lambda op: [(int64, scalar())],
    lambda state, name, xp, *, reader: np.asarray(_state(state, reader).records, np.int64),
)
_register(
    "ReaderNumWorkUnitsCompleted",
    lambda op: [(int64, scalar())],
    lambda state, name, xp, *, reader: np.asarray(_state(state, reader).work_units, np.int64),
)
_register("ReaderReset", lambda op: [], _reset)

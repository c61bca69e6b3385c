"""Writing event files (TensorFlow 1's ``tf.summary.FileWriter``)."""

from __future__ import annotations

import atexit
import itertools
import os
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

from pslab.errors import FailedPreconditionError, UsageError
from pslab.graph.graph import Graph
from pslab.runtime.run_options import RunMetadata

_NUMBERS = itertools.count()


class FileWriter:
    """Writes summaries and graphs into an event file of a directory, which TensorBoard shows. May be used by several threads.

    Args:
        logdir: the directory; made if it is not there.
        graph: written first, if given.
        max_queue: events after which they are brought to disk.
        flush_secs: seconds after which an event also brings those before it to disk.
        graph_def: not taken; pass ``graph``.
        filename_suffix: the end of the file's name.

    Raises:
        UsageError: ``graph_def`` is given.
        OSError: the file cannot be written.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
    ) -> None:
        if graph_def is not None:
            raise UsageError("a FileWriter takes no graph_def here", "pass graph=, a pslab.Graph")
        self._logdir = os.fspath(logdir)
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._suffix = filename_suffix or ""
        self._lock = threading.RLock()
        self._file: Any = None
        self._pending = 0
        self._flushed = time.monotonic()
        self._runs: set[str] = set()
        self.reopen()
        atexit.register(self.close)
        if graph is not None:
            self.add_graph(graph)

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def reopen(self) -> None:
        """Begin another file, if this one is closed."""
        from tensorboardX.event_file_writer import EventsWriter

        with self._lock:
            if self._file is None:
                Path(self._logdir).mkdir(parents=True, exist_ok=True)
                self._file = EventsWriter(os.path.join(self._logdir, "events"), f".{os.getpid()}.{next(_NUMBERS)}{self._suffix}")
                self._file.flush()

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a summary.

        Args:
            summary: what a summary op gave (bytes), or a ``Summary`` protocol buffer.
            global_step: the step it belongs to.
        """
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        packed = summary.SerializeToString() if hasattr(summary, "SerializeToString") else summary
        self._write(Event(summary=Summary.FromString(bytes(packed))), global_step)

    def add_scalar(self, tag: str, value: float, global_step: Any = None) -> None:
        """Write one number, without an op."""
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        self._write(Event(summary=Summary(value=[Summary.Value(tag=tag, simple_value=float(value))])), global_step)

    def add_graph(self, graph: Graph, global_step: Any = None, graph_def: Any = None) -> None:
        """Write a graph.

        Raises:
            UsageError: it is none.
        """
        from tensorboardX.proto.event_pb2 import Event

        from pslab.summary.graph_proto import graph_proto

        if not isinstance(graph, Graph):
            raise UsageError(f"add_graph takes a pslab.Graph, found {type(graph).__name__}")
        self._write(Event(graph_def=graph_proto(graph).SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: RunMetadata, tag: str, global_step: Any = None) -> None:
        """Write what a traced run measured; TensorBoard's graph page shows it under ``tag``.

        Raises:
            ValueError: there is one with this tag already.
        """
        from tensorboardX.proto.event_pb2 import Event, TaggedRunMetadata

        from pslab.summary.run_proto import run_metadata_proto

        if tag in self._runs:
            raise ValueError("The provided tag was already used for this event type")
        self._runs.add(tag)
        packed = run_metadata_proto(run_metadata).SerializeToString()
        self._write(Event(tagged_run_metadata=TaggedRunMetadata(tag=tag, run_metadata=packed)), global_step)

    def add_event(self, event: Any) -> None:
        """Write an ``Event`` protocol buffer as it is."""
        with self._lock:
            if self._file is None:
                raise FailedPreconditionError(f"the event file in {self._logdir} is closed", "call reopen()")
            self._file.write_event(event)
            self._pending += 1
            if self._pending >= self._max_queue or time.monotonic() >= self._flushed + self._flush_secs:
                self.flush()

    def flush(self) -> None:
        """Bring everything to disk."""
        with self._lock:
            if self._file is not None:
                self._file.flush()
            self._pending, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Bring everything to disk, and close the file. To do it twice does no more."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
        atexit.unregister(self.close)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)


class FileWriterCache:
    """One writer for each directory, for all who write there (TensorFlow 1's ``SummaryWriterCache``)."""

    _writers: ClassVar[dict[str, FileWriter]] = {}
    _lock = threading.Lock()

    @classmethod
    def get(cls, logdir: str | os.PathLike[str]) -> FileWriter:
        """The writer of a directory."""
        with cls._lock:
            key = os.fspath(logdir)
            if key not in cls._writers:
                cls._writers[key] = FileWriter(key)
            return cls._writers[key]

    @classmethod
    def clear(cls) -> None:
        """Close and forget all."""
        with cls._lock:
            for writer in cls._writers.values():
                writer.close()
            cls._writers.clear()

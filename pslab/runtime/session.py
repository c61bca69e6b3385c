"""Sessions: where a graph meets the tasks that run it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from pslab.errors import ClosedSessionError, UsageError
from pslab.graph import defaults
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.tensor import Tensor
from pslab.runtime.client_session import RemoteMaster
from pslab.runtime.config import ConfigProto
from pslab.runtime.feeds import fed_value, feedable
from pslab.runtime.fetches import Fetches
from pslab.runtime.master import Master, StepResult
from pslab.runtime.run_options import PLAIN, RunMetadata, RunOptions
from pslab.runtime.targets import server_at
from pslab.runtime.task import Task
from pslab.runtime.tracing import step_stats
from pslab.runtime.transport import connect


class Step(Protocol):
    """A step that is planned, and can be run."""

    @property
    def borrowed(self) -> Sequence[bool]:
        """For each fetched value, whether its array may share memory with something that lives on."""

    def run(self, feeds: Sequence[Any], options: RunOptions = PLAIN) -> StepResult:
        """Run it with the fed values."""


class Planner(Protocol):
    """What plans a session's steps: the master in this process, or the way to one in another."""

    def prepare(self, graph: Graph, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor], config: ConfigProto) -> Step:
        """Plan a step."""

    def cancel(self) -> None:
        """Give up the steps that run."""

    def close(self) -> None:
        """Let go of the tasks."""


class Session:
    """Runs operations of a graph (TensorFlow 1's ``tf.Session``).

    Args:
        target: ``""`` for a fresh task in this process, which only this session uses; else the address of a task's server
            (`Server.target`). Variables live in the tasks, so sessions on one target share them.
        graph: the graph to run; the default graph if None.
        config: options.

    Attributes:
        graph: the graph.
        target: where it runs.
        config: its options.

    Raises:
        UnavailableError: nobody answers at ``target``.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None) -> None:
        self.graph = graph if graph is not None else defaults.get_default_graph()
        self.target = target
        self.config = config if config is not None else ConfigProto()
        self._planner = _planner(target)
        self._steps: dict[tuple[Any, ...], Step] = {}
        self._structures: dict[Any, Fetches] = {}
        self._entered: list[Any] = []
        self._closed = False
        self._lock = threading.Lock()

    def run(
        self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: RunOptions | None = None, run_metadata: RunMetadata | None = None
    ) -> Any:
        """Run what ``fetches`` need, once.

        Args:
            fetches: a tensor, op, variable or name, or lists, tuples, named tuples or dicts of them, nested.
            feed_dict: values for placeholders, or in place of any other tensors.
            options: a limit to its time, and whether each op is measured.
            run_metadata: filled with what was measured.

        Returns:
            The same structure with NumPy arrays (scalars for rank 0) for tensors, None for ops.

        Raises:
            InvalidArgumentError: a fed value does not fit, or a placeholder that is needed was not fed.
            FailedPreconditionError: a variable that is needed has no value.
            OpError: an op failed; the error has its name, device and origin.
            DeadlineExceededError: it took longer than ``options`` allow.
            ClosedSessionError: the session is closed.
        """
        structure = self._structure(fetches)
        feeds = {feedable(self.graph, key): value for key, value in (feed_dict or {}).items()}
        step = self.prepare(structure.elements, list(feeds))
        result = step.run([fed_value(tensor, value) for tensor, value in feeds.items()], options or PLAIN)
        if run_metadata is not None:
            run_metadata.step_stats = step_stats(result.spans)
        return structure.rebuild(_own(result.values, step.borrowed))

    def _structure(self, fetches: Any) -> Fetches:
        """The flattened structure of ``fetches``; kept, where they can be a key, for a loop that fetches the same again and again."""
        key = (type(fetches), tuple(fetches) if isinstance(fetches, list) else fetches)
        try:
            found = self._structures.get(key)
        except TypeError:  # a dict, or a list within
            return Fetches(self.graph, fetches)
        if found is None:
            found = self._structures[key] = Fetches(self.graph, fetches)
        return found

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] = ()) -> Callable[..., Any]:
        """A function that runs ``fetches``, and takes the values of ``feed_list`` as its arguments.

        Raises:
            UsageError: (the function) another number of arguments, or the session is closed.
        """
        structure = Fetches(self.graph, fetches)
        feeds = [feedable(self.graph, key) for key in feed_list]
        step = self.prepare(structure.elements, feeds)

        def call(*values: Any) -> Any:
            self._check_open()
            if len(values) != len(feeds):
                raise UsageError(f"expected {len(feeds)} values, for {', '.join(t.name for t in feeds) or 'nothing'}; found {len(values)}")
            result = step.run([fed_value(tensor, value) for tensor, value in zip(feeds, values, strict=True)])
            return structure.rebuild(_own(result.values, step.borrowed))

        return call

    def prepare(self, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor]) -> Step:
        """The planned step for ``fetches``: made once for each version of the graph, and kept.

        Raises:
            GraphError: a fetch belongs to another graph.
        """
        key = (self.graph.version, tuple(fetches), tuple(feeds))
        with self._lock:
            self._check_open()
            step = self._steps.get(key)
            if step is None:
                for fetch in fetches:
                    self.graph.as_graph_element(fetch)
                self._steps = {k: s for k, s in self._steps.items() if k[0] == self.graph.version}
                step = self._steps[key] = self._planner.prepare(self.graph, fetches, feeds, self.config)
        return step

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedSessionError("the session is closed", "make a new one")

    def cancel(self) -> None:
        """Give up the runs in flight from another thread; they raise `CancelledError` or `UnavailableError`. The session stays usable."""
        self._planner.cancel()

    def close(self) -> None:
        """Let go of everything the session holds. Variables on a server stay there."""
        self._closed = True
        self._planner.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def as_default(self) -> _DefaultSession:
        """Make this the session of `Tensor.eval` and `Operation.run` within a ``with`` block, without closing it at its end."""
        return _DefaultSession(self)

    def __enter__(self) -> Session:
        block = _DefaultSession(self)
        block.__enter__()
        self._entered.append(block)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._entered.pop().__exit__(kind, error, trace)
        self.close()


class InteractiveSession(Session):
    """A session that is the default one from its making until it is closed (TensorFlow 1's ``tf.InteractiveSession``)."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None) -> None:
        super().__init__(target, graph, config)
        defaults.push_session(self)

    def close(self) -> None:
        """Let go of everything, and of being the default."""
        defaults.pop_session(self)
        super().close()


class _DefaultSession:
    """The session, and its graph, as this thread's default ones."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._graph = session.graph.as_default()

    def __enter__(self) -> Session:
        self._graph.__enter__()
        defaults.push_session(self._session)
        return self._session

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        defaults.pop_session(self._session)
        self._graph.__exit__(kind, error, trace)


def _planner(target: str) -> Planner:
    if not target:
        task = Task("localhost:0")
        return Master(task, (task.name,), _nobody)
    server = server_at(target)
    if server is not None:
        return server.master()
    return RemoteMaster(connect(target, name="client"))


def _nobody(task: str, wanted: Callable[[], bool]) -> Any:
    raise UsageError(f"this session has no other task, and no {task}")


def _own(values: Sequence[Any], borrowed: Sequence[bool]) -> list[Any]:
    """The values as the caller's own: scalars for rank 0, copies of what is not the caller's alone."""
    return [v[()] if v.ndim == 0 else np.array(v) if shared else v for v, shared in zip(values, borrowed, strict=True)]

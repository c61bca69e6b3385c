"""Sessions with hooks that recover from a lost task (TensorFlow 1's ``tf.train.MonitoredSession``)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from time import monotonic
from types import TracebackType
from typing import Any

from pslab.errors import AbortedError, OutOfRangeError, UnavailableError, UsageError
from pslab.graph.defaults import get_default_graph
from pslab.graph.graph import Graph
from pslab.queues.coordinator import Coordinator
from pslab.queues.queue_runner import start_queue_runners
from pslab.runtime.run_options import RunMetadata, RunOptions
from pslab.runtime.session import Session
from pslab.sessions.creators import ChiefSessionCreator, SessionCreator
from pslab.sessions.ending import end_threads
from pslab.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from pslab.sessions.scaffold import Scaffold

_log = logging.getLogger("pslab.program")
_LOST = (AbortedError, UnavailableError)
"""What a run raises when a task was lost; a new session may find it back."""
_RECOVERY_S = 120.0
_RETRY_S = 1.0


class StepContext:
    """What a function given to `MonitoredSession.run_step_fn` may use."""

    def __init__(self, session: Session, run_with_hooks: Callable[..., Any]) -> None:
        self.session = session
        self.run_with_hooks = run_with_hooks

    def request_stop(self) -> None:
        """End the training."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class SingularMonitoredSession:
    """A session with hooks and queue runners, for the length of a ``with`` block. A lost task ends it.

    Args:
        hooks: called around its runs.
        scaffold: the parts of the model.
        master: where it runs.
        config: its options.
        checkpoint_dir: where there may be a checkpoint to begin with.
        stop_grace_period_secs: seconds that the threads have at its end.
        checkpoint_filename_with_path: or which checkpoint to begin with.
    """

    _recovers = False

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        self._open(creator, hooks, stop_grace_period_secs)

    def _open(self, creator: SessionCreator, hooks: Sequence[SessionRunHook] | None, grace: float) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or [])
        for hook in self._hooks:
            if not isinstance(hook, SessionRunHook):
                raise UsageError(f"hooks should be SessionRunHooks, found {hook!r}")
            hook.begin()
        self._creator = creator
        self._grace = grace
        self._graph = get_default_graph()
        self._sess: Session | None = None
        self._coord = Coordinator()
        self._stop = False
        self._closed = False
        self._create()

    def _create(self) -> None:
        """Make a session; where tasks are lost meanwhile, again and again for a while."""
        deadline = monotonic() + _RECOVERY_S
        while True:
            try:
                self._coord = Coordinator()
                self._sess = self._creator.create_session()
                start_queue_runners(sess=self._sess, coord=self._coord)
                for hook in self._hooks:
                    hook.after_create_session(self._sess, self._coord)
                self._creator.begun(self._sess)
            except _LOST as error:
                self._drop()
                if not self._recovers or monotonic() > deadline:
                    raise
                _log.info("No session can be made yet: %s", error)
                time.sleep(_RETRY_S)
            except BaseException:
                self._drop()
                raise
            else:
                return

    @property
    def graph(self) -> Graph:
        """The graph it runs."""
        return self._graph

    def should_stop(self) -> bool:
        """Whether the training is to end: a hook, a thread or the end of the input asked for it, or it was closed.

        Where a thread was the first to notice that a task was lost, that is no end: a new session is made.
        """
        if self._closed or self._stop:
            return True
        if not self._coord.should_stop():
            return False
        try:
            self._coord.raise_requested_exception()
        except _LOST as error:
            if self._recovers:
                self._recover(error)
                return False
        except Exception as error:
            _log.debug("a thread asked for the end: %s", error)  # it is raised at the end
        return True

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """`Session.run`, with the hooks around it. After a task was lost a new session is made, and the run is made in that.

        Raises:
            RuntimeError: the training was asked to end before.
        """
        while True:
            if self._closed:
                raise RuntimeError("Attempted to use a closed session.")
            if self.should_stop():
                raise RuntimeError("Run called even after should_stop requested.")
            try:
                return self._run_once(fetches, feed_dict, options, run_metadata)
            except _LOST as error:
                if not self._recovers:
                    raise
                self._recover(error)

    def _recover(self, error: BaseException) -> None:
        _log.info("An error was raised: %s. The session is closed, and a new one is made.", error)
        self._drop()
        self._create()

    def run_step_fn(self, step_fn: Callable[[StepContext], Any]) -> Any:
        """Call ``step_fn`` with a `StepContext`: its session runs without hooks, its ``run_with_hooks`` with them."""
        if self._sess is None:
            raise RuntimeError("Attempted to use a closed session.")
        try:
            return step_fn(StepContext(self._sess, self.run))
        except StopIteration as end:
            self._stop = True
            if end.args and "step_fn" in str(end.args[0]):
                return None
            raise

    def _run_once(self, fetches: Any, feed_dict: dict[Any, Any] | None, options: Any, run_metadata: Any) -> Any:
        session = self._session()
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), session)
        options = options if options is not None else RunOptions()
        metadata = run_metadata if run_metadata is not None else RunMetadata()
        asked: dict[str, Any] = {"caller": fetches}
        feeds = dict(feed_dict or {})
        for i, hook in enumerate(self._hooks):
            wish = hook.before_run(context)
            if wish is None:
                continue
            if wish.fetches is not None:
                asked[str(i)] = wish.fetches
            for tensor, value in (wish.feed_dict or {}).items():
                if tensor in feeds:
                    raise RuntimeError(f"Same tensor is fed by two hooks, or by a hook and the program: {getattr(tensor, 'name', tensor)}")
                feeds[tensor] = value
        try:
            values = session.run(asked, feed_dict=feeds, options=options, run_metadata=metadata)
        except _LOST:
            raise
        except Exception:
            self._coord.raise_requested_exception()  # an error in a thread comes before what it led to here
            raise
        for i, hook in enumerate(self._hooks):
            hook.after_run(context, SessionRunValues(values.get(str(i)), options, metadata))
        self._stop = self._stop or context.stop_requested
        return values["caller"]

    def _session(self) -> Session:
        if self._sess is None:
            raise RuntimeError("Attempted to use a closed session.")
        return self._sess

    def _tf_sess(self) -> Session:
        return self._session()

    def raw_session(self) -> Session:
        """The session below, whose runs no hook sees."""
        return self._session()

    def close(self) -> None:
        """End in order: the hooks' ends, the threads, the session."""
        self._close(None)

    def _close(self, error: BaseException | None) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if error is None and self._sess is not None:
                for hook in self._hooks:
                    hook.end(self._sess)
        finally:
            if self._sess is not None:
                self._creator.ended(self._sess)
            self._drop()
            if not self._graph_was_finalized:
                self._graph._unsafe_unfinalize()

    def _drop(self) -> None:
        """End the threads and the session."""
        session, self._sess = self._sess, None
        if session is None:
            return
        try:
            end_threads(self._coord, session, self._grace, ignore_live_threads=True)
        except _LOST as error:
            _log.debug("a thread ended with %s", error)
        finally:
            session.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        clean = isinstance(error, OutOfRangeError | StopIteration)
        self._close(None if clean else error)
        return clean


class MonitoredSession(SingularMonitoredSession):
    """A session with hooks that makes itself anew when a task was lost.

    Args:
        session_creator: makes its sessions; a `ChiefSessionCreator` by default.
        hooks: called around its runs.
        stop_grace_period_secs: seconds that the threads have at its end.
    """

    _recovers = True

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._open(session_creator or ChiefSessionCreator(), hooks, stop_grace_period_secs)

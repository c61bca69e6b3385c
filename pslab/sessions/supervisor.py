"""The supervisor of a worker: it initialises or waits, saves, summarises, and ends all threads together (TensorFlow 1's ``tf.train.Supervisor``)."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pslab.checkpoint.saver import Saver
from pslab.errors import CancelledError, UnavailableError
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import group
from pslab.graph.ops.uninitialized import report_uninitialized_variables
from pslab.graph.variables import global_variables, global_variables_initializer, local_variables, local_variables_initializer
from pslab.optim.global_step import get_global_step
from pslab.queues.coordinator import Coordinator, LooperThread
from pslab.queues.queue_runner import QueueRunner
from pslab.runtime.config import ConfigProto
from pslab.runtime.session import Session
from pslab.sessions.ending import end_threads
from pslab.sessions.scaffold import roster_of
from pslab.sessions.session_manager import SessionManager
from pslab.sessions.step_rate import StepRate
from pslab.summary.ops import merge_all
from pslab.summary.writer import FileWriter

_log = logging.getLogger("pslab.program")
_END = (CancelledError, UnavailableError)
"""What a service's run raises when the session is closed, or its task is lost: the program's own run tells of that."""


class Supervisor:
    """Looks after a training.

    Args:
        graph: the graph; the default one if None. It is made final.
        ready_op: names what is not initialised; by default all global variables without value.
        ready_for_local_init_op: the same, before ``local_init_op`` may run.
        is_chief: whether this worker initialises, saves and summarises.
        init_op: initialises the model; all global variables by default.
        init_feed_dict: fed to it.
        local_init_op: initialises what belongs to this task; all local variables by default.
        logdir: where checkpoints and summaries go; None for none.
        summary_op: the summaries; all, merged, by default; None lets the program write its own.
        saver: saves and restores; a `Saver` of all global variables by default; None for none.
        global_step: the global step; that of the graph by default.
        save_summaries_secs: seconds between two summaries; 0 for never.
        save_model_secs: seconds between two checkpoints; 0 for never.
        recovery_wait_secs: seconds between two looks at a ``ready_op`` of the program's own.
        stop_grace_secs: seconds that the threads have at the end.
        checkpoint_basename: name of the checkpoints before the step.
        session_manager: makes the sessions.
        summary_writer: writes the summaries; a `FileWriter` in ``logdir`` by default.
        init_fn: called as ``init_fn(session)`` after ``init_op``.
        local_init_run_options: accepted.

    Attributes:
        is_chief: whether this worker initialises, saves and summarises.
        session_manager: makes the sessions.
        coord: the coordinator of all threads.
        init_op: initialises the model.
        init_feed_dict: fed to it.
        ready_op: names what is not initialised.
        ready_for_local_init_op: the same, before ``local_init_op`` may run.
        local_init_op: initialises what belongs to this task.
        summary_op: the summaries.
        summary_writer: writes them; None for one who is not the chief.
        saver: saves and restores.
        save_path: where checkpoints go, but for the step.
        save_model_secs: seconds between two checkpoints.
        save_summaries_secs: seconds between two summaries.
        global_step: the global step, or None.
    """

    USE_DEFAULT: Any = 0
    """Stands for what is not given, where None means "none"."""

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: dict[Any, Any] | None = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Session], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph if graph is not None else get_default_graph()
        self.is_chief = is_chief
        self._logdir = logdir
        self.save_path = os.path.join(logdir, checkpoint_basename) if logdir else None
        self.coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self.save_model_secs = save_model_secs
        self.save_summaries_secs = save_summaries_secs
        self.init_feed_dict = init_feed_dict
        self._init_fn = init_fn
        self._session: Session | None = None
        with self._graph.as_default():
            self.init_op = self._given(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self.ready_op = self._given(ready_op, GraphKeys.READY_OP, lambda: report_uninitialized_variables(global_variables()))
            self.ready_for_local_init_op = self._given(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None)
            self.local_init_op = self._given(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init)
            self.summary_op = self._given(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self.saver: Saver | None = self._given(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self.global_step = get_global_step() if _default(global_step) else global_step
            self._roster = roster_of(self._graph)
        self.summary_writer: FileWriter | None = None
        if not _default(summary_writer):
            self.summary_writer = summary_writer
        elif is_chief and logdir:
            self.summary_writer = FileWriter(logdir)
        self.session_manager = session_manager or SessionManager(
            local_init_op=self.local_init_op,
            ready_op=self.ready_op,
            ready_for_local_init_op=self.ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            roster=self._roster,
        )
        self._graph.finalize()

    def _given(self, value: Any, collection: str, make: Callable[[], Any]) -> Any:
        """``value``, or by default the first in a collection, or what ``make`` makes, which is put there."""
        if not _default(value):
            return value
        found = self._graph.get_collection(collection)
        if found:
            return found[0]
        made = make()
        if made is not None:
            self._graph.add_to_collection(collection, made)
        return made

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: ConfigProto | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """A session on a model that is ready: for the chief restored or initialised, for the others when the chief has done that.

        Args:
            master: where it runs.
            config: its options.
            wait_for_checkpoint: let the chief wait until there is a checkpoint.
            max_wait_secs: seconds to wait.
            start_standard_services: start the queue runners, and for the chief what saves and summarises.
        """
        self.coord.clear_stop()
        if self.summary_writer is not None:
            self.summary_writer.reopen()
        if self.is_chief:
            sess = self.session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self.init_feed_dict,
                init_fn=self._init_fn,
            )
            if self.summary_writer is not None:
                self.summary_writer.add_graph(self._graph)
            self.session_manager.announce(sess)
            if start_standard_services:
                self.start_standard_services(sess)
        else:
            sess = self.session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        self._session = sess
        if start_standard_services:
            self.start_queue_runners(sess)
        return sess

    @contextmanager
    def managed_session(
        self, master: str = "", config: ConfigProto | None = None, start_standard_services: bool = True, close_summary_writer: bool = True
    ) -> Iterator[Session]:
        """A session for the length of a block. At its end all threads are stopped; an error in it, or in one of them, is raised."""
        with ExitStack() as closing:
            try:
                sess = self.prepare_or_wait_for_session(master=master, config=config, start_standard_services=start_standard_services)
                closing.callback(sess.close)
                with sess.as_default():
                    yield sess
            except Exception as error:
                self.request_stop(error)
            finally:
                self.stop(close_summary_writer=close_summary_writer)

    def start_standard_services(self, sess: Session) -> Sequence[threading.Thread]:
        """Start what saves and summarises, in threads.

        Raises:
            RuntimeError: this is not the chief.
        """
        if not self.is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write events.")
        if not self._logdir:
            _log.warning("Standard services need a 'logdir' passed to the SessionManager")
            return []
        threads = []
        if self.save_summaries_secs and self.summary_writer is not None and self.summary_op is not None:
            threads.append(self.loop(self.save_summaries_secs, self._summarise, (sess,)))
        if self.save_summaries_secs and self.summary_writer is not None and self.global_step is not None:
            threads.append(self.loop(self.save_summaries_secs, StepRate(sess, self.global_step, self.summary_writer)))
        if self.saver is not None and self.save_model_secs:
            threads.append(self.loop(self.save_model_secs, self._save, (sess,)))
        return threads

    def start_queue_runners(self, sess: Session, queue_runners: Sequence[QueueRunner] | None = None) -> list[threading.Thread]:
        """Start the threads of queue runners; of those in the graph if None."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [thread for qr in runners for thread in qr.create_threads(sess, coord=self.coord, daemon=True, start=True)]

    def loop(
        self, timer_interval_secs: float | None, target: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> LooperThread:
        """A thread that calls a function every so many seconds until the end. Its session may be closed under it."""

        def turn(*positional: Any, **named: Any) -> None:
            try:
                target(*positional, **named)
            except _END:
                self.coord.request_stop()

        thread = LooperThread(self.coord, timer_interval_secs, target=turn, args=args, kwargs=kwargs)
        thread.start()
        return thread

    def summary_computed(self, sess: Session, summary: Any, global_step: int | None = None) -> None:
        """Write a summary that the program has computed.

        Raises:
            RuntimeError: there is no ``logdir``.
        """
        if self.summary_writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = int(sess.run(self.global_step))
        self.summary_writer.add_summary(summary, global_step)

    def should_stop(self) -> bool:
        """Whether the training is to end."""
        return self.coord.should_stop()

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Ask all threads to end; ``ex`` is raised by `stop`."""
        self.coord.request_stop(ex)

    def wait_for_stop(self) -> None:
        """Wait until somebody asks for the end."""
        self.coord.wait_for_stop()

    def stop(self, threads: Sequence[threading.Thread] | None = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """End all threads. The chief saves first; with the chief gone, so does the last to leave.

        Args:
            threads: further threads to wait for.
            close_summary_writer: whether the summaries' file is closed.
            ignore_live_threads: whether threads that do not end are no error.

        Raises:
            Exception: what a thread reported.
        """
        self.coord.request_stop()
        session, self._session = self._session, None
        try:
            if session is None:
                self.coord.join(threads, self._stop_grace_secs, ignore_live_threads)
            else:
                end_threads(self.coord, session, self._stop_grace_secs, threads, ignore_live_threads)
                self._leave(session)
        finally:
            if close_summary_writer and self.summary_writer is not None:
                self.summary_writer.close()

    def _leave(self, session: Session) -> None:
        """Go from the roster; save, if nobody else will."""
        with ExitStack() as closing:
            if session.closed:
                session = closing.enter_context(Session(session.target, self._graph, session.config))
            others = self.session_manager.leave(session)
            if others == 0 or (others is not None and self.is_chief):
                self._save(session)

    def _summarise(self, sess: Session) -> None:
        self.summary_computed(sess, sess.run(self.summary_op))

    def _save(self, sess: Session) -> None:
        if self.saver is not None and self.save_path is not None:
            self.saver.save(sess, self.save_path, global_step=self.global_step)


def _default(value: Any) -> bool:
    return isinstance(value, int) and value == Supervisor.USE_DEFAULT


def _local_init() -> Any:
    return group(local_variables_initializer(), name="init_local") if local_variables() else None

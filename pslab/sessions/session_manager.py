"""How a session comes to a model that is ready (TensorFlow 1's ``tf.train.SessionManager``)."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

import numpy as np

from pslab.checkpoint.saver import Saver
from pslab.checkpoint.state import get_checkpoint_state
from pslab.errors import DeadlineExceededError, FailedPreconditionError, PslabError
from pslab.graph.defaults import get_default_graph
from pslab.graph.graph import Graph
from pslab.runtime.config import ConfigProto
from pslab.runtime.session import Session
from pslab.sessions.roster import RosterOps

_log = logging.getLogger("pslab.program")
_waiting = logging.getLogger("pslab.waiting")

TELL_S = 5.0
"""Seconds after which one who waits for the chief says so."""


class SessionManager:
    """Makes sessions: the chief's, which initialises or restores the model, and the others', which wait for that.

    Args:
        local_init_op: run in each new session, once the model is initialised.
        ready_op: names what is not initialised; the model is ready when it names nothing.
        ready_for_local_init_op: the same, before ``local_init_op`` may run.
        graph: the graph; the default one if None.
        recovery_wait_secs: seconds between two looks at a ``ready_op`` of the program's own. For the chief itself is waited by notification.
        local_init_run_options: accepted.
        roster: this member's ops on the roster, by which the chief tells the others; without it they look every ``recovery_wait_secs``.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
        roster: RosterOps | None = None,
    ) -> None:
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph if graph is not None else get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._roster = roster

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: ConfigProto | None = None,
        init_feed_dict: dict[Any, Any] | None = None,
        init_fn: Callable[[Session], Any] | None = None,
    ) -> Session:
        """A session on a model that is ready: restored if there is a checkpoint, else initialised. The chief's way.

        Raises:
            RuntimeError: there is neither checkpoint nor ``init_op``, or the model is not ready after all.
        """
        sess = Session(master, self._graph, config)
        try:
            if self._roster is not None:
                sess.run(self._roster.arrive_as_chief)
            if not self._restore(sess, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs):
                if init_op is None and init_fn is None and self._local_init_op is None:
                    raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
                if init_op is not None:
                    sess.run(init_op, feed_dict=init_feed_dict)
                if init_fn is not None:
                    init_fn(sess)
            missing = self._run_local_init(sess)
            if missing:
                raise RuntimeError(f"Init operations did not make model ready for local_init. Init op: {_name(init_op)}, not initialized: {missing}")
            missing = _missing(sess, self._ready_op)
            if missing:
                raise RuntimeError(
                    f"Init operations did not make model ready. Init op: {_name(init_op)}, "
                    f"local_init_op: {_name(self._local_init_op)}, not initialized: {missing}"
                )
        except BaseException:
            sess.close()
            raise
        return sess

    def announce(self, sess: Session) -> None:
        """Tell the others that the model is prepared. The chief does it when all that is its to do before is done."""
        if self._roster is not None:
            sess.run(self._roster.prepared)

    def leave(self, sess: Session) -> int | None:
        """Go from the roster; returns how many stay. None where nobody can tell: the roster's task is gone, and its model with it."""
        if self._roster is None:
            return None
        try:
            return int(sess.run(self._roster.leave))
        except PslabError as error:
            _log.debug("the roster cannot be told of the end: %s", error)
            return None

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: ConfigProto | None = None,
    ) -> tuple[Session, bool]:
        """A session, restored if there is a checkpoint; and whether the model is ready in it."""
        sess = Session(master, self._graph, config)
        if not self._restore(sess, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs):
            return sess, False
        return sess, not self._run_local_init(sess) and not _missing(sess, self._ready_op)

    def wait_for_session(self, master: str, config: ConfigProto | None = None, max_wait_secs: float = math.inf) -> Session:
        """A session on a model that the chief has made ready. Everyone else's way.

        Raises:
            DeadlineExceededError: it was not ready within ``max_wait_secs``; the message says what is missing.
        """
        deadline = monotonic() + max_wait_secs
        sess = Session(master, self._graph, config)
        try:
            if self._roster is not None:
                sess.run(self._roster.arrive)
                self._wait_for_chief(sess, self._roster, max_wait_secs)
            told = ""
            while missing := self._run_local_init(sess) or _missing(sess, self._ready_op):
                if missing != told:
                    _waiting.info("waiting for what the chief (task 0) has not initialized: %s (each worker must build the same graph)", missing)
                    told = missing
                if monotonic() + self._recovery_wait_secs > deadline:
                    raise DeadlineExceededError(f"Session was not ready after waiting {max_wait_secs:g} secs: not initialized: {missing}")
                _log.info("Waiting for model to be ready: not initialized: %s", missing)
                sleep(self._recovery_wait_secs)
        except BaseException:
            sess.close()
            raise
        return sess

    def _wait_for_chief(self, sess: Session, roster: RosterOps, max_wait_secs: float) -> None:
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            sess.cancel()

        timers = [
            threading.Timer(min(max_wait_secs, threading.TIMEOUT_MAX), expire),
            threading.Timer(TELL_S, _waiting.info, ["waiting for the chief (task 0) to initialize or restore the model"]),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        try:
            sess.run(roster.wait)
        except Exception as error:
            if expired.is_set():
                raise DeadlineExceededError(
                    f"Session was not ready after waiting {max_wait_secs:g} secs: the chief has not initialized or restored the model",
                    "was worker 0, the chief, started?",
                ) from error
            raise
        finally:
            for timer in timers:
                timer.cancel()

    def _restore(self, sess: Session, saver: Saver | None, directory: str | None, path: str | None, wait: bool, max_wait_secs: float) -> bool:
        """Restore the model from a checkpoint; returns whether there was one."""
        if saver is not None and path is not None:
            saver.restore(sess, path)
            return True
        if saver is None or directory is None:
            return False
        deadline = monotonic() + max_wait_secs
        state = get_checkpoint_state(directory)
        while (state is None or not state.model_checkpoint_path) and wait and monotonic() < deadline:
            _log.info("Waiting for checkpoint to be available in %s.", directory)
            sleep(self._recovery_wait_secs)
            state = get_checkpoint_state(directory)
        if state is None or not state.model_checkpoint_path:
            return False
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return True

    def _run_local_init(self, sess: Session) -> str:
        """Run the local init op, if the model is ready for it; returns what is missing if it is not."""
        if self._local_init_op is None:
            return ""
        missing = _missing(sess, self._ready_for_local_init_op)
        if not missing:
            sess.run(self._local_init_op)
        return missing


def _missing(sess: Session, ready_op: Any) -> str:
    """What an op says is not initialised; nothing if there is no such op."""
    if ready_op is None:
        return ""
    try:
        found = np.atleast_1d(np.asarray(sess.run(ready_op), object)).ravel()
    except FailedPreconditionError as error:
        return error.message
    return ", ".join(name.decode() if isinstance(name, bytes) else str(name) for name in found)


def _name(op: Any) -> str:
    return "None" if op is None else str(getattr(op, "name", op))

"""Threads that fill a queue (TensorFlow 1's ``tf.train.QueueRunner``)."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from pslab.errors import CancelledError, OutOfRangeError, PslabError, UnavailableError, UsageError
from pslab.graph.collections import GraphKeys
from pslab.graph.default_names import add_to_collection
from pslab.graph.defaults import get_default_session
from pslab.graph.operation import Operation
from pslab.queues.coordinator import Coordinator
from pslab.queues.queue import QueueBase
from pslab.runtime.session import Session

_GONE = (CancelledError, UnavailableError, UsageError)
"""What a step raises whose session was closed under it."""


class QueueRunner:
    """Runs enqueue ops in threads, one each, again and again; closes the queue when the last of them has come to the end of its input.

    Args:
        queue: the queue.
        enqueue_ops: an op per thread.
        close_op: closes the queue; ``queue.close()`` if None.
        cancel_op: closes it when the coordinator stops; ``queue.close(cancel_pending_enqueues=True)`` if None.
        queue_closed_exception_types: errors of an enqueue op that mean the end of its input; `OutOfRangeError` if None.

    Raises:
        UsageError: there are no enqueue ops.
    """

    def __init__(
        self,
        queue: QueueBase | None = None,
        enqueue_ops: Sequence[Operation] | None = None,
        close_op: Operation | None = None,
        cancel_op: Operation | None = None,
        queue_closed_exception_types: Sequence[type[BaseException]] | None = None,
    ) -> None:
        if queue is None or not enqueue_ops:
            raise UsageError("a queue runner needs a queue and at least one enqueue op")
        self.queue = queue
        self.enqueue_ops = list(enqueue_ops)
        self.close_op = close_op if close_op is not None else queue.close()
        self.cancel_op = cancel_op if cancel_op is not None else queue.close(cancel_pending_enqueues=True)
        self.queue_closed_exception_types = tuple(queue_closed_exception_types or (OutOfRangeError,))
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._raised: list[BaseException] = []

    @property
    def name(self) -> str:
        """The name of its queue."""
        return self.queue.name

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """What threads raised that had no coordinator to tell."""
        return self._raised

    def create_threads(self, sess: Session, coord: Coordinator | None = None, daemon: bool = False, start: bool = False) -> list[threading.Thread]:
        """Threads that run the enqueue ops in ``sess``; none if it has them already.

        Args:
            sess: a session.
            coord: says when to stop, and is told of errors.
            daemon: whether the threads let the process end.
            start: whether to start them.
        """
        with self._lock:
            if self._running.get(sess, 0):
                return []
            self._running[sess] = len(self.enqueue_ops)
            self._raised = []
        threads = [
            threading.Thread(target=self._fill, args=(sess, op, coord), name=f"QueueRunnerThread-{self.name}-{op.name}", daemon=daemon)
            for op in self.enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(target=self._cancel_at_stop, args=(sess, coord), name=f"QueueRunnerThread-{self.name}-close_on_stop", daemon=daemon)
            )
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _fill(self, sess: Session, enqueue: Operation, coord: Coordinator | None) -> None:
        try:
            step = sess.make_callable(enqueue)
            while coord is None or not coord.should_stop():
                step()
        except self.queue_closed_exception_types:
            self._input_ended(sess, coord)
        except _GONE as error:
            self._report(error if coord is not None and not coord.should_stop() and isinstance(error, UnavailableError) else None, coord)
        except BaseException as error:  # whatever it is: who waits for elements must not wait for a thread that has ended
            self._report(error, coord)
        finally:
            with self._lock:
                self._running[sess] = max(0, self._running.get(sess, 0) - 1)

    def _input_ended(self, sess: Session, coord: Coordinator | None) -> None:
        with self._lock:
            last = self._running.get(sess, 0) == 1
        if last:
            try:
                sess.run(self.close_op)
            except _GONE:
                return  # with the session, the queue needs closing no more
            except PslabError as error:
                self._report(error, coord)

    def _report(self, error: BaseException | None, coord: Coordinator | None) -> None:
        if coord is not None:
            coord.request_stop(error)
        elif error is not None:
            self._raised.append(error)

    def _cancel_at_stop(self, sess: Session, coord: Coordinator) -> None:
        coord.wait_for_stop()
        try:
            sess.run(self.cancel_op)
        except PslabError:
            return  # the session, or the queue's task, is gone: nobody waits there any more


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Let `start_queue_runners` start it."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Session | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Threads of all queue runners of the session's graph.

    Args:
        sess: where they run; the default session if None.
        coord: says when they stop, and is told of errors.
        daemon: whether the threads let the process end.
        start: whether to start them.
        collection: where the queue runners are.

    Raises:
        UsageError: there is no session.
    """
    session = sess if sess is not None else get_default_session()
    if session is None:
        raise UsageError("queue runners need a session", "pass sess=, or use one as default in a with block")
    return [
        thread for qr in session.graph.get_collection(collection) for thread in qr.create_threads(session, coord=coord, daemon=daemon, start=start)
    ]

"""Threads that end together (TensorFlow 1's ``tf.train.Coordinator``)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import Any

from pslab.errors import OutOfRangeError

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class Coordinator:
    """Tells threads when to stop, waits for them, and raises what one of them reported.

    Args:
        clean_stop_exception_types: exceptions that mean an orderly end, and are not raised again; `OutOfRangeError` by default.
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None) -> None:
        self._clean = tuple(clean_stop_exception_types) if clean_stop_exception_types is not None else (OutOfRangeError,)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._reported: ExceptionInfo | None = None
        self._threads: set[threading.Thread] = set()
        self._joined = False

    def register_thread(self, thread: threading.Thread) -> None:
        """Add a thread for `join` to wait for."""
        with self._lock:
            self._threads.add(thread)

    def request_stop(self, ex: BaseException | ExceptionInfo | None = None) -> None:
        """Ask the threads to stop; after it `should_stop` is True.

        Args:
            ex: why: an exception, or what ``sys.exc_info()`` gives. The first that is no clean end is raised by `join`.

        Raises:
            Exception: ``ex`` itself, if it comes when `join` has returned already.
        """
        with self._lock:
            info = _info(ex)
            if info is not None and not isinstance(info[1], self._clean):
                if self._joined:
                    raise info[1].with_traceback(info[2])
                if self._reported is None:
                    self._reported = info
            self._stop.set()

    def clear_stop(self) -> None:
        """Begin anew: `should_stop` is False, and what was reported is forgotten."""
        with self._lock:
            self._joined = False
            self._reported = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested, at most ``timeout`` seconds; returns whether it was."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A block of a thread: an exception in it requests a stop, and goes no further."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def join(self, threads: Iterable[threading.Thread] | None = None, stop_grace_period_secs: float = 120, ignore_live_threads: bool = False) -> None:
        """Wait for the registered threads and ``threads``: until a stop is requested, and then as long as the grace period lasts.

        Args:
            threads: further ones.
            stop_grace_period_secs: seconds that threads have to end after a stop was requested.
            ignore_live_threads: whether it is no error if some have not ended by then.

        Raises:
            Exception: what a thread reported by `request_stop`.
            RuntimeError: threads have not ended; it names them.
        """
        with self._lock:
            waited = self._threads.union(threads or ())
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(1.0):
            with self._lock:
                waited |= self._threads
        deadline = monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(0.0, deadline - monotonic()))
        alive = sorted(t.name for t in waited if t.is_alive())
        with self._lock:
            self._joined = True
            self._threads.clear()
            reported, self._reported = self._reported, None
        if reported is not None:
            raise reported[1].with_traceback(reported[2])
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running after {stop_grace_period_secs:g} s: {' '.join(alive)}")

    @property
    def joined(self) -> bool:
        """Whether `join` has returned since the beginning, or the last `clear_stop`."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raise what was reported, if anything was."""
        with self._lock:
            reported = self._reported
        if reported is not None:
            raise reported[1].with_traceback(reported[2])


class LooperThread(threading.Thread):
    """A thread that calls a function again and again, until its coordinator stops.

    Args:
        coord: the coordinator.
        timer_interval_secs: seconds between the beginnings of two calls; None calls at once.
        target: the function; `run_loop` may be overridden in its place.
        args: its arguments.
        kwargs: its keyword arguments.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._call = target
        self._call_args = tuple(args or ())
        self._call_kwargs = dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> LooperThread:
        """A thread that has been started."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        """Loop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = monotonic()
            while not self._coord.wait_for_stop(max(0.0, due - monotonic())):
                self.run_loop()
                due = max(due + (self._interval or 0.0), monotonic())
            self.stop_loop()

    def start_loop(self) -> None:
        """Called in the thread before its loop begins."""

    def stop_loop(self) -> None:
        """Called in the thread when its loop has ended."""

    def run_loop(self) -> None:
        """One turn."""
        if self._call is not None:
            self._call(*self._call_args, **self._call_kwargs)


def _info(ex: BaseException | ExceptionInfo | None) -> ExceptionInfo | None:
    if ex is None:
        return None
    return ex if isinstance(ex, tuple) else (type(ex), ex, ex.__traceback__)

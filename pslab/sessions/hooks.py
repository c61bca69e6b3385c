"""The hooks that watch and end a training, with TensorFlow 1's names and signatures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pslab.errors import UsageError
from pslab.graph.defaults import get_default_graph
from pslab.queues.coordinator import Coordinator
from pslab.runtime.session import Session
from pslab.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues, global_step_of
from pslab.sessions.timer import SecondOrStepTimer

_log = logging.getLogger("pslab.program")


class StopAtStepHook(SessionRunHook):
    """Ends the training at a global step.

    Args:
        num_steps: steps from the one at which the session began.
        last_step: or the last step.

    Raises:
        UsageError: both are given, or neither.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if (num_steps is None) == (last_step is None):
            raise UsageError(f"exactly one of num_steps and last_step must be given, found {num_steps} and {last_step}")
        self._num_steps = num_steps
        self._last_step = last_step
        self._global_step_tensor: Any = None

    def begin(self) -> None:
        """Find the global step."""
        self._global_step_tensor = global_step_of(get_default_graph(), "StopAtStepHook")

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Reckon the last step, if only their number was given."""
        if self._last_step is None and self._num_steps is not None:
            self._last_step = int(session.run(self._global_step_tensor)) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """End, if it is reached; where the run itself may have read it too early, it is read again."""
        if self._last_step is None:
            return
        if run_values.results + 1 >= self._last_step and run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Writes values to the log of level ``INFO``.

    Args:
        tensors: names or tensors, by the name to write.
        every_n_iter: steps between two lines.
        every_n_secs: or seconds.
        at_end: also at the end; alone, only there.
        formatter: from the values by name to the line.

    Raises:
        UsageError: not exactly one of ``every_n_iter`` and ``every_n_secs``, or fewer than one step.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Sequence[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
    ) -> None:
        if every_n_iter is not None and every_n_iter <= 0:
            raise UsageError(f"every_n_iter must be positive, found {every_n_iter}")
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        self._timer = None if only_at_end else SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        self._tensors = dict(tensors) if isinstance(tensors, Mapping) else {str(getattr(t, "name", t)): t for t in tensors}
        self._at_end = at_end
        self._formatter = formatter
        self._iterations = 0
        self._due = False
        self._fetches: dict[str, Any] = {}

    def begin(self) -> None:
        """Find the tensors."""
        self._iterations = 0
        if self._timer is not None:
            self._timer.reset()
        graph = get_default_graph()
        self._fetches = {tag: graph.as_graph_element(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the values, where they are due."""
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._iterations)
        return SessionRunArgs(self._fetches) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        if self._due:
            self._write(run_values.results)
        self._iterations += 1

    def end(self, session: Session) -> None:
        """Write them a last time, if that was asked for."""
        if self._at_end:
            self._write(session.run(self._fetches))

    def _write(self, values: dict[str, Any]) -> None:
        elapsed = self._timer.update_last_triggered_step(self._iterations)[0] if self._timer is not None else None
        if self._formatter is not None:
            _log.info("%s", self._formatter(values))
            return
        with np.printoptions(suppress=True):
            line = ", ".join(f"{tag} = {value}" for tag, value in values.items())
        _log.info("%s", line if elapsed is None else f"{line} ({elapsed:.3f} sec)")


class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends the training when the loss is NaN.

    Args:
        loss_tensor: the loss.
        fail_on_nan_loss: raise `NanLossDuringTrainingError`; else the end is an orderly one.
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss = loss_tensor
        self._fails = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at it."""
        if np.isnan(run_values.results):
            _log.error("Model diverged with loss = NaN.")
            if self._fails:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Lets the first run of a worker wait until the global step has come as far as ``wait_until_step``, so that workers begin one after the other."""

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until = wait_until_step
        self._began = False
        self._coord: Coordinator | None = None

    def begin(self) -> None:
        """Find the global step."""
        self._began = False
        self._global_step = global_step_of(get_default_graph(), "GlobalStepWaiterHook")

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Know who may end the waiting."""
        self._coord = coord

    def before_run(self, run_context: SessionRunContext) -> None:
        """Wait."""
        while not self._began and self._wait_until > 0:
            now = int(run_context.session.run(self._global_step))
            if now >= self._wait_until or self._coord is None or self._coord.wait_for_stop(0.5):
                break
            _log.info("Waiting for global step %d before starting training. Current step is %d.", self._wait_until, now)
        self._began = True


class FinalOpsHook(SessionRunHook):
    """Runs ops at the end; ``final_ops_values`` are their values then."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: dict[Any, Any] | None = None) -> None:
        self._ops = final_ops
        self._feeds = final_ops_feed_dict
        self.final_ops_values: Any = None

    def end(self, session: Session) -> None:
        """Run them."""
        if self._ops is not None:
            self.final_ops_values = session.run(self._ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds what ``feed_fn()`` returns to each run."""

    def __init__(self, feed_fn: Callable[[], dict[Any, Any]]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Feed."""
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())

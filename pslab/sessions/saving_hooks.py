"""The hooks that write: checkpoints, summaries, the rate of steps (TensorFlow 1's names and signatures)."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pslab.checkpoint.saver import Saver
from pslab.errors import UsageError
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.queues.coordinator import Coordinator
from pslab.runtime.session import Session
from pslab.sessions.hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues, global_step_of
from pslab.sessions.timer import SecondOrStepTimer
from pslab.summary.writer import FileWriter, FileWriterCache

if TYPE_CHECKING:
    from pslab.sessions.scaffold import Scaffold

_log = logging.getLogger("pslab.program")


class CheckpointSaverListener:
    """Told of a `CheckpointSaverHook`'s doings. Each method may be overridden."""

    def begin(self) -> None:
        """The hook begins."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """A checkpoint is about to be written."""

    def after_save(self, session: Session, global_step_value: int) -> bool | None:
        """A checkpoint was written; True asks for the end of the training."""

    def end(self, session: Session, global_step_value: int) -> None:
        """The training ends."""


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints: at the first run, every so often, and at the end.

    Args:
        checkpoint_dir: where.
        save_secs: seconds between two.
        save_steps: or steps.
        saver: what writes them; the scaffold's, or that in the collection ``SAVERS``, if None.
        checkpoint_basename: their name before the step.
        scaffold: has the saver.
        listeners: told of it.

    Raises:
        UsageError: both ``saver`` and ``scaffold`` are given, or not exactly one of ``save_secs`` and ``save_steps``.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise UsageError("you cannot provide both saver and scaffold")
        self._saver = saver
        self._scaffold = scaffold
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or [])

    def begin(self) -> None:
        """Find the global step."""
        self._global_step = global_step_of(get_default_graph(), "CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Save what the training begins with."""
        self._save(session, int(session.run(self._global_step)))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Save, where it is due."""
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._global_step))
            if self._timer.should_trigger_for_step(step) and self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Session) -> None:
        """Save what the training ends with."""
        last = int(session.run(self._global_step))
        if last != self._timer.last_triggered_step():
            self._save(session, last)
        for listener in self._listeners:
            listener.end(session, last)

    def _save(self, session: Session, step: int) -> bool:
        """Save; returns whether a listener asks for the end."""
        self._timer.update_last_triggered_step(step)
        for listener in self._listeners:
            listener.before_save(session, step)
        _log.info("Saving checkpoints for %d into %s.", step, self._path)
        self._get_saver().save(session, self._path, global_step=step)
        wishes = [listener.after_save(session, step) for listener in self._listeners]  # each is told, whatever another wishes
        return any(wishes)

    def _get_saver(self) -> Saver:
        if self._saver is None and self._scaffold is not None:
            self._saver = self._scaffold.saver
        if self._saver is None:
            found = get_default_graph().get_collection(GraphKeys.SAVERS)
            if len(found) != 1:
                raise RuntimeError(f"there are {len(found)} savers in the collection SAVERS: expected one, or pass saver= or scaffold=")
            self._saver = found[0]
        return self._saver


class SummarySaverHook(SessionRunHook):
    """Writes summaries: at the first run, and every so often.

    Args:
        save_steps: steps between two.
        save_secs: or seconds.
        output_dir: where, if no writer is given.
        summary_writer: what writes them.
        scaffold: has the summary op.
        summary_op: the summaries, or a list of them.

    Raises:
        UsageError: not exactly one of ``scaffold`` and ``summary_op``, or of ``save_steps`` and ``save_secs``.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise UsageError("exactly one of scaffold or summary_op must be provided")
        self._summary_op = summary_op
        self._scaffold = scaffold
        self._output_dir = output_dir
        self._writer = summary_writer
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._due = False
        self._next_step: int | None = None

    def begin(self) -> None:
        """Open the files."""
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._next_step = None
        self._global_step = global_step_of(get_default_graph(), "SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the summaries, where they are due."""
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        summaries = self._summaries() if self._due else None
        return SessionRunArgs({"global_step": self._global_step, **({} if summaries is None else {"summary": summaries})})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        step = int(run_values.results["global_step"]) + 1  # it was read before the run counted
        if self._next_step is None or self._due:
            step = int(run_context.session.run(self._global_step))
        if self._due:
            self._timer.update_last_triggered_step(step)
            if self._writer is not None:
                for summary in run_values.results.get("summary", []):
                    self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Session) -> None:
        """Let what was written be seen."""
        if self._writer is not None:
            self._writer.flush()

    def _summaries(self) -> list[Any] | None:
        op = self._summary_op if self._scaffold is None else self._scaffold.summary_op
        if op is None:
            return None
        return list(op) if isinstance(op, list | tuple) else [op]


class StepCounterHook(SessionRunHook):
    """Writes how many global steps there are per second, to the log and as a summary.

    Args:
        every_n_steps: steps between two.
        every_n_secs: or seconds.
        output_dir: where the summary goes, if no writer is given.
        summary_writer: what writes it.
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ) -> None:
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._writer = summary_writer
        self._output_dir = output_dir

    def begin(self) -> None:
        """Find the global step."""
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._global_step = global_step_of(get_default_graph(), "StepCounterHook")
        self._tag = f"{self._global_step.op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Reckon, where it is due."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._global_step))
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds and steps is not None:
                _log.info("%s: %g", self._tag, steps / seconds)
                if self._writer is not None:
                    self._writer.add_scalar(self._tag, steps / seconds, step)

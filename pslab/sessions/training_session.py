"""The session of a worker of a training (TensorFlow 1's ``tf.train.MonitoredTrainingSession``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pslab.runtime.config import ConfigProto
from pslab.runtime.session import Session
from pslab.sessions.creators import ChiefSessionCreator, WorkerSessionCreator
from pslab.sessions.hook import SessionRunHook, global_step_of
from pslab.sessions.monitored_session import MonitoredSession
from pslab.sessions.saving_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from pslab.sessions.scaffold import Scaffold

USE_DEFAULT = object()
"""Stands for what is not given, where None means "never"."""


class LastOneSavesHook(SessionRunHook):
    """Saves at the end of a worker that is the last to leave, where the chief has left before.

    Args:
        checkpoint_dir: where.
        scaffold: has the saver and the roster.
    """

    def __init__(self, checkpoint_dir: str, scaffold: Scaffold) -> None:
        self._path = os.path.join(checkpoint_dir, "model.ckpt")
        self._scaffold = scaffold

    def end(self, session: Session) -> None:
        """Leave, and save if nobody stays."""
        if self._scaffold.roster is None or self._scaffold.saver is None:
            return
        if session.run(self._scaffold.roster.leave) == 0:
            step = global_step_of(session.graph, "LastOneSavesHook")
            self._scaffold.saver.save(session, self._path, global_step=step)


def MonitoredTrainingSession(  # noqa: N802 (TensorFlow's name)
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: ConfigProto | None = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """A `MonitoredSession` for the chief, which initialises, restores, saves and summarises, or for one of the others, which wait for it.

    Args:
        master: where it runs.
        is_chief: whether this is the chief.
        checkpoint_dir: where checkpoints are, and summaries; None for none. With the chief gone, the last of the others saves there.
        scaffold: the parts of the model.
        hooks: called around the runs.
        chief_only_hooks: the chief's besides.
        save_checkpoint_secs: seconds between two checkpoints; 600 by default, None for never.
        save_summaries_steps: steps between two summaries; 100 by default, None for never.
        save_summaries_secs: or seconds.
        config: options of the session.
        stop_grace_period_secs: seconds that the threads have at its end.
        log_step_count_steps: steps between two lines on the rate; None or 0 for none.
        max_wait_secs: seconds that the others wait for the chief.
        save_checkpoint_steps: or steps between two checkpoints.
        summary_dir: where summaries go, if not to ``checkpoint_dir``.
    """
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker_hooks = [*(hooks or ()), *([LastOneSavesHook(checkpoint_dir, scaffold)] if checkpoint_dir else ())]
        return MonitoredSession(WorkerSessionCreator(scaffold, master, config, max_wait_secs), worker_hooks, stop_grace_period_secs)
    summary_steps, summary_secs = _either(save_summaries_steps, save_summaries_secs, 100, None)
    checkpoint_steps, checkpoint_secs = _either(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    all_hooks = list(chief_only_hooks or ())
    where = summary_dir or checkpoint_dir
    if where and log_step_count_steps:
        all_hooks.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=where))
    if where and (summary_steps or summary_secs):
        all_hooks.append(SummarySaverHook(save_steps=summary_steps, save_secs=summary_secs, output_dir=where, scaffold=scaffold))
    if checkpoint_dir and (checkpoint_steps or checkpoint_secs):
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_secs=checkpoint_secs, save_steps=checkpoint_steps, scaffold=scaffold))
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _either(steps: Any, secs: Any, default_steps: int | None, default_secs: float | None) -> tuple[Any, Any]:
    """Steps and seconds, of which at most one is wanted: the defaults if neither was given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs

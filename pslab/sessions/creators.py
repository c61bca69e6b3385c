"""What makes the sessions of a `MonitoredSession` (TensorFlow 1's session creators)."""

from __future__ import annotations

from typing import Protocol

from pslab.graph.defaults import get_default_graph
from pslab.runtime.config import ConfigProto
from pslab.runtime.session import Session
from pslab.sessions.scaffold import Scaffold
from pslab.sessions.session_manager import SessionManager


class SessionCreator(Protocol):
    """Makes a session, and makes another after a recovery."""

    def create_session(self) -> Session:
        """A session on a model that is ready."""

    def begun(self, session: Session) -> None:
        """All hooks know the session."""

    def ended(self, session: Session) -> None:
        """All hooks are done with the session."""


class _WithScaffold:
    """What both kinds have."""

    scaffold: Scaffold

    def _manager(self) -> SessionManager:
        return SessionManager(
            local_init_op=self.scaffold.local_init_op,
            ready_op=self.scaffold.ready_op,
            ready_for_local_init_op=self.scaffold.ready_for_local_init_op,
            graph=get_default_graph(),
            recovery_wait_secs=1,
            roster=self.scaffold.roster,
        )

    def ended(self, session: Session) -> None:
        """Go from the roster."""
        self._manager().leave(session)


class ChiefSessionCreator(_WithScaffold):
    """Makes the chief's sessions: it initialises the model, or restores it.

    Args:
        scaffold: the parts.
        master: where the session runs.
        config: its options.
        checkpoint_dir: where there may be a checkpoint.
        checkpoint_filename_with_path: or which one to restore.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: ConfigProto | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        self.scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint = checkpoint_filename_with_path

    def create_session(self) -> Session:
        """A session on a model that is initialised or restored."""
        self.scaffold.finalize()
        return self._manager().prepare_session(
            self._master,
            init_op=self.scaffold.init_op,
            saver=self.scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint,
            config=self._config,
            init_feed_dict=self.scaffold.init_feed_dict,
            init_fn=self.scaffold.init_fn,
        )

    def begun(self, session: Session) -> None:
        """Let the others begin."""
        self._manager().announce(session)


class WorkerSessionCreator(_WithScaffold):
    """Makes the sessions of the others, which wait for the chief.

    Args:
        scaffold: the parts.
        master: where the session runs.
        config: its options.
        max_wait_secs: seconds after which the waiting ends with an error.
    """

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config: ConfigProto | None = None, max_wait_secs: float = 30 * 60) -> None:
        self.scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Session:
        """A session on a model that the chief has prepared."""
        self.scaffold.finalize()
        return self._manager().wait_for_session(self._master, config=self._config, max_wait_secs=self._max_wait_secs)

    def begun(self, session: Session) -> None:
        """Nothing: the model was the chief's to prepare."""

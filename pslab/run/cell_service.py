"""A task that a notebook's cells can be run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pslab.errors import FailedPreconditionError
from pslab.run.cells import Cells, CellState
from pslab.runtime.cluster_spec import ClusterSpec
from pslab.train.service import TaskService


class HostedServer:
    """This task's server, as programs know servers (see `pslab.train.Server`). It serves for as long as the cluster runs.

    Attributes:
        target: what to give a session.
        server_def: the cluster.
    """

    def __init__(self, target: str, spec: ClusterSpec) -> None:
        self.target = target
        self.server_def = spec

    def start(self) -> None:
        """Nothing: it serves already."""

    def join(self) -> None:
        """Nothing: it goes on to serve when the cell is at its end."""


class CellService(TaskService):
    """A `TaskService` that runs cells too.

    What they find: ``tf`` and ``pslab``, ``cluster`` (a `ClusterSpec`), ``server``, ``job_name`` and ``task_index``.
    """

    _cells: Cells | None = None

    def expect_no_cell(self) -> None:
        """See that no cell is at work.

        Raises:
            FailedPreconditionError: one is running.
        """
        if self._cells is not None:
            self._cells.expect_none()

    def begin_cell(self, source: str, addresses: Mapping[str, Sequence[str]], anew: bool) -> None:
        """Run a cell.

        Args:
            source: its text.
            addresses: of all tasks, by job.
            anew: forget the names and the graph of earlier ones.

        Raises:
            FailedPreconditionError: one is running.
        """
        spec = ClusterSpec(addresses)
        self._tasks[:] = [*spec.task_names(), *([] if self._name in spec.task_names() else [self._name])]
        if self._cells is None:
            self._cells = Cells(self._name, self._names(spec))
        elif anew:
            self._cells.clear()
        self._cells.begin(source)

    def cell_state(self) -> CellState:
        """How the last cell fares."""
        return self._cell().state()

    def interrupt_cell(self) -> None:
        """Interrupt the cell that is running."""
        self._cell().interrupt()

    def _cell(self) -> Cells:
        if self._cells is None:
            raise FailedPreconditionError(f"{self._name} has run no cell")
        return self._cells

    def _names(self, spec: ClusterSpec) -> dict[str, Any]:
        import pslab

        job, _, index = self._name.partition(":")
        return {
            "tf": pslab,
            "pslab": pslab,
            "cluster": spec,
            "server": HostedServer(self.address, spec),
            "job_name": job,
            "task_index": int(index),
        }

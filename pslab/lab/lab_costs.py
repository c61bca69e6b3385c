"""What the lab tells of the cost of its training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pslab.errors import UsageError
from pslab.lab.costs import Cost, cost_of, links_table, variables_table
from pslab.lab.workbench import Workbench

if TYPE_CHECKING:
    import pandas


class LabCosts(Workbench):
    """The verbs of a `Lab` that look at links, bytes and seconds."""

    def traffic(self, by: str = "link") -> pandas.DataFrame:
        """What has gone between the tasks since the present mode began, counted where it was sent.

        Args:
            by: ``"link"`` (messages, bytes and seconds of each link and direction, also per worker step) or ``"variable"`` (bytes of each variable to
                and from the ps tasks).

        Raises:
            UsageError: ``by`` is something else.
        """
        if by not in ("link", "variable"):
            raise UsageError(f"traffic is by link or by variable, found {by!r}")
        trainer = self._training()
        return links_table(trainer.traffic()) if by == "link" else variables_table(trainer.traffic(), trainer.job())

    def cost(self) -> Cost:
        """What a worker's step of the present mode costs: predicted from its plan, the links and the seconds that computing takes; and as measured.

        Raises:
            FailedPreconditionError: no step was made in this mode yet.
        """
        return cost_of(self._training(), self.cluster.network, self.cluster.cores)

"""Claims: who may make the next update, and when nobody may.

Before each update its maker claims it. Claims are granted up to a limit, so that ``train(steps=500)`` makes exactly 500 updates, whoever makes
them; pausing is a limit of what was granted already, a single step a limit of one more.
"""

from __future__ import annotations

from pslab.errors import CancelledError


class Claims:
    """Counts claims against a limit. A state machine: no threads, no clock of its own.

    Attributes:
        epoch: which change of mode the makers of updates belong to; those of another are refused.
        granted: the number of updates that were claimed, counted like the global step.
        limit: how many may be.
        paused_ns: total time in which a maker stood before the limit.
    """

    def __init__(self) -> None:
        self.epoch = ""
        self.granted = 0
        self.limit = 0
        self.paused_ns = 0
        self._stopped_at: int | None = None

    def begin(self, epoch: str, granted: int) -> None:
        """Start a new epoch, with the global step at ``granted`` and no limit yet: claims that were granted and not used are forgotten."""
        self.epoch = epoch
        self.granted, self.limit = granted, 0
        self._stopped_at = None

    def end(self) -> None:
        """End the epoch: no further update of it is made."""
        self.epoch = ""

    def check(self, epoch: str) -> None:
        """Whether an epoch is on.

        Raises:
            CancelledError: it is over.
        """
        if epoch != self.epoch:
            raise CancelledError(f"epoch {epoch} of the training is over; this is epoch {self.epoch or 'none'}")

    def claim(self, epoch: str, now_ns: int) -> bool:
        """Claim the next update; False if the limit is reached.

        Raises:
            CancelledError: the mode was changed since ``epoch`` began.
        """
        self.check(epoch)
        if self.granted >= self.limit:
            if self._stopped_at is None:
                self._stopped_at = now_ns
            return False
        self.granted += 1
        if self._stopped_at is not None:
            self.paused_ns += now_ns - self._stopped_at
            self._stopped_at = None
        return True

    def give_back(self, epoch: str) -> None:
        """Who claimed an update cannot make it: another may. One of an epoch that is over has nothing to give back."""
        if epoch == self.epoch:
            self.granted -= 1

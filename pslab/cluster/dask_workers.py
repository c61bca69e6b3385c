"""The workers of a Dask cluster that is running already, as places to run functions at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from distributed import Client
from distributed.comm.addressing import get_address_host

from pslab.errors import UnavailableError

CONNECT_S = 10.0


class DaskWorkers:
    """A connection to a Dask scheduler, for as long as a ``with`` block.

    Args:
        address: of the scheduler.

    Attributes:
        workers: addresses of its workers, in the order of their names.

    Raises:
        UnavailableError: nobody answers there, or there are no workers.
    """

    def __init__(self, address: str) -> None:
        try:
            self._client = Client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise UnavailableError(
                f"cannot reach the Dask scheduler {address}: {error}", "is it running? Its address is such as tcp://host:8786"
            ) from None
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        self.workers: list[str] = sorted(known, key=lambda worker: str(known[worker].get("name", worker)))
        if not self.workers:
            self._client.close()
            raise UnavailableError(f"the Dask scheduler {address} has no workers", "start some: dask worker ADDRESS")

    def host(self, worker: str) -> str:
        """The host that a worker listens on."""
        return str(get_address_host(worker))

    def call(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a function in a worker's process, which must be able to import it.

        Raises:
            UnavailableError: the worker is gone.
        """
        answer = self.call_all([worker], function, *arguments)[worker]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def call_all(self, workers: Sequence[str], function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Run a function in several workers' processes; returns by worker what it returned, or the error."""
        answers = self._client.run(function, *arguments, workers=list(workers), on_error="return")
        return {w: UnavailableError(f"the Dask worker {w} is gone: {a}") if isinstance(a, OSError) else a for w, a in answers.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

"""How large a batch can be."""

from __future__ import annotations

from pslab.data.partitions import DataSource
from pslab.errors import UsageError


def check_batch_size(batch_size: int, workers: int, dataset: DataSource) -> int:
    """The batch size, if there are examples enough for one batch of each worker.

    Raises:
        UsageError: it is less than 1, or too large.
    """
    if batch_size < 1:
        raise UsageError(f"batch_size must be at least 1, found {batch_size}")
    if dataset.examples is not None and batch_size * workers > dataset.examples:
        raise UsageError(
            f"{workers} workers with batches of {batch_size} need more than the {dataset.examples} examples", f"at most {dataset.examples // workers}"
        )
    return batch_size

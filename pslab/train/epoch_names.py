"""What the resources of an epoch are called: on whichever task they are, their names begin alike, so that they can be forgotten at its end."""

from __future__ import annotations


def resources_of(epoch_id: str) -> str:
    """How the names of what keeps an epoch in step begin: accumulators, clocks, ledgers."""
    return f"epoch_{epoch_id}/"


def variables_of(epoch_id: str) -> str:
    """How the names of the variables begin that workers have of their own: a scope of the root."""
    return f"own_{epoch_id}/"

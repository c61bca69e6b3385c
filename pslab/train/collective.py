"""Update rules without a parameter server: while they are in force, the parameters live on the workers (`pslab.train.resident`)."""

from __future__ import annotations

from dataclasses import dataclass

from pslab.errors import UsageError


@dataclass(frozen=True)
class RingAllReduce:
    """Each worker has all parameters; the mean gradient goes round a ring of the workers, and each applies it to its own copy.

    The gradients, as one buffer per dtype, are cut into as many chunks as there are workers. A chunk is summed up on its way round (reduce-scatter), and
    goes round once more as a mean (all-gather): 2(n−1) messages per worker and step, of 1/n of the gradients each, however many workers there are
    (Patarasuk & Yuan, 2009, "Bandwidth optimal all-reduce algorithms for clusters of workstations"; Sergeev & Del Balso, 2018, "Horovod").
    """

    def __str__(self) -> str:
        return "ring all-reduce"


@dataclass(frozen=True)
class Pipeline:
    """Each worker has one stage of the model; a batch goes through the stages in microbatches (Huang et al., 2019, "GPipe").

    All microbatches go forward, then all go back; the parameters are updated once, by the mean gradient: the step is that of one process on the whole
    batch. With S stages of equal work, each worker idles (S−1)/(m+S−1) of the time: the bubble.

    Attributes:
        microbatches: m, how many parts the batch of a step is cut into.
    """

    microbatches: int = 4

    def __post_init__(self) -> None:
        if self.microbatches < 1:
            raise UsageError(f"Pipeline(microbatches=…) must be 1 or more, found {self.microbatches}")

    def bubble(self, stages: int) -> float:
        """The share of time that a worker idles in theory, with so many stages of equal work: (S−1)/(m+S−1)."""
        return (stages - 1) / (self.microbatches + stages - 1)

    def __str__(self) -> str:
        return f"pipeline, {self.microbatches} microbatch{'es' if self.microbatches > 1 else ''}"


WHY = {
    "between-graph": "a worker exchanges with its neighbours, from a graph of its own",
    "in-graph": "its stages are one graph, driven by one client",
}
"""Why a rule needs a replication."""


def replication_of(update: object) -> str:
    """The one replication that an update rule without a ps can be had in; empty for the other rules."""
    match update:
        case RingAllReduce():
            return "between-graph"
        case Pipeline():
            return "in-graph"
    return ""

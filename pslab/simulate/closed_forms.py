"""What exchanges cost by formula: the α–β model on paper, to be set beside what is simulated and measured.

α is the latency of a message in seconds, β the bandwidth of a port in bytes per second, M the bytes of the parameters, n the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence


def message(size: float, latency: float, bandwidth: float) -> float:
    """Seconds that a message takes on an idle path, cut-through: α + S/β (Hockney, 1994)."""
    return latency + size / bandwidth


def ring_all_reduce(size: float, workers: int, latency: float, bandwidth: float) -> float:
    """Seconds of a ring all-reduce: 2(n−1) rounds in which each worker passes a chunk of M/n on, so 2(n−1)·α + 2(n−1)/n·M/β.

    Patarasuk and Yuan (2009), "Bandwidth optimal all-reduce algorithms for clusters of workstations".
    """
    rounds = 2 * (workers - 1)
    return rounds * message(size / workers, latency, bandwidth)


def sync_step(size: float, workers: int, servers: int, latency: float, bandwidth: float, compute: float) -> float:
    """Seconds of a synchronous step, full duplex: c + 2α + (1 + n/p)·M/β where n ≥ p.

    All push M, spread evenly over p ps tasks, and pull it. The ps answers one worker after the other, and who has its answer computes and pushes while the
    others' are still on their way: so of the two queues at a ps's port, each n/p·M/β long, only one is on the critical path, and one worker's own message.
    """
    return compute + 2 * latency + (1 + max(1.0, workers / servers)) * size / bandwidth


def async_step(size: float, workers: int, servers: int, latency: float, bandwidth: float, compute: float) -> float:
    """Seconds of a worker's step, asynchronous, full duplex: its own way, or its turn at the busiest port.

    The bounds of closed queueing networks: max(c + 2α + 2·M/β, n/p·M/β) (Denning and Buzen, 1978, "The operational analysis of queueing network models").
    """
    alone = compute + 2 * message(size, latency, bandwidth)
    return max(alone, workers / servers * size / bandwidth)


def computing(compute: float, workers: int, cores: int) -> float:
    """Seconds in which n workers that share c cores have each computed: max(c, n·c/cores)."""
    return max(compute, workers * compute / cores)


def together(computing: Sequence[float]) -> float:
    """Mean seconds of a worker's step where each waits for the slowest: max c_i."""
    return max(computing)


def each_by_itself(computing: Sequence[float]) -> float:
    """Mean seconds of a worker's step where nobody waits: n / Σ 1/c_i, for together they make Σ 1/c_i steps per second."""
    return len(computing) / sum(1 / seconds for seconds in computing)

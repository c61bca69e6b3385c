"""What looking at the replicas costs: steps per second with and without, in turns on the same cluster, and the ratio.

python benchmarks/divergence.py [--pairs 5] [--seconds 4] [--path divergence.png]
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter, sleep
from unittest.mock import patch

from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.lab.divergence_figure import divergence_figure
from pslab.lab.divergence_tables import divergence_history_table
from pslab.train.commits import Differences
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.replica_view import ReplicaView
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync

SIZES = {"small": [128], "big": [1024, 1024]}
ENDLESS = 10_000_000
"""More updates than are made."""


def rate(trainer: Trainer, seconds: float) -> float:
    """Updates per second, over some seconds of training."""
    began, first = perf_counter(), trainer.status().global_step
    sleep(seconds)
    return (trainer.status().global_step - first) / (perf_counter() - began)


def share(trainer: Trainer, pairs: int, seconds: float) -> list[float]:
    """The part of the speed that looking costs, of each pair of stretches; which comes first alternates."""
    costs = []
    for number in range(pairs):
        rates = {}
        for looking in (number % 2 == 0, number % 2 == 1):
            if looking:
                rates[looking] = rate(trainer, seconds)
            else:
                with patch.object(ReplicaView, "sample"):
                    rates[looking] = rate(trainer, seconds)
        costs.append(1 - rates[True] / rates[False])
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--path", default="divergence.png")
    options = parser.parse_args()
    strategy = Strategy(update=Sync(), commit_every=8, commit=Differences())
    with Cluster(ps=1, workers=2) as cluster:
        for name, hidden in SIZES.items():
            trainer = Trainer(cluster, digits(), Model(MLP(10, hidden), learning_rate=0.02), strategy)
            trainer.train(ENDLESS)
            rate(trainer, 1.0)
            costs = share(trainer, options.pairs, options.seconds)
            print(f"{name:<6} cost of looking: median {median(costs):+.2%}, of each pair {' '.join(f'{c:+.2%}' for c in costs)}", flush=True)
            if name == "small":
                divergence_figure(divergence_history_table(trainer.divergence_history(), trainer.strategies)).savefig(options.path)
            trainer.close()


if __name__ == "__main__":
    main()

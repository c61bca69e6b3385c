"""Eight workers on the cores there are, as processes and as threads: how fast they are together, and how evenly they get on.

python benchmarks/eight_workers.py
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import pslab
from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer

WORKERS, WORKER_STEPS = 8, 2000


def main() -> None:
    """Print a line per hosting and mode."""
    for hosting, processes in {"processes": True, "threads": False}.items():
        with Cluster(ps=1, workers=WORKERS, processes=processes) as cluster:
            trainer = Trainer(cluster, digits(), Model(MLP(10), learning_rate=0.01))
            for replication in Replication:
                for update in (pslab.Async(), pslab.SSP(2), pslab.Sync()):
                    strategy = Strategy(replication, update)
                    trainer.set_strategy(strategy)
                    seen, began = len(trainer.records()), perf_counter()
                    trainer.train(WORKER_STEPS // (WORKERS if strategy.gathered else 1))
                    trainer.wait(timeout=120)
                    took, records = perf_counter() - began, trainer.records()[seen:]
                    shares = np.bincount(records["worker"], minlength=WORKERS) / len(records) * WORKERS
                    print(
                        f"{hosting:9}  {strategy!s:34}  {len(records) / took:6.0f} worker steps/s"
                        f"  shares from {shares.min():.2f} to {shares.max():.2f} of an even one  staleness {np.nanmean(records['staleness']):.2f}"
                    )
            trainer.close()


if __name__ == "__main__":
    main()

"""How long a change of mode takes while a training runs, beyond the longest step in flight, on one ps and two workers.

python benchmarks/mode_switch.py
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from one_process import MODELS

import pslab
from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer

UPDATES = (pslab.Async(), pslab.Sync(), pslab.SSP(2))
MODES = (
    *(Strategy(replication, update) for replication in Replication for update in UPDATES),
    Strategy(update=pslab.KAsync(1)),
    Strategy(update=pslab.Sync(), commit_every=4, commit=pslab.Differences()),
    Strategy(commit_every=4, commit=pslab.Elastic()),
)
TARGET_S = 0.1


def main() -> None:
    """Print a line per model and mode: how long it took to come to it."""
    for name, (hidden, _, _) in MODELS.items():
        with Cluster(ps=1, workers=2) as cluster:
            trainer = Trainer(cluster, digits(), Model(MLP(10, hidden), learning_rate=0.01), MODES[-1])
            trainer.train(10**9)
            trainer.wait(step=20, timeout=60)
            taken: dict[Strategy, list[float]] = {mode: [] for mode in MODES}
            for _ in range(3):
                for mode in MODES:
                    seen = trainer.status().global_step
                    longest = trainer.records()["wall"][-20:].max()
                    began = perf_counter()
                    trainer.set_strategy(mode)
                    taken[mode].append(perf_counter() - began - longest)
                    trainer.wait(step=seen + 20, timeout=60)
            trainer.close()
        for mode, seconds in taken.items():
            print(
                f"{name:16} to {mode!s:60} {1000 * np.median(seconds):6.0f} ms, at most {1000 * max(seconds):6.0f} ms  (target {1000 * TARGET_S:.0f})"
            )


if __name__ == "__main__":
    main()

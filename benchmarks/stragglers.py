"""Slow workers: async's throughput against sync's, measured and predicted.

A worker's step takes t_i, mostly its delay. Async makes Σ 1/E[t_i] worker steps per second, sync N/E[max t_i].

python benchmarks/stragglers.py
"""

from __future__ import annotations

from time import monotonic

import numpy as np

from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.train.delays import Constant, Delay, Pareto
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync, Update

SECONDS = 8.0
CASES: dict[str, list[Delay]] = {
    "all alike": [Constant(0.03)] * 3,
    "one 3 times slower": [Constant(0.03), Constant(0.03), Constant(0.09)],
    "Pareto, all alike": [Pareto(0.02, 2.5)] * 3,
    "Pareto, one 3 times slower": [Pareto(0.02, 2.5), Pareto(0.02, 2.5), Pareto(0.06, 2.5)],
}


def measured(cluster: Cluster, delays: list[Delay], update: Update) -> float:
    """Worker steps per second, all workers together."""
    trainer = Trainer(cluster, digits(), Model(MLP(10, [32]), learning_rate=0.05), Strategy(update=update), batch_size=16)
    for worker, delay in enumerate(delays):
        trainer.slow(worker, delay)
    trainer.train(10**9)
    trainer.wait(step=3)
    before, began = len(trainer.records()), monotonic()
    while monotonic() < began + SECONDS:
        trainer._closed.wait(0.1)
    rate = (len(trainer.records()) - before) / (monotonic() - began)
    trainer.stop()
    trainer.close()
    return rate


def predicted(delays: list[Delay]) -> tuple[float, float]:
    """Of async and sync, from draws of the delays alone."""
    rng = np.random.default_rng(0)
    drawn = np.array([[delay.draw(rng) for _ in range(20_000)] for delay in delays])
    return float((1 / drawn.mean(axis=1)).sum()), float(len(delays) / drawn.max(axis=0).mean())


def main() -> None:
    """Print a line per case."""
    with Cluster(ps=1, workers=3) as cluster:
        for name, delays in CASES.items():
            ours = [measured(cluster, delays, update) for update in (Async(), Sync())]
            model = predicted(delays)
            rates = "  ".join(f"{rule} {rate:6.1f}/s (predicted {p:6.1f})" for rule, rate, p in zip(("async", "sync"), ours, model, strict=True))
            print(f"{name:28} {rates}  async/sync {ours[0] / ours[1]:.2f} (predicted {model[0] / model[1]:.2f})", flush=True)


if __name__ == "__main__":
    main()

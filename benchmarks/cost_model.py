"""The cost model beside what is measured: ``python -m benchmarks.cost_model``.

A real cluster, a process per task, with links shaped so that they take most of a step. Each row is a training: the step as the cost model predicts it from
the plan, the links and the seconds that a worker computes, and the mean of the steps as they were measured. ``share`` is the part of the measured step
that is not computing. The last line says how many predictions are within 15 % where that part is at least 80 %.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from time import perf_counter

import numpy as np

from pslab.cluster import Cluster
from pslab.data.datasets import load
from pslab.runtime.transport.network import Network, parse_bandwidth, parse_time
from pslab.simulate.cost import predict
from pslab.train.costing import measured_step, workload
from pslab.train.model import Model
from pslab.train.models import by_name
from pslab.train.strategy import Async, Replication, Strategy, Sync
from pslab.train.trainer import Trainer

MODES = {
    "async": lambda k: Strategy(update=Async(), commit_every=k),
    "sync": lambda k: Strategy(update=Sync(), commit_every=k),
    "in-graph async": lambda k: Strategy(Replication.IN_GRAPH, Async()),
    "in-graph sync": lambda k: Strategy(Replication.IN_GRAPH, Sync()),
}


def measure(trainer: Trainer, strategy: Strategy, seconds: float) -> np.ndarray:
    """Records of some steps of a mode, but for the first and those that were observed."""
    trainer.set_strategy(strategy)
    before = len(trainer.strategies)
    trainer.train(10**6)
    deadline = perf_counter() + seconds
    while perf_counter() < deadline:
        trainer.wait(step=trainer.status().global_step + 1, timeout=60)
    trainer.pause()
    records = trainer.records()
    trainer.stop()
    mine = records[records["strategy"] == before]
    return mine[mine["step"] > 2 * strategy.commit_every]


def rows(args: argparse.Namespace) -> Iterator[tuple[str, float, float, float, str]]:
    dataset = load("digits")
    model = Model(by_name("mlp", dataset.classes, args.hidden), "mlp")
    network = Network(parse_bandwidth(args.bandwidth), parse_time(args.latency), duplex=args.duplex)
    for ps in args.ps:
        for workers in args.workers:
            with Cluster(ps, workers) as cluster:
                cluster.call_always("shape", network=network)
                trainer = Trainer(cluster, dataset, model, batch_size=32)
                for mode in args.modes:
                    for k in args.k if "in-graph" not in mode else [1]:
                        strategy = MODES[mode](k)
                        records = measure(trainer, strategy, args.seconds)
                        step = measured_step(records, strategy.commit_every)
                        found = predict(workload(trainer.job(), network, records, os.cpu_count()))
                        if args.phases:
                            print("; ".join(f"{p} {getattr(found, p) * 1e3:.2f} {step[p] * 1e3:.2f}" for p in ("compute", "wait", "push", "pull")))
                        yield (
                            f"{mode:<16} {workers:>7} {ps:>3} {k:>3}",
                            found.step,
                            step["wall"],
                            1 - step["compute"] / step["wall"],
                            found.bottleneck,
                        )
                trainer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bandwidth", default="100Mbit")
    parser.add_argument("--latency", default="1ms")
    parser.add_argument("--duplex", default="full")
    parser.add_argument("--hidden", type=int, nargs="+", default=[512])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--ps", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--k", type=int, nargs="+", default=[1, 4, 32])
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=list(MODES))
    parser.add_argument("--phases", action="store_true", help="show where the time goes, too")
    parser.add_argument("--seconds", type=float, default=3.0)
    print(f"{'mode':<16} workers  ps   k  predicted   measured  ratio  share  bottleneck")
    ratios = []
    for where, predicted, measured, share, bottleneck in rows(parser.parse_args()):
        if share >= 0.8:
            ratios.append(predicted / measured)
        print(f"{where} {predicted * 1e3:7.2f} ms {measured * 1e3:7.2f} ms {predicted / measured:6.2f} {share:6.2f}  {bottleneck}", flush=True)
    near = sum(abs(ratio - 1) <= 0.15 for ratio in ratios)
    print(f"where links take at least 80 %: {near} of {len(ratios)} within 15 %; ratios from {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()

"""Between-graph async, one ps and two workers, against two NumPy processes that do not communicate, in one run.

python benchmarks/between_graph.py
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from one_process import MODELS, HandWritten, rate
from threadpoolctl import threadpool_limits

from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.trace.summary import summarise
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.trainer import Trainer

TARGETS = {"64-128-10": {"unix": 0.30, "tcp": 0.15}, "64-1024-1024-10": {"unix": 0.40, "tcp": 0.35}}
SECONDS = 3.0


def alone(hidden: list[int], steps: int, queue: Any, barrier: Any) -> None:
    """Train by hand in this process; tell the rate."""
    data = digits()
    step = HandWritten(hidden).step
    with threadpool_limits(1):
        rate(step, data.x_train, data.y_train, steps // 10)
        barrier.wait()
        queue.put(rate(step, data.x_train, data.y_train, steps))


def two_alone(hidden: list[int], steps: int) -> float:
    """Steps per second of two processes together that do not communicate."""
    context = multiprocessing.get_context("spawn")
    queue, barrier = context.Queue(), context.Barrier(2)
    processes = [context.Process(target=alone, args=(hidden, steps, queue, barrier)) for _ in range(2)]
    for process in processes:
        process.start()
    total = sum(queue.get() for _ in processes)
    for process in processes:
        process.join()
    return float(total)


def together(hidden: list[int], unix: bool) -> float:
    """Worker steps per second of a training, both workers together."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    service = "pslab.train.service:TaskService" if unix else "tcp_service:TcpTaskService"
    with Cluster(ps=1, workers=2, service=service) as cluster:
        trainer = Trainer(cluster, digits(), Model(MLP(10, hidden), learning_rate=0.05))
        trainer.train(100)
        trainer.wait()
        skipped = len(trainer.records())
        trainer.train(10**9)
        end = monotonic() + SECONDS
        while monotonic() < end:
            trainer._closed.wait(0.1)
        trainer.pause()
        records = trainer.records()[skipped + 20 :]
        trainer.close()
    return summarise(records).worker_steps_per_s


def main() -> None:
    """Print a line per model and transport."""
    for name, (hidden, steps, _) in MODELS.items():
        limit = np.median([two_alone(hidden, steps * 2) for _ in range(3)])
        for transport, target in TARGETS[name].items():
            ours = np.median([together(hidden, transport == "unix") for _ in range(3)])
            print(
                f"{name:16} {transport:4}  two alone {limit:7.0f}/s  between-graph async {ours:7.0f}/s  ratio {ours / limit:.2f}  (target {target})"
            )


if __name__ == "__main__":
    main()

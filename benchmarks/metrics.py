"""What it costs to record every worker step: the rate of the same training with and without, in turns, in one run.

python benchmarks/metrics.py
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import numpy as np
from one_process import MODELS

from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.trainer import Trainer

SERVICES = {"on": "pslab.train.service:TaskService", "off": "silent_service:SilentTaskService"}
TARGETS = {"64-128-10": 0.05, "64-1024-1024-10": 0.01}
ROUNDS, SECONDS = 7, 2.0


def updates_per_s(trainer: Trainer) -> float:
    """The rate at which a paused training goes when it is let go."""
    trainer.resume()
    begun, steps = monotonic(), trainer.status().global_step
    while monotonic() < begun + SECONDS:
        trainer._closed.wait(0.1)
    made, took = trainer.status().global_step - steps, monotonic() - begun
    trainer.pause()
    return made / took


def main() -> None:
    """Print a line per model."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    for name, (hidden, _, _) in MODELS.items():
        with ExitStack() as stack:
            trainers = {}
            for way, service in SERVICES.items():
                cluster = stack.enter_context(Cluster(ps=1, workers=2, service=service))
                trainers[way] = trainer = Trainer(cluster, digits(), Model(MLP(10, hidden), learning_rate=0.05))
                stack.callback(trainer.close)
                trainer.step(50)
                trainer.train(10**9)
                trainer.pause()
            pairs = [(updates_per_s(trainers["on"]), updates_per_s(trainers["off"])) for _ in range(ROUNDS)]
            cost = 1 - np.median([on / off for on, off in pairs])
            on, off = np.median(pairs, axis=0)
            print(f"{name:16} records on {on:7.0f}/s  off {off:7.0f}/s  cost {cost:6.1%}  (target {TARGETS[name]:.0%})")


if __name__ == "__main__":
    main()

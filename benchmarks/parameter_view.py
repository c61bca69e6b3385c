"""What an open parameter view costs: the rate of the same training with and without, in turns, in one run; and processor time, at rest.

python benchmarks/parameter_view.py
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

import numpy as np
import psutil

import pslab
from pslab.lab.lab import Lab
from pslab.lab.parameter_view.surface import GRID
from pslab.train.trajectories import flat

WORKERS, ROUNDS, SECONDS = 2, 9, 4.0
CREDIT_S = 20.0
"""Seconds after which the first surfaces, which may come at once, are over."""
TARGET_SHARE = 0.02
LOOKS, SURFACES = 200, 3


def updates_per_s(lab: Lab) -> float:
    """The rate of updates over some seconds."""
    begun, steps = monotonic(), lab.trainer.status().global_step
    sleep(SECONDS)
    return (lab.trainer.status().global_step - steps) / (monotonic() - begun)


def busy_ms(lab: Lab, times: int, work: Callable[[], object]) -> dict[str, float]:
    """Processor time of each task for doing something once, beyond what it takes to stand still, in milliseconds."""
    processes = {task.name: psutil.Process(task.pid) for task in lab.cluster.status().tasks}

    def spent() -> tuple[float, dict[str, float]]:
        return monotonic(), {name: sum(process.cpu_times()[:2]) for name, process in processes.items()}

    (begun, first), _ = spent(), sleep(SECONDS)
    between, second = spent()
    for _ in range(times):
        work()
    ended, third = spent()
    idle = {name: (second[name] - first[name]) / (between - begun) for name in processes}
    return {name: round(1e3 * (third[name] - second[name] - idle[name] * (ended - between)) / times, 1) for name in processes}


def main() -> None:
    """Print the share of the rate, and the processor time of a look and of a surface."""
    lab = pslab.Lab()
    lab.cluster.start(ps=1, workers=WORKERS)
    try:
        lab.train(10**9)
        view, teller = lab.parameter_view(), lab._parameter_station.teller
        sleep(CREDIT_S)
        pairs = []
        for _ in range(ROUNDS):
            teller.leave(view)  # a view that is closed draws a picture to be left behind, which is another matter
            without = updates_per_s(lab)
            teller.join(view)
            pairs.append((without, updates_per_s(lab)))
        off, on = np.array(pairs).T
        cost, doubt = 1 - np.median(on / off), np.std(on / off) / np.sqrt(ROUNDS)
        print(f"{WORKERS} workers: with a view {np.median(on):.0f} updates/s, without {np.median(off):.0f}")
        print(f"cost {cost:.1%} ± {doubt:.1%} (target {TARGET_SHARE:.0%})")
        lab.pause()
        trainer = lab.trainer
        print(f"a look: {busy_ms(lab, LOOKS, trainer.glimpse)} ms of processor time")
        origin, ticks = flat(trainer.parameters()), np.linspace(-1, 1, GRID)
        directions = np.linalg.qr(np.random.default_rng(0).standard_normal((len(origin), 2)))[0].T
        surface = busy_ms(lab, SURFACES, lambda: [trainer.surface(origin, directions, ticks, ticks[k : k + 1]) for k in range(GRID)])
        print(f"a surface: {surface} ms of processor time")
    finally:
        lab.cluster.stop()


if __name__ == "__main__":
    main()

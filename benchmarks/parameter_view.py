"""What an open parameter view costs: the rate of the same training with and without, in turns, in one run.

python benchmarks/parameter_view.py
"""

from __future__ import annotations

from time import monotonic, sleep

import numpy as np

import pslab
from pslab.lab.lab import Lab

WORKERS, ROUNDS, SECONDS = 2, 9, 4.0
TARGET_SHARE = 0.02


def updates_per_s(lab: Lab) -> float:
    """The rate of updates over some seconds."""
    begun, steps = monotonic(), lab.trainer.status().global_step
    sleep(SECONDS)
    return (lab.trainer.status().global_step - steps) / (monotonic() - begun)


def main() -> None:
    """Print the share of the rate."""
    lab = pslab.Lab()
    lab.cluster.start(ps=1, workers=WORKERS)
    try:
        lab.train(10**9)
        view = lab.parameter_view()
        sleep(20)  # the first surfaces, which may come at once
        view.close()
        pairs = []
        for turn in range(2 * ROUNDS):
            view = lab.parameter_view() if turn % 2 else None
            pairs.append(updates_per_s(lab))
            if view is not None:
                view.close()
        off, on = np.array(pairs[::2]), np.array(pairs[1::2])
        cost, doubt = 1 - np.median(on / off), np.std(on / off) / np.sqrt(ROUNDS)
        print(f"{WORKERS} workers: with a view {np.median(on):.0f} updates/s, without {np.median(off):.0f}")
        print(f"cost {cost:.1%} ± {doubt:.1%} (target {TARGET_SHARE:.0%})")
    finally:
        lab.cluster.stop()


if __name__ == "__main__":
    main()

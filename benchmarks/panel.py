"""What an open panel costs: the rate of the same training with and without, in turns, in one run; and the kernel's processor time.

python benchmarks/panel.py
"""

from __future__ import annotations

from time import monotonic, sleep

import numpy as np

import pslab
from pslab.lab.lab import Lab
from pslab.lab.panel.panel import Station

WORKERS, ROUNDS, SECONDS = 8, 12, 5.0
SETTLED_S = 3.0
"""Seconds after which the first looks are over."""
TARGET_SHARE, TARGET_S = 0.03, 0.05


def updates_per_s(lab: Lab) -> float:
    """The rate of updates over some seconds."""
    begun, steps = monotonic(), lab.trainer.status().global_step
    sleep(SECONDS)
    return (lab.trainer.status().global_step - steps) / (monotonic() - begun)


def busy_s(station: Station) -> float:
    """The processor time that the panel has taken until now."""
    return station.teller.busy_s + sum(station.survey_s.values())


def main() -> None:
    """Print the share of the rate, and the processor time per second."""
    lab = pslab.Lab()
    lab.cluster.start(ps=1, workers=WORKERS)
    try:
        lab.train(10**9)
        panel, station = lab.panel(), lab._station
        sleep(SETTLED_S)
        pairs, busy = [], []
        for _ in range(ROUNDS):
            station.teller.leave(panel)  # a panel that is closed draws a picture to be left behind, which is another matter
            without = updates_per_s(lab)
            station.teller.join(panel)
            before, begun = busy_s(station), monotonic()
            pairs.append((updates_per_s(lab), without))
            busy.append((busy_s(station) - before) / (monotonic() - begun))
        cost = 1 - np.median([on / off for on, off in pairs])
        spread = np.std([on / off for on, off in pairs]) / np.sqrt(ROUNDS)
        on, off = np.median(pairs, axis=0)
        print(f"{WORKERS} workers: with a panel {on:.0f} updates/s, without {off:.0f}; cost {cost:.1%} ± {spread:.1%} (target {TARGET_SHARE:.0%})")
        print(f"kernel time of the panel {1e3 * np.mean(busy):.0f} ms per second (target {1e3 * TARGET_S:.0f} ms)")
    finally:
        lab.cluster.stop()


if __name__ == "__main__":
    main()

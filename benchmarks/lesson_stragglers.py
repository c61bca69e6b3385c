"""One slow worker among four: how fast the others get on, and how long it takes to learn, by the rule of consistency.

python benchmarks/lesson_stragglers.py [--factors 1 2 4 8] [--seeds 2] [--figure stragglers.png]
"""

from __future__ import annotations

import argparse

import pandas
from matplotlib import rc_context
from matplotlib.figure import Figure

import pslab
from pslab.lab.chart import STYLE, legend_below
from pslab.lab.palette import DASHES, MARKERS, SERIES

WORKERS, DELAY_S, ACCURACY = 4, 0.01, 0.93
RULES = {"sync": pslab.Sync(), "sync, 1 backup": pslab.Sync(backup=1), "ssp, staleness 3": pslab.SSP(3), "async": pslab.Async()}


def measured(factors: list[float], seeds: int) -> pandas.DataFrame:
    """A row per rule, factor and seed."""
    lab = pslab.Lab()
    lab.cluster.start(ps=1, workers=WORKERS)
    lab.model("mlp", hidden=[64], learning_rate=0.1)
    found = []
    try:
        for factor in factors:
            for worker in range(WORKERS):
                slow = factor if worker == WORKERS - 1 else 1
                lab.cluster.slow(f"worker:{worker}", pslab.Constant(slow * DELAY_S))
            swept = lab.sweep({"update": list(RULES.values())}, accuracy=ACCURACY, seeds=seeds, seconds=60.0)
            found.append(swept.table.assign(factor=factor))
    finally:
        lab.cluster.stop()
    return pandas.concat(found)


def figure(table: pandas.DataFrame) -> Figure:
    """Worker steps per second, and seconds to the accuracy, over how much slower one worker is."""
    with rc_context(STYLE):
        picture = Figure(figsize=(10, 4.6), layout="constrained", dpi=100)
        left, right = picture.subplots(1, 2)
        for number, (name, rule) in enumerate(RULES.items()):
            mine = table[table["update"].astype(str) == str(rule)]
            style = {"color": SERIES[number], "linestyle": DASHES[number], "marker": MARKERS[number]}
            for ax, column in ((left, "worker_steps_per_s"), (right, "seconds")):
                ax.plot(mine.groupby("factor")[column].mean(), label=name, **style)
                ax.plot(mine["factor"], mine[column], linestyle="none", marker=MARKERS[number], color=SERIES[number], alpha=0.3, markersize=4)
        left.set(title="Throughput", xlabel="one worker is so many times slower", ylabel="worker steps per second", ylim=(0, None))
        right.set(
            title=f"Time to {ACCURACY:.0%} on the test set", xlabel="one worker is so many times slower", ylabel="seconds of training", ylim=(0, None)
        )
        for ax in (left, right):
            ax.set_xscale("log", base=2)
            ax.set_xticks(sorted(table["factor"].unique()), [f"{f:g}×" for f in sorted(table["factor"].unique())])
        legend_below(left)
    return picture


def main() -> None:
    """Print a row per rule and factor, and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--factors", type=float, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--figure", default="stragglers.png")
    options = parser.parse_args()
    table = measured(options.factors, options.seeds)
    columns = ["seconds", "steps", "worker_steps_per_s", "staleness_mean", "wait_share", "test_accuracy"]
    shown = table[["factor", "update", "seed", *(c for c in columns if c in table)]]
    print(shown.to_string(index=False, float_format=lambda v: f"{v:.3g}"))
    figure(table).savefig(options.figure)


if __name__ == "__main__":
    main()

"""Local SGD on a slow link: time to an accuracy against the steps between commits, with divergence and merge gap beside it.

python benchmarks/lesson_commits.py [--every 1 2 4 …] [--seeds 2] [--figure commits.png]
"""

from __future__ import annotations

import argparse

import pandas
from matplotlib import rc_context
from matplotlib.figure import Figure

import pslab
from pslab.lab.chart import STYLE
from pslab.lab.palette import BLUE, GREEN, INK, VERMILION
from pslab.train.distances import ALL

WORKERS, BANDWIDTH, LATENCY, ACCURACY = 4, "20Mbit", "2ms", 0.95


def measured(every: list[int], seeds: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Runs until the accuracy is reached, a row each; and what replicas are like at their first commit, a row per k."""
    lab = pslab.Lab()
    lab.cluster.start(ps=1, workers=WORKERS)
    lab.model("mlp", hidden=[64], learning_rate=0.1)
    lab.mode(update=pslab.Sync(), commit=pslab.Differences())
    try:
        apart = []
        for k in every:
            lab.mode(commit_every=k)
            lab.train(1, wait=True)
            lab.reset()
            lab.step(1)
            pairs = lab.divergence()
            overall = pairs[(pairs["parameter"] == ALL) & (pairs["second"] == "ps")]
            apart.append({"commit_every": k, "distance": overall["distance"].mean(), "gap": lab.merge_gap().gap})
        lab.cluster.link(BANDWIDTH, LATENCY)
        swept = lab.sweep({"commit_every": every}, accuracy=ACCURACY, seeds=seeds, seconds=120.0)
    finally:
        lab.cluster.stop()
    return swept.table, pandas.DataFrame(apart)


def figure(runs: pandas.DataFrame, apart: pandas.DataFrame) -> Figure:
    """Time, distance and gap over the steps between commits."""
    with rc_context(STYLE):
        picture = Figure(figsize=(11, 4), layout="constrained", dpi=100)
        time, distance, gap = picture.subplots(1, 3)
        time.plot(runs.groupby("commit_every")["seconds"].mean(), color=BLUE, marker="o")
        time.plot(runs["commit_every"], runs["seconds"], linestyle="none", marker="o", color=BLUE, alpha=0.3, markersize=4)
        time.set(title=f"Time to {ACCURACY:.0%}, link of {BANDWIDTH}/s", ylabel="seconds of training", yscale="log")
        distance.plot(apart["commit_every"], apart["distance"], color=VERMILION, marker="s")
        distance.set(title="Divergence at the first commit", ylabel="‖θ worker − θ ps‖ / ‖θ ps‖", ylim=(0, None))
        gap.plot(apart["commit_every"], apart["gap"], color=GREEN, marker="^")
        gap.axhline(0, color=INK, linewidth=1)
        gap.set(title="Merge gap, one start", ylabel="loss of the average − mean loss")
        for ax in (time, distance, gap):
            ax.set_xscale("log", base=2)
            ax.set_xlabel("steps between commits, k")
    return picture


def main() -> None:
    """Print the rows, and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, nargs="+", default=[1, 4, 16, 64, 256, 1024, 4096])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--figure", default="commits.png")
    options = parser.parse_args()
    runs, apart = measured(options.every, options.seeds)
    columns = ["commit_every", "seed", "seconds", "steps", "worker_steps", "bytes_pushed_per_step", "wait_share", "test_accuracy"]
    print(runs[[c for c in columns if c in runs]].to_string(index=False, float_format=lambda v: f"{v:.3g}"))
    print(apart.to_string(index=False, float_format=lambda v: f"{v:.3g}"))
    figure(runs, apart).savefig(options.figure)


if __name__ == "__main__":
    main()

"""What averaging replicas does to the loss: from one start or from starts of their own, for some numbers of replicas and of steps between commits.

python benchmarks/merge_gap.py [--steps 256 2048] [--replicas 2 4] [--path merge_gap.png]
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.lab.chart import STYLE, legend_below
from pslab.lab.palette import DASHES, INK, MARKERS, SERIES
from pslab.train.commits import Differences
from pslab.train.merge_gap import MergeGap
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync

Found = dict[tuple[bool, int, int], list[MergeGap]]


def first_merge(cluster: Cluster, own_start: bool, every: int, seed: int) -> MergeGap:
    """Local SGD's first commit: replicas that have gone their own way for ``every`` steps."""
    strategy = Strategy(update=Sync(), commit_every=every, commit=Differences(own_start=own_start))
    trainer = Trainer(cluster, digits(), Model(MLP(10, [128]), learning_rate=0.1, seed=seed), strategy, data_seed=seed)
    try:
        trainer.step(timeout=600)
        return trainer.merge_gap()
    finally:
        trainer.close()


def figure(found: Found) -> Figure:
    """The gap over the steps before the merge, each seed and their mean."""
    with rc_context(STYLE):
        picture = Figure(figsize=(9, 6), layout="constrained", dpi=100)
        ax = picture.subplots()
        for number, (own, replicas) in enumerate(dict.fromkeys((own, replicas) for own, replicas, _ in found)):
            steps = [every for o, r, every in found if (o, r) == (own, replicas)]
            gaps = [[merged.gap for merged in found[own, replicas, every]] for every in steps]
            style = {"color": SERIES[number], "linestyle": DASHES[number % 4], "marker": MARKERS[number]}
            ax.plot(steps, np.mean(gaps, axis=1), label=f"{replicas} replicas, {'own starts' if own else 'one start'}", **style)
            for i, step in enumerate(steps):
                ax.plot([step] * len(gaps[i]), gaps[i], linestyle="none", marker=MARKERS[number], color=SERIES[number], alpha=0.35, markersize=5)
        ax.axhline(0, color=INK, linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_title("Averaging replicas pays only within one basin")
        ax.set(xlabel="local steps before the merge", ylabel="test loss of the average − mean test loss")
        legend_below(ax)
    return picture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[64, 512, 2048])
    parser.add_argument("--replicas", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--path", default="merge_gap.png")
    options = parser.parse_args()
    found: Found = {}
    print(f"{'starts':<8}{'replicas':>8}{'steps':>8}{'mean loss':>12}{'average':>10}{'gap':>10}{'  of each seed'}")
    for replicas in options.replicas:
        with Cluster(ps=1, workers=replicas) as cluster:
            for own, every in product((False, True), options.steps):
                merges = [first_merge(cluster, own, every, seed) for seed in range(options.seeds)]
                found[own, replicas, every] = merges
                mean = np.mean([list(m.losses.values()) for m in merges])
                average, gap = np.mean([m.average for m in merges]), np.mean([m.gap for m in merges])
                each = "  " + " ".join(f"{m.gap:+.4f}" for m in merges)
                print(f"{'own' if own else 'one':<8}{replicas:>8}{every:>8}{mean:>12.4f}{average:>10.4f}{gap:>+10.4f}{each}", flush=True)
    figure(found).savefig(options.path)


if __name__ == "__main__":
    main()

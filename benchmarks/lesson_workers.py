"""What a synchronous step costs on slow links, by the number of workers: with 1, 2 and 4 parameter servers and in a ring, predicted and measured.

The servers share all weights evenly: these are in parts, and spread by their bytes.

python benchmarks/lesson_workers.py [--workers 1 2 4 8] [--ps 1 2 4] [--figure workers.png]
"""

from __future__ import annotations

import argparse
import os

import pandas
from matplotlib import rc_context
from matplotlib.figure import Figure

import pslab
from pslab.cluster import Cluster
from pslab.data.datasets import digits
from pslab.lab.chart import STYLE, legend_below
from pslab.lab.palette import MARKERS, SERIES
from pslab.runtime.transport.network import Network, parse_bandwidth, parse_time
from pslab.simulate.closed_forms import computing, ring_all_reduce
from pslab.simulate.cost import predict
from pslab.train.costing import measured_compute, measured_step, workload
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.placement import Placement
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer

BANDWIDTH, LATENCY, HIDDEN, STEPS = "100Mbit", "1ms", 512, 60


def row(workers: int, ps: int, ring: bool) -> dict[str, object]:
    """One training, measured and predicted."""
    network = Network(parse_bandwidth(BANDWIDTH), parse_time(LATENCY))
    with Cluster(ps, workers) as cluster:
        cluster.call_always("shape", network=network)
        strategy = Strategy(update=pslab.RingAllReduce() if ring else pslab.Sync())
        trainer = Trainer(cluster, digits(), Model(MLP(10, [HIDDEN], partitions=ps), placement=Placement.BY_BYTES), strategy, batch_size=32)
        trainer.step(5, timeout=120)
        seen = len(trainer.records())
        trainer.step(STEPS, timeout=300)
        records = trainer.records()[seen + workers :]
        size = sum(value.nbytes for value in trainer.parameters().values())
        if ring:
            compute = computing(max(measured_compute(records).values()), workers, os.cpu_count() or 1)
            predicted = compute + ring_all_reduce(size, workers, network.latency, network.bandwidth or float("inf"))
        else:
            predicted = predict(workload(trainer.job(), network, records, os.cpu_count())).step
        trainer.close()
    found = measured_step(records, 1)["wall"]
    return {"how": "ring" if ring else f"{ps} ps", "workers": workers, "predicted": predicted, "measured": found, "ratio": predicted / found}


def figure(table: pandas.DataFrame) -> Figure:
    """Seconds of a step over workers: measured with markers, predicted as lines."""
    with rc_context(STYLE):
        picture = Figure(figsize=(7.5, 5), layout="constrained", dpi=100)
        ax = picture.subplots()
        for number, (how, mine) in enumerate(table.groupby("how", sort=False)):
            ax.plot(mine["workers"], 1e3 * mine["predicted"], color=SERIES[number], linestyle="--")
            ax.plot(mine["workers"], 1e3 * mine["measured"], color=SERIES[number], linestyle="none", marker=MARKERS[number], label=how)
        ax.set(xlabel="workers", ylabel="milliseconds per step", ylim=(0, None))
        ax.set_title(f"A synchronous step, {BANDWIDTH}/s and {LATENCY}; dashes: predicted")
        ax.set_xticks(sorted(table["workers"].unique()))
        legend_below(ax)
    return picture


def main() -> None:
    """Print a row per training, and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--ps", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--figure", default="workers.png")
    options = parser.parse_args()
    rows = [row(workers, ps, False) for ps in options.ps for workers in options.workers]
    rows += [row(workers, 1, True) for workers in options.workers if workers > 1]
    table = pandas.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda v: f"{v:.3g}"))
    figure(table).savefig(options.figure)


if __name__ == "__main__":
    main()

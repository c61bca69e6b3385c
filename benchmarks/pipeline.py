"""Pipelines: the bubble measured beside theory, and bytes per step beside those of data parallelism.

python benchmarks/pipeline.py
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import pslab as tf
from pslab.cluster import Cluster
from pslab.data.datasets import Dataset
from pslab.train.camera import Timeline
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync

WORK_S = 0.02
"""Seconds that each stage takes for a microbatch."""


def works(x: Any) -> Any:
    time.sleep(WORK_S)
    return x


class Sleepers:
    """A model whose stages sleep on the way forward, each as long: nothing else takes any time."""

    def __init__(self, stages: int) -> None:
        self._stages = stages

    def __call__(self, x: Any, y: Any) -> tuple[Any, dict[str, Any]]:
        """Its loss; no metrics."""
        signal = x
        for stage in range(self._stages):
            with tf.device(f"/job:worker/task:{stage}"):
                w = tf.Variable(tf.ones([4, 4]) / 4.0, name=f"w{stage}")
                signal = tf.matmul(signal, w)
                slept = tf.reshape(tf.py_func(works, [signal], tf.float32), [-1, 4])
                signal = signal + 0.0 * tf.stop_gradient(slept)
        return tf.reduce_mean(tf.square(signal)), {}


def data(features: int, examples: int = 2048) -> Dataset:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(examples, features)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64)
    return Dataset("random", x, y, x[:10], y[:10])


def idle_between(timeline: Timeline, stages: int) -> float:
    """The mean share of time in which workers do not sleep, from the first sleep to the last."""
    spans = [s for worker in range(stages) for s in timeline.spans[f"worker:{worker}"] if s.type == "PyFunc"]
    window = max(s.began + s.duration for s in spans) - min(s.began for s in spans)
    return 1 - sum(s.duration for s in spans) / stages / window


def bubbles() -> None:
    """A line per number of stages and microbatches. The tasks are threads of one process here: sleepers do not need cores."""
    print("stages  microbatches  bubble measured  in theory")
    for stages in (2, 4):
        with Cluster(ps=1, workers=stages, processes=False) as cluster:
            for microbatches in (1, 2, 4, 8, 16):
                strategy = Strategy(Replication.IN_GRAPH, Pipeline(microbatches))
                trainer = Trainer(cluster, data(4), Model(Sleepers(stages), learning_rate=1e-3), strategy, batch_size=32)
                measured = idle_between(trainer.timeline(), stages)
                trainer.close()
                print(f"{stages:6}  {microbatches:12}  {measured:15.1%}  {Pipeline(microbatches).bubble(stages):9.1%}")


def parameters(widths: Sequence[int]) -> int:
    """Bytes of the parameters of an MLP of these widths, its input's first."""
    return sum((before + 1) * after * 4 for before, after in itertools.pairwise(widths))


def predicted(widths: Sequence[int], batch: int, workers: int) -> dict[str, float]:
    """Bytes that are sent in one step, by all workers and the ps together.

    Args:
        widths: of the layers, the input's first and the classes' last; as many layers on each worker.
        batch: examples per step, on all workers together.
        workers: how many.
    """
    layers = len(widths) - 1
    cuts = [widths[next(k for k in range(layers) if k * workers // layers == stage)] for stage in range(1, workers)]
    model = parameters(widths)
    return {"sync": 2 * workers * model, "ring": 2 * (workers - 1) * model, "pipeline": sum(2 * batch * width * 4 for width in cuts)}


def measured(widths: Sequence[int], batch: int, workers: int) -> dict[str, float]:
    """The same at the transport, headers included: the median over some steps."""
    modes: Mapping[str, Strategy] = {
        "sync": Strategy(update=Sync()),
        "ring": Strategy(update=RingAllReduce()),
        "pipeline": Strategy(Replication.IN_GRAPH, Pipeline(4)),
    }
    found = {}
    with Cluster(ps=1, workers=workers, processes=False) as cluster:
        for name, strategy in modes.items():
            model = Model(MLP(widths[-1], widths[1:-1], stages=workers), learning_rate=1e-3)
            trainer = Trainer(cluster, data(widths[0]), model, strategy, batch_size=batch // workers)
            trainer.train(6)
            trainer.wait()
            records = trainer.records()
            trainer.close()
            usual = records[~records["observed"]]
            sent = usual["bytes_pushed"] + (usual["bytes_pulled"] if name == "sync" else 0)  # what the ps send is what their workers receive
            found[name] = float(sum(np.median(sent[usual["worker"] == worker]) for worker in range(workers)))
    return found


def comparison() -> None:
    """A line per model and batch: which mode sends least. Parameters decide for data parallelism, width times batch for the pipeline."""
    print("\nbytes on the wire per step, 2 workers and a ps (predicted / measured)")
    print(f"{'model':>20}  {'batch':>5}  {'sync':>23}  {'ring':>23}  {'pipeline':>23}  least")
    for widths in ((64, 1024, 1024, 10), (64, 128, 128, 10)):
        for batch in (32, 1024):
            theory, found = predicted(widths, batch, 2), measured(widths, batch, 2)
            cells = "  ".join(f"{theory[mode] / 1e3:9,.1f} / {found[mode] / 1e3:8,.1f} kB" for mode in theory)
            print(f"{'-'.join(map(str, widths)):>20}  {batch:5}  {cells}  {min(found, key=found.__getitem__)}")


def main() -> None:
    """Print both tables."""
    bubbles()
    comparison()


if __name__ == "__main__":
    main()

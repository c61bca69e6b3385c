"""How near the estimate of a step's memory comes to what is measured: ``python benchmarks/memory.py``.

Each case trains in a process of its own. After a step that warms up, tracemalloc (which NumPy tells of its arrays) takes the peak of one more step above what
was there before; the variables and the fed arrays, which were, are added. What Python takes for itself is in the measurement, and not in the estimate.
"""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import tracemalloc

import numpy as np

import pslab as tf
from pslab.graph.memory import step_memory
from pslab.graph.operation import Operation
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place

CASES = {
    "MLP 64-128-10": (32, 256, 2048, 16384),
    "MLP 64-1024-1024-10": (32, 256, 2048, 8192),
    "CNN 28x28, 8 and 16 filters": (8, 32, 128, 512),
}


def dense(x: tf.Tensor, inputs: int, outputs: int) -> tf.Tensor:
    w = tf.Variable(tf.truncated_normal([inputs, outputs], stddev=0.1, seed=1))
    return tf.matmul(x, w) + tf.Variable(tf.zeros([outputs]))


def mlp(*widths: int) -> tuple[tf.Tensor, tf.Tensor]:
    x = h = tf.placeholder(tf.float32, [None, widths[0]])
    for inputs, outputs in itertools.pairwise(widths):
        h = dense(h, inputs, outputs) if outputs == widths[-1] else tf.nn.relu(dense(h, inputs, outputs))
    return x, h


def cnn() -> tuple[tf.Tensor, tf.Tensor]:
    x = h = tf.placeholder(tf.float32, [None, 28, 28, 1])
    for inputs, outputs in ((1, 8), (8, 16)):
        filters = tf.Variable(tf.truncated_normal([5, 5, inputs, outputs], stddev=0.1, seed=1))
        h = tf.nn.relu(tf.nn.conv2d(h, filters, [1, 1, 1, 1], "SAME") + tf.Variable(tf.zeros([outputs])))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return x, dense(tf.reshape(h, [-1, 7 * 7 * 16]), 7 * 7 * 16, 10)


def ratio(case: str, batch: int, optimizer: str) -> tuple[int, int]:
    """The estimate and the measurement, in bytes."""
    x, logits = cnn() if case.startswith("CNN") else mlp(*map(int, case.split()[1].split("-")))
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    rule = tf.train.AdamOptimizer(0.01) if optimizer == "Adam" else tf.train.GradientDescentOptimizer(0.01)
    fetches = [rule.minimize(loss), loss]
    feeds = [x, labels]
    needed = prune([f if isinstance(f, Operation) else f.op for f in fetches], feeds)
    placed = place(needed, master="localhost:0", tasks=["localhost:0"], devices=lambda _: ("CPU:0",))
    plan = partition(needed, placed, master="localhost:0", fetches=[loss], feeds=feeds)
    estimate = step_memory(plan, tf.get_default_graph(), feeds, batch)["localhost:0"]
    values = [np.zeros((batch, *x.shape.as_list()[1:]), np.float32), np.zeros(batch, np.int32)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        step = session.make_callable(fetches, feeds)
        step(*values)
        gc.collect()
        tracemalloc.start()
        step(*values)
        gc.collect()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        step(*values)
        _, peak = tracemalloc.get_traced_memory()
        variables = sum(value.nbytes for value in session.run(tf.global_variables()))
    return estimate.total, peak - before + variables + sum(v.nbytes for v in values)


def main() -> None:
    for case, batches in CASES.items():
        for optimizer in ("SGD", "Adam"):
            for batch in batches:
                command = [sys.executable, __file__, case, str(batch), optimizer]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                estimate, measured = map(int, done.stdout.split())
                print(
                    f"{case:28} {optimizer:5} batch {batch:6}  estimate {estimate / 1e6:8.2f} MB  measured {measured / 1e6:8.2f} MB  "
                    f"ratio {estimate / measured:.2f}"
                )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*ratio(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
    else:
        main()

"""One process: `Session.run(train_op)` of two MLPs against the same training written by hand in NumPy, in one run.

    python benchmarks/one_process.py

The rates are training steps per second on one thread each; the ratio is what counts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

import pslab as tf
from pslab.data.datasets import digits

BATCH = 64
MODELS = {"64-128-10": ([128], 2000, 0.6), "64-1024-1024-10": ([1024, 1024], 60, 0.9)}


class HandWritten:
    """An MLP with ReLU and softmax cross-entropy, trained by plain gradient descent, as one would write it."""

    def __init__(self, hidden: list[int], rate: float = 0.05) -> None:
        rng = np.random.default_rng(0)
        widths = [64, *hidden, 10]
        self.weights = [rng.normal(0, np.sqrt(2 / i), (i, o)).astype(np.float32) for i, o in pairwise(widths)]
        self.biases = [np.zeros(o, np.float32) for o in widths[1:]]
        self.rate = np.float32(rate)

    def step(self, x: np.ndarray, y: np.ndarray) -> np.float32:
        """One update; returns the loss."""
        signals = [x]
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            signals.append(np.maximum(signals[-1] @ w + b, 0))
        logits = signals[-1] @ self.weights[-1] + self.biases[-1]
        logits -= logits.max(axis=1, keepdims=True)
        exponentials = np.exp(logits)
        totals = exponentials.sum(axis=1, keepdims=True)
        rows = np.arange(len(y))
        loss = (np.log(totals[:, 0]) - logits[rows, y]).mean()
        delta = exponentials / totals
        delta[rows, y] -= 1
        delta /= len(y)
        for layer in reversed(range(len(self.weights))):
            grad_w, grad_b = signals[layer].T @ delta, delta.sum(axis=0)
            if layer:
                delta = (delta @ self.weights[layer].T) * (signals[layer] > 0)
            self.weights[layer] -= self.rate * grad_w
            self.biases[layer] -= self.rate * grad_b
        return loss


def pslab_step(hidden: list[int]) -> Callable[[np.ndarray, np.ndarray], np.float32]:
    """The same in pslab: a function that runs the train op and fetches the loss."""
    from pslab.train.models import MLP

    graph = tf.Graph()
    with graph.as_default():
        x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])
        loss, _ = MLP(10, hidden)(x, y)
        train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
    return lambda xs, ys: session.run([train_op, loss], {x: xs, y: ys})[1]


def rate(step: Callable[[np.ndarray, np.ndarray], object], x: np.ndarray, y: np.ndarray, steps: int) -> float:
    """Steps per second."""
    starts = np.random.default_rng(0).integers(0, len(x) - BATCH, steps)
    began = perf_counter()
    for start in starts:
        step(x[start : start + BATCH], y[start : start + BATCH])
    return steps / (perf_counter() - began)


def main() -> None:
    """Print a line per model: both rates, the median ratio over rounds, and the target."""
    data = digits()
    x, y = data.x_train, data.y_train
    for name, (hidden, steps, target) in MODELS.items():
        by_hand, ours = HandWritten(hidden).step, pslab_step(hidden)
        rate(by_hand, x, y, steps // 10), rate(ours, x, y, steps // 10)
        rounds = [(rate(by_hand, x, y, steps), rate(ours, x, y, steps)) for _ in range(7)]
        ratio = float(np.median([b / a for a, b in rounds]))
        numpy_rate, our_rate = np.median(rounds, axis=0)
        print(f"{name:16} NumPy {numpy_rate:7.0f}/s  Session.run {our_rate:7.0f}/s  ratio {ratio:.2f}  (target {target})")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()

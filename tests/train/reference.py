"""The same training, written by hand in NumPy: an MLP with one hidden layer, softmax cross-entropy, and three optimizers by their papers' formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Parameters = dict[str, np.ndarray[Any, Any]]
NAMES = ("hidden_0/weights", "hidden_0/biases", "logits/weights", "logits/biases")


def loss_and_gradients(parameters: Parameters, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> tuple[float, Parameters]:
    """Mean softmax cross-entropy of a batch, and its gradient by hand."""
    w1, b1, w2, b2 = (parameters[n] for n in NAMES)
    hidden = np.maximum(x @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    shifted = logits - logits.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = -np.log(probabilities[rows, y]).mean()
    delta = probabilities.copy()
    delta[rows, y] -= 1
    delta /= len(y)
    back = (delta @ w2.T) * (hidden > 0)
    return float(loss), dict(zip(NAMES, (x.T @ back, back.sum(axis=0), hidden.T @ delta, delta.sum(axis=0)), strict=True))


def sgd(rate: float) -> Callable[[Parameters, Parameters], Parameters]:
    """W ← w − η g."""
    return lambda w, g: {n: w[n] - w[n].dtype.type(rate) * g[n] for n in w}


def momentum(rate: float, factor: float = 0.9) -> Callable[[Parameters, Parameters], Parameters]:
    """V ← μ v + g; w ← w − η v."""
    velocity: Parameters = {}

    def update(w: Parameters, g: Parameters) -> Parameters:
        for n in w:
            velocity[n] = w[n].dtype.type(factor) * velocity.get(n, np.zeros_like(w[n])) + g[n]
        return {n: w[n] - w[n].dtype.type(rate) * velocity[n] for n in w}

    return update


def adam(rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8) -> Callable[[Parameters, Parameters], Parameters]:
    """Kingma and Ba's Adam, in the form "just before section 2.1" that TensorFlow has."""
    m: Parameters = {}
    v: Parameters = {}
    step = 0

    def update(w: Parameters, g: Parameters) -> Parameters:
        nonlocal step
        step += 1
        scaled = rate * np.sqrt(1 - beta2**step) / (1 - beta1**step)
        new = {}
        for n in w:
            m[n] = beta1 * m.get(n, np.zeros_like(w[n])) + (1 - beta1) * g[n]
            v[n] = beta2 * v.get(n, np.zeros_like(w[n])) + (1 - beta2) * g[n] ** 2
            new[n] = (w[n] - scaled * m[n] / (np.sqrt(v[n]) + epsilon)).astype(w[n].dtype)
        return new

    return update


def train(
    parameters: Parameters, batches: Iterator[tuple[Any, Any]], update: Callable[[Parameters, Parameters], Parameters], steps: int
) -> tuple[Parameters, list[float]]:
    """The parameters after so many steps, and the losses on the way."""
    losses = []
    for _ in range(steps):
        loss, gradients = loss_and_gradients(parameters, *next(batches))
        losses.append(loss)
        parameters = update(parameters, gradients)
    return parameters, losses

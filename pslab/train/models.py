"""Ready-made models, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pslab.errors import UsageError
from pslab.graph.dtypes import float32
from pslab.graph.ops.activations import relu
from pslab.graph.ops.arrays import cast, zeros
from pslab.graph.ops.compare import equal
from pslab.graph.ops.joining import concat
from pslab.graph.ops.losses import sparse_softmax_cross_entropy_with_logits
from pslab.graph.ops.math import add
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.random import truncated_normal
from pslab.graph.ops.reduce import argmax, reduce_mean
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable


class MLP:
    """A classifier: fully connected layers with ReLU between them, softmax cross-entropy at the end.

    Args:
        classes: number of classes.
        hidden: widths of the hidden layers; none makes it multinomial logistic regression.
        stages: how many workers a pipeline spreads the layers over, as many next to each other on each as can be. Other modes do not go by it.
        partitions: how many variables the weights of a layer are, by rows, so that several ps can share them; one per row at most.

    Raises:
        UsageError: a number is less than 1 (or ``classes`` less than 2), or there are more stages than layers.
    """

    def __init__(self, classes: int, hidden: Sequence[int] = (128,), stages: int = 1, partitions: int = 1) -> None:
        if classes < 2:
            raise UsageError(f"a classifier needs at least 2 classes, found {classes}")
        if any(width < 1 for width in hidden):
            raise UsageError(f"a hidden layer needs at least 1 unit, found {list(hidden)}")
        if not 1 <= stages <= len(hidden) + 1:
            raise UsageError(f"{len(hidden) + 1} layers make 1 to {len(hidden) + 1} stages, found {stages}", "one more hidden layer makes one more")
        self._widths = (*hidden, classes)
        if partitions < 1:
            raise UsageError(f"weights are at least 1 variable, found partitions={partitions}")
        self._stages = stages
        self._partitions = partitions

    def __call__(self, x: Tensor, y: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The loss, the accuracy and the predicted classes for examples ``x`` (batch, features) with labels ``y`` (batch)."""
        signal = x
        width = x.shape[-1]
        for number, units in enumerate(self._widths):
            last = number == len(self._widths) - 1
            stage = f"/job:worker/task:{number * self._stages // len(self._widths)}" if self._stages > 1 else ""
            with x.graph.name_scope("logits" if last else f"hidden_{number}"), x.graph.device(stage):
                weights = self._weights(truncated_normal([width, units], stddev=math.sqrt(2 / width), dtype=x.dtype, seed=number), width)
                biases = Variable(zeros([units], x.dtype), name="biases")
                signal = add(matmul(signal, weights), biases)
                signal = signal if last else relu(signal)
            width = units
        loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels=y, logits=signal))
        prediction = argmax(signal, 1)
        accuracy = reduce_mean(cast(equal(prediction, y), float32))
        return loss, {"accuracy": accuracy, "prediction": prediction}

    def _weights(self, initial: Tensor, rows: int) -> Tensor:
        """Variables of so many rows together, with these initial values however many there are."""
        parts = min(self._partitions, rows)
        if parts == 1:
            return Variable(initial, name="weights").value()
        ends = [rows * part // parts for part in range(parts + 1)]
        return concat([Variable(initial[begin:end], name=f"weights/part_{i}") for i, (begin, end) in enumerate(pairwise(ends))], 0)


def logistic(classes: int, partitions: int = 1) -> MLP:
    """Multinomial logistic regression."""
    return MLP(classes, (), partitions=partitions)


NAMES = ("mlp", "logistic")
"""Names of the ready-made models."""


def by_name(name: str, classes: int | None, hidden: Sequence[int] = (128,), stages: int = 1, partitions: int = 1) -> MLP:
    """The ready-made model of this name.

    Args:
        name: one of `NAMES`.
        classes: number of classes of the data.
        hidden: widths of the hidden layers of ``"mlp"``.
        stages: as of `MLP`.
        partitions: as of `MLP`.

    Raises:
        UsageError: there is no such model, or the data has no classes.
    """
    if name not in NAMES:
        raise UsageError(f"there is no model {name!r}; there is {', '.join(NAMES)}", "or give a function (x, y) -> (loss, metrics)")
    if classes is None:
        raise UsageError(f"model {name!r} is a classifier, but the targets are numbers, not labels", "give a function (x, y) -> (loss, metrics)")
    return MLP(classes, hidden, stages, partitions) if name == "mlp" else logistic(classes, partitions)

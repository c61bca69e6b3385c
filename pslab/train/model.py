"""A model to train: a function that builds its graph, and the optimizer that trains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pslab.errors import UsageError
from pslab.graph.graph import Graph
from pslab.graph.ops.random import set_random_seed
from pslab.graph.tensor import Tensor
from pslab.graph.variables import trainable_variables
from pslab.optim.optimizer import (
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    RMSPropOptimizer,
)
from pslab.trace.records import step_dtype
from pslab.train.placement import Placement
from pslab.train.reading import Source, fed
from pslab.train.updates import choice

Build = Callable[[Tensor, Tensor], tuple[Tensor, Mapping[str, Tensor]]]

_OPTIMIZERS: dict[str, Callable[[float], Optimizer]] = {
    "sgd": GradientDescentOptimizer,
    "momentum": lambda learning_rate: MomentumOptimizer(learning_rate, 0.9),
    "adagrad": AdagradOptimizer,
    "rmsprop": RMSPropOptimizer,
    "adam": AdamOptimizer,
}
OPTIMIZERS = tuple(_OPTIMIZERS)
"""Names of the optimizers that a `Model` may have."""


@dataclass(frozen=True)
class Features:
    """What a batch of examples looks like, without the batch's own dimension.

    Attributes:
        x_shape: shape of one example.
        x_dtype: NumPy name of its dtype.
        y_shape: shape of one label.
        y_dtype: NumPy name of its dtype.
    """

    x_shape: tuple[int, ...]
    x_dtype: str
    y_shape: tuple[int, ...]
    y_dtype: str

    @classmethod
    def of(cls, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Features:
        """The features of arrays of examples and labels."""
        return cls(x.shape[1:], x.dtype.name, y.shape[1:], y.dtype.name)


@dataclass(frozen=True)
class Model:
    """What is trained.

    Attributes:
        build: ``(x, y) -> (loss, {"accuracy": tensor, …})``, with ``x`` and ``y`` placeholders of a batch. A tensor of rank 0 in the dict is a
            metric; one with a batch dimension is an output, which `Trainer.predict` returns.
        name: what to call it.
        optimizer: one of `OPTIMIZERS`, or a function without arguments that makes an `Optimizer`.
        learning_rate: for an optimizer given by name.
        seed: graph-level random seed, from which the initial parameters follow.
        placement: how its variables are spread over the ps tasks.
    """

    build: Build
    name: str = "model"
    optimizer: str | Callable[[], Optimizer] = "sgd"
    learning_rate: float = 0.1
    seed: int = 0
    placement: Placement = Placement.IN_TURN

    def __post_init__(self) -> None:
        if not callable(self.build):
            raise UsageError(f"a model is a function (x, y) -> (loss, metrics), not {type(self.build).__name__}: {self.build!r}")
        if not callable(self.optimizer) and self.optimizer not in _OPTIMIZERS:
            raise UsageError(f"there is no optimizer {self.optimizer!r}; there is {', '.join(OPTIMIZERS)}")
        if not self.learning_rate > 0:
            raise UsageError(f"the learning rate must be positive, found {self.learning_rate!r}")
        object.__setattr__(self, "placement", choice(Placement, self.placement, "placement"))

    def with_rate(self, learning_rate: float) -> Model:
        """The same with another learning rate.

        Raises:
            UsageError: it is not positive, or the optimizer was made by a function, which alone knows its rate.
        """
        if callable(self.optimizer):
            raise UsageError(f"the optimizer of model {self.name!r} was made by a function, which alone knows its rate", "give the optimizer by name")
        return replace(self, learning_rate=learning_rate)

    def make_optimizer(self) -> Optimizer:
        """A new optimizer, for the graph that is being built."""
        if callable(self.optimizer):
            return self.optimizer()
        return _OPTIMIZERS[self.optimizer](self.learning_rate)


@dataclass(frozen=True)
class Tower:
    """A model that was built into a graph.

    Attributes:
        source: where its batches come from.
        loss: scalar.
        metrics: scalars by name.
        outputs: tensors with a batch dimension, by name.
    """

    source: Source
    loss: Tensor
    metrics: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]

    @property
    def x(self) -> Tensor:
        """A batch of examples."""
        return self.source.x

    @property
    def y(self) -> Tensor:
        """Their labels."""
        return self.source.y


def build_tower(model: Model, source: Source) -> Tower:
    """Build ``model`` into the default graph, on the batches of ``source``.

    Raises:
        UsageError: the model's function does not return what it should.
    """
    loss, named = _checked(model, model.build(source.x, source.y))
    metrics = {name: t for name, t in named.items() if t.shape.ndims == 0}
    return Tower(source, loss, metrics, {name: t for name, t in named.items() if name not in metrics})


def try_out(model: Model, features: Features) -> Tower:
    """Build ``model`` into a graph of its own, to see whether it can be built and trained.

    Raises:
        UsageError: the function does not return what it should, or there is nothing to train.
    """
    graph = Graph()
    with graph.as_default():
        set_random_seed(model.seed)
        tower = build_tower(model, fed(features))
        if not trainable_variables():
            raise UsageError(f"model {model.name!r} has no variables to train", "make them with pslab.Variable(initial_value)")
        model.make_optimizer().minimize(tower.loss)
    return tower


def _checked(model: Model, returned: Any) -> tuple[Tensor, Mapping[str, Tensor]]:
    how = "return loss, {'accuracy': accuracy}"
    if isinstance(returned, Tensor):
        returned = (returned, {})
    if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[0], Tensor)):
        found = "nothing" if returned is None else f"{type(returned).__name__} {returned!r}"
        raise UsageError(f"model {model.name!r} returned {found}, not a loss tensor and a dict of metrics", how)
    loss, metrics = returned
    if loss.shape.ndims not in (None, 0) or not loss.dtype.is_floating:
        raise UsageError(
            f"the loss of model {model.name!r} is {loss.dtype.name} of shape {loss.shape}, not a floating scalar", "use pslab.reduce_mean"
        )
    if not isinstance(metrics, Mapping) or not all(isinstance(n, str) and isinstance(t, Tensor) for n, t in metrics.items()):
        raise UsageError(f"the metrics of model {model.name!r} are {metrics!r}, not a dict from names to tensors", how)
    for name in metrics:
        if name in (step_dtype().names or ()):
            raise UsageError(f"a metric of model {model.name!r} is called {name!r}, which every record has already", "give it another name")
        if not name.isidentifier():
            raise UsageError(f"{name!r} is no name for a metric of model {model.name!r}", "use a word, such as 'accuracy'")
    return loss, metrics

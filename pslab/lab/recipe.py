"""What is said of a model before there is data to build it for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pslab.data.partitions import DataSource
from pslab.errors import UsageError
from pslab.train.model import Build, Features, Model, try_out
from pslab.train.models import by_name
from pslab.train.placement import Placement
from pslab.train.updates import choice


@dataclass(frozen=True)
class Recipe:
    """A model that is wanted, for whatever data.

    Attributes:
        source: the name of a ready-made model, or a function ``(x, y) -> (loss, metrics)``.
        hidden: widths of an MLP's hidden layers.
        stages: over how many workers a pipeline spreads its layers.
        partitions: how many variables the weights of each of its layers are.
        placement: as of `Model`.
        optimizer: as of `Model`.
        learning_rate: as of `Model`.
        seed: as of `Model`.
    """

    source: str | Build = "mlp"
    hidden: tuple[int, ...] = (128,)
    stages: int = 1
    partitions: int = 1
    placement: Placement = Placement.IN_TURN
    optimizer: str | Callable[[], Any] = "sgd"
    learning_rate: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        widths = (self.hidden,) if isinstance(self.hidden, int) else tuple(self.hidden)
        if not all(isinstance(width, int) for width in widths):
            raise UsageError(f"the widths of hidden layers are whole numbers, found {self.hidden!r}")
        object.__setattr__(self, "hidden", widths)
        object.__setattr__(self, "placement", choice(Placement, self.placement, "placement"))

    @property
    def name(self) -> str:
        """What to call the model."""
        return self.source if isinstance(self.source, str) else getattr(self.source, "__name__", "model")

    def model(self, dataset: DataSource) -> Model:
        """The model, tried out on the features of the data.

        Raises:
            UsageError: there is no such model, or it cannot be built or trained on the data.
        """
        build = by_name(self.source, dataset.classes, self.hidden, self.stages, self.partitions) if isinstance(self.source, str) else self.source
        model = Model(build, self.name, self.optimizer, self.learning_rate, self.seed, self.placement)
        try_out(model, Features.of(*dataset.sample))
        return model

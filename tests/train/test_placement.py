"""Variables spread over parameter servers: in turn or by bytes, whole or in parts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pslab.errors import UsageError
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.placement import Placement
from pslab.train.plans import sketch
from pslab.train.replica import build_replica
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Sync
from tests.train.tasks import LocalTasks
from tests.train.test_values import data


def bytes_per_ps(model: Model, ps: int) -> list[int]:
    found: Counter[str] = Counter()
    for variable in build_replica(sketch(model, data("float32"), Strategy(), ps, 1), 0).variables:
        found[variable.device] += variable.shape.num_elements() * variable.dtype.size
    return [found[f"/job:ps/task:{i}"] for i in range(ps)]


def test_in_turn_all_weights_may_come_to_one_ps_and_by_bytes_they_do_not() -> None:
    weights, biases = (6 * 10 + 10 * 3) * 4, (10 + 3) * 4
    assert bytes_per_ps(Model(MLP(3, [10])), 2) == [weights, biases]
    by_bytes = bytes_per_ps(Model(MLP(3, [10]), placement=Placement.BY_BYTES), 2)
    assert sum(by_bytes) == weights + biases
    assert by_bytes == [6 * 10 * 4, (10 + 10 * 3 + 3) * 4]


def test_in_parts_they_are_spread_evenly() -> None:
    found = bytes_per_ps(Model(MLP(3, [60]), placement="by-bytes"), 3)
    parts = bytes_per_ps(Model(MLP(3, [60], partitions=3), placement="by-bytes"), 3)
    assert sum(found) == sum(parts)
    assert max(parts) - min(parts) < (max(found) - min(found)) / 4


@pytest.mark.parametrize(("ps", "partitions", "placement"), [(2, 1, "by-bytes"), (2, 2, "in-turn"), (3, 4, "by-bytes"), (1, 100, "by-bytes")])
def test_however_they_lie_training_computes_the_same(ps, partitions, placement) -> None:
    whole = after_training(Model(MLP(3, [10]), seed=7), 1)
    parts = after_training(Model(MLP(3, [10], partitions=partitions), seed=7, placement=placement), ps)
    for layer in ("hidden_0", "logits"):
        pieces = sorted((n for n in parts if n.startswith(f"{layer}/weights")), key=lambda n: int(n.rpartition("_")[2]) if "part" in n else 0)
        assert len(pieces) == min(partitions, len(whole[f"{layer}/weights"]))
        np.testing.assert_allclose(np.concatenate([parts[n] for n in pieces]), whole[f"{layer}/weights"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(parts[f"{layer}/biases"], whole[f"{layer}/biases"], rtol=0, atol=1e-12)


def after_training(model: Model, ps: int) -> dict[str, np.ndarray]:
    with LocalTasks(ps, 2) as tasks:
        trainer = Trainer(tasks, data("float64"), model, Strategy(update=Sync()), 8)
        trainer.train(30)
        assert trainer.wait(timeout=60).state == "done"
        parameters = trainer.parameters()
        trainer.close()
    return parameters


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="found partitions=0"):
        MLP(3, partitions=0)
    with pytest.raises(UsageError, match="placement must be in-turn or by-bytes, found 'random'"):
        Model(MLP(3), placement="random")

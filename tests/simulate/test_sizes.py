"""Bytes that are told from a plan, against the messages themselves."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.data.datasets import load
from pslab.runtime.transport import Kind, Message, wire
from pslab.simulate.sizes import Sizes
from pslab.train.model import Model
from pslab.train.models import by_name
from pslab.train.plans import mode_plan, sketch
from pslab.train.strategy import Strategy

DATA = load("digits")


@pytest.mark.parametrize("hidden", [[], [16], [512], [64, 64, 64]])
def test_a_cut_has_the_bytes_of_its_message(hidden: list[int]) -> None:
    plan = mode_plan(sketch(Model(by_name("mlp", DATA.classes, hidden), "mlp"), DATA, Strategy(), 1, 1))
    (cut,) = plan.cuts
    nodes = {n.name: n for part in plan.partitions.values() for stage in part.stages for n in stage.nodes}
    described = [nodes[t.partition(":")[0]].outputs[0] for t in cut.tensors]
    arrays = tuple(np.zeros(shape or (), dtype) for dtype, shape in described)
    _, size = wire.encode(Message(Kind.TENSORS, arrays=arrays))
    assert Sizes(plan, 1, {}).cut(cut) == pytest.approx(size, abs=4 * len(arrays) + 8)


def test_what_was_measured_counts() -> None:
    plan = mode_plan(sketch(Model(by_name("mlp", DATA.classes, [16]), "mlp"), DATA, Strategy(), 1, 1))
    (cut,) = plan.cuts
    more = Sizes(plan, 1, {cut.tensors[0]: 64e6}).cut(cut)
    assert more - Sizes(plan, 1, {cut.tensors[0]: 0.0}).cut(cut) == 64e6

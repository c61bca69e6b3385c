"""The gate of a task: the order that it is given is the order in which arrivals come in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.sync.gate import Gate


@given(st.lists(st.integers(0, 3), max_size=30), st.randoms())
def test_whatever_order_they_arrive_in_they_come_in_as_admitted(order, random) -> None:
    gate, came = Gate(), []
    gate.admit(order)
    while len(came) < len(order):
        worker = random.randrange(4)
        if gate.arrive(worker):
            assert not any(gate.arrive(other) for other in range(4))
            gate.leave(worker)
            came.append(worker)
    assert came == order
    assert gate.passed == len(order)
    assert gate.left == 0


def test_an_open_gate_lets_in_by_arrival_and_one_at_a_time() -> None:
    gate = Gate()
    assert not gate.arrive(1, "commit")
    assert not gate.arrive(0, "commit")
    assert list(gate.waiting.items()) == [(1, "commit"), (0, "commit")]
    gate.open()
    assert not gate.arrive(0)
    assert gate.arrive(1)
    with pytest.raises(ValueError, match="worker 0 leaves"):
        gate.leave(0)
    gate.leave(1)
    assert gate.arrive(0)

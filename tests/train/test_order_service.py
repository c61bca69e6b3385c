"""What a task is told of orders: an epoch's end lets go what waits in that epoch, and nothing that another has left behind."""

from __future__ import annotations

from pslab.sync.gate_ops import gate_of
from pslab.train.epoch_names import resources_of
from tests.train.tasks import LocalTasks


def test_the_end_of_an_epoch_opens_its_own_gates_only():
    with LocalTasks(1, 1) as tasks:
        service = tasks.services["ps:0"]
        state = service._server.task
        abandoned, ended = (gate_of(state, resources_of(epoch_id)) for epoch_id in ("of a training.1", "of a training.2"))
        assert not abandoned.arrive(0, "commit")
        assert not ended.arrive(0, "commit")
        service.let_go("of a training.2")
        assert ended.arrive(0, "commit")
        assert not abandoned.arrive(0, "commit")  # nobody wants it any more: it would be one update too many

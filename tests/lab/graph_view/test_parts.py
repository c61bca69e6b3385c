"""What is drawn is what the plans have: each op once, each message with its bytes."""

from __future__ import annotations

import pytest

from pslab.lab.graph_view.parts import Flow, Kind, own_name
from tests.lab.graph_view.graphs import MODES, parts, steps


@pytest.mark.parametrize("mode", MODES)
def test_each_op_of_a_task_is_there_once_but_for_constants(mode) -> None:
    found = parts(mode)
    ops = [(part.task, part.name) for part in found.parts if part.kind in (Kind.OP, Kind.STATE)]
    planned = {
        (task, node.name)
        for step in steps(mode)
        for task, part in step.plan.partitions.items()
        for stage in part.stages
        for node in (*stage.nodes, *stage.waits)
        if node.type != "Const" or any(fetch.startswith(f"{node.name}:") for fetch in part.fetches)
    }
    assert len(ops) == len(set(ops))
    assert set(ops) == planned


@pytest.mark.parametrize("mode", MODES)
def test_each_cut_is_a_message_and_so_is_each_answer(mode) -> None:
    found = [wire for wire in parts(mode).wires if wire.flow is Flow.MESSAGE]
    ends = {(wire.source.task, wire.target.task) for wire in found}
    for step in steps(mode):
        assert {(cut.source, cut.destination) for cut in step.plan.cuts} <= ends
        assert {(p.task, step.plan.master) for p in step.plan.partitions.values() if p.fetches and p.task != step.plan.master} <= ends
    assert all(wire.source.kind is Kind.SEND and wire.target.kind is Kind.RECEIVE for wire in found)


def test_a_message_has_the_bytes_of_its_tensors_and_of_what_was_measured() -> None:
    gradients = 4 * (64 * 32 + 32 + 32 * 10 + 10)
    (push,) = [wire for wire in parts("async").wires if wire.flow is Flow.MESSAGE and wire.source.task == "worker:1"]
    assert gradients <= push.bytes <= gradients + 200
    assert push.loops == {1}
    from pslab.lab.graph_view.parts import Parts

    measured = Parts.of(steps("async"), 64, dict.fromkeys(push.tensors, 1000.0))
    (weighed,) = [wire for wire in measured.wires if wire.flow is Flow.MESSAGE and wire.source.task == "worker:1"]
    assert 4000 <= weighed.bytes <= 4200


def test_gradients_that_are_gathered_go_to_who_takes_them_by_way_of_state() -> None:
    through = {(wire.source.node.type, wire.target.node.type) for wire in parts("sync").wires if wire.flow is Flow.STATE}
    assert through == {("AccumulatorApplyGradient", "QuorumTake"), ("AssignAdd", "StepAfter")}
    ring = {(wire.source.task, wire.target.task) for wire in parts("ring").wires if wire.flow is Flow.STATE}
    assert ring >= {("worker:0", "worker:0"), ("worker:1", "worker:1")}


def test_replicas_have_one_name() -> None:
    assert own_name("tower_1/hidden_0/MatMul") == own_name("own_a.0/hidden_0/MatMul") == "hidden_0/MatMul"
    assert own_name("tower_1/own_ab.2/x") == "x"

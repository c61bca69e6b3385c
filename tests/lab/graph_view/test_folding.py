"""Folding loses nothing: every part is in one node, and what flows between two nodes is what flows between their parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.lab.graph_view.folding import Scopes
from tests.lab.graph_view.graphs import MODES, parts

SYNC = parts("sync")
ALL = Scopes(SYNC)


@given(st.sets(st.sampled_from(sorted(ALL.all))))
def test_whatever_is_open_each_part_is_in_one_node_and_no_wire_between_nodes_is_lost(opened) -> None:
    folded = ALL.fold(opened)
    number = {part: i for i, node in enumerate(folded.nodes) for part in node.parts}
    assert sorted(map(repr, number)) == sorted(map(repr, SYNC.parts))
    between = {(number[w.source], number[w.target]) for w in SYNC.wires} - {(i, i) for i in range(len(folded.nodes))}
    assert {(edge.source, edge.target) for edge in folded.edges} == between
    assert len({node.key for node in folded.nodes}) == len(folded.nodes)


def test_a_scope_opens_on_all_workers_and_shows_its_ops() -> None:
    before, after = ALL.fold(()), ALL.fold({("hidden_0",)})
    for task in ("worker:0", "worker:1"):
        assert [n.folded for n in before.nodes if n.task == task and n.name == "hidden_0"] == [True]
        names = {n.name for n in after.nodes if n.task == task and n.scope == ("hidden_0",)}
        assert {"hidden_0/MatMul", "hidden_0/Add_1", "hidden_0/Relu"} <= names
    assert ("hidden_0",) in after.open
    assert ("hidden_0",) in before.closed


@pytest.mark.parametrize("mode", MODES)
def test_at_first_as_much_is_open_as_is_readable(mode) -> None:
    scopes = Scopes(parts(mode))
    opened = scopes.at_a_glance(1000)
    assert opened == scopes.all
    assert scopes.at_a_glance(1) == frozenset()

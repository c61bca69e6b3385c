"""What is needed lies above what needs it, replicas lie beside each other, and rows are not too full."""

from __future__ import annotations

from collections import Counter

import pytest

from pslab.lab.graph_view.folding import Folded, Scopes
from pslab.lab.graph_view.layers import WIDEST, layered
from pslab.lab.graph_view.parts import Flow, Kind
from tests.lab.graph_view.graphs import MODES, parts


@pytest.fixture(params=MODES)
def folded(request) -> Folded:
    scopes = Scopes(parts(request.param))
    return scopes.fold(scopes.all)


def test_what_is_open_goes_downwards(folded) -> None:
    found = layered(folded)
    up = [
        (folded.nodes[e.source], folded.nodes[e.target])
        for e in folded.edges
        if found.layer[found.role[e.source]] >= found.layer[found.role[e.target]]
    ]
    assert all(a.task.startswith("worker:") and b.task.startswith("worker:") and a.task != b.task for a, b in up), "only from worker to worker"


def test_replicas_lie_in_one_layer_and_rows_are_not_too_full(folded) -> None:
    found = layered(folded)
    assert len({node.role for node in folded.nodes}) == len(found.roles)
    messages = {found.role[i] for i, n in enumerate(folded.nodes) if n.kind in (Kind.SEND, Kind.RECEIVE)}
    full = Counter((band, found.layer[i]) for i, (band, _) in enumerate(found.roles) if i not in messages)
    assert max(full.values()) <= WIDEST


def test_only_waits_that_follow_from_others_are_left_out(folded) -> None:
    found = layered(folded)
    drawn = [folded.edges[i] for i in found.edges]
    assert [e for e in folded.edges if e.flow is not Flow.WAIT] == [e for e in drawn if e.flow is not Flow.WAIT]


def test_who_sends_is_right_above_who_receives() -> None:
    scopes = Scopes(parts("async"))
    folded = scopes.fold(())
    found = layered(folded)
    for edge in folded.edges:
        if edge.flow is Flow.MESSAGE:
            assert found.layer[found.role[edge.target]] == found.layer[found.role[edge.source]] + 1


def test_a_cycle_of_scopes_is_cut_once() -> None:
    """A scope that is folded may both need another and be needed by it."""
    scopes = Scopes(parts("sync"))
    folded = scopes.fold(())
    found = layered(folded)
    up = [e for e in folded.edges if found.layer[found.role[e.source]] >= found.layer[found.role[e.target]]]
    assert len(up) <= 2

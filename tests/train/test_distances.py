"""Distances and cosines of replicas, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.train.distances import ALL, PS, ReplicaParameters, distances, mean_of


def replica(worker: int, began: list[float], arrived: list[float]) -> ReplicaParameters:
    return ReplicaParameters(f"worker:{worker}", 4, *({"w": np.array(v[:2]), "b": np.array(v[2:])} for v in (began, arrived)))


def found(replicas, server):
    return {(d.first, d.second, d.parameter): d for d in distances(replicas, {"w": np.array(server[:2]), "b": np.array(server[2:])})}


def test_distance_is_relative_to_the_ps_per_parameter_and_over_all() -> None:
    table = found([replica(0, [0, 0, 0], [3, 4, 2])], [3.0, 0.0, 4.0])
    assert table["worker:0", PS, "w"].distance == pytest.approx(4 / 3)
    assert table["worker:0", PS, "b"].distance == pytest.approx(2 / 4)
    assert table["worker:0", PS, ALL].distance == pytest.approx(math.sqrt(20) / 5)


def test_cosine_is_of_displacements_from_where_each_began() -> None:
    start = [10.0, 10.0, 10.0]
    table = found([replica(0, start, [11, 10, 10]), replica(1, start, [10, 12, 10]), replica(2, start, [9, 10, 10])], [11.0, 11.0, 10.0])
    assert table["worker:0", "worker:1", ALL].cosine == pytest.approx(0)
    assert table["worker:0", "worker:2", ALL].cosine == pytest.approx(-1)
    assert table["worker:0", PS, ALL].cosine == pytest.approx(math.sqrt(0.5))
    assert math.isnan(table["worker:0", "worker:1", "b"].cosine)
    assert table["worker:0", "worker:1", ALL].distance == pytest.approx(math.sqrt(5) / math.sqrt(342))
    assert len(table) == 6 * 3


def test_zeros_are_no_distance_and_what_has_no_size_is_infinitely_far() -> None:
    table = found([replica(0, [0, 0, 0], [0, 0, 1])], [0.0, 0.0, 0.0])
    assert table["worker:0", PS, "w"].distance == 0
    assert math.isinf(table["worker:0", PS, "b"].distance)
    assert math.isnan(table["worker:0", PS, "b"].cosine)


NUMBERS = st.lists(st.floats(-100, 100), min_size=3, max_size=3)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.floats(0.5, 4))
def test_a_pair_is_the_same_both_ways_and_a_scale_changes_nothing(start, one, other, server, scale) -> None:
    if np.linalg.norm(server) < 1e-3:
        return
    a, b = replica(0, start, one), replica(1, start, other)
    here = found([a, b], server)["worker:0", "worker:1", ALL]
    there = found([b, a], server)["worker:1", "worker:0", ALL]
    scaled = [replica(i, [scale * v for v in start], [scale * v for v in values]) for i, values in enumerate((one, other))]
    larger = found(scaled, [scale * v for v in server])["worker:0", "worker:1", ALL]
    assert there.distance == here.distance
    assert larger.distance == pytest.approx(here.distance, rel=1e-6, abs=1e-6)
    np.testing.assert_equal(there.cosine, here.cosine)
    assert math.isnan(here.cosine) or -1 <= here.cosine <= 1


def test_the_mean_keeps_the_dtype() -> None:
    parts = [ReplicaParameters(f"worker:{i}", 1, {}, {"w": np.full(3, v, "float32")}) for i, v in enumerate((1, 2, 6))]
    assert mean_of(parts)["w"].dtype == np.float32
    np.testing.assert_array_equal(mean_of(parts)["w"], [3, 3, 3])

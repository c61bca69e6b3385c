"""Summaries of data whose figures can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pslab.trace.records import step_dtype
from pslab.trace.summary import StepSummary, summarise


def records(*rows):
    made = np.zeros(len(rows), step_dtype(["accuracy"]))
    for record, row in zip(made, rows, strict=True):
        record["staleness"] = np.nan
        for field, value in row.items():
            record[field] = value
    return made


def steady(worker, count, wall, start=100.0, **fields):
    """``count`` steps of ``wall`` seconds each, from time ``start``."""
    return [{"worker": worker, "time": start + wall * (i + 1), "wall": wall, **fields} for i in range(count)]


def test_figures():
    fast = steady(0, 8, 0.25, wait=0.05, bytes_pushed=100, bytes_pulled=300, bytes_fed=10, staleness=1)
    slow = steady(1, 4, 0.5, wait=0.2, bytes_pushed=400, bytes_pulled=600, bytes_fed=40, staleness=4)
    assert summarise(records(*fast, *slow)) == StepSummary(
        steps=12,
        seconds=pytest.approx(2.0),
        worker_steps_per_s=pytest.approx(4 + 2),
        bytes_pushed_per_step=pytest.approx(200),
        bytes_pulled_per_step=pytest.approx(400),
        bytes_fed_per_step=pytest.approx(20),
        staleness_mean=pytest.approx(2),
        staleness_max=4,
        wait_share=pytest.approx((8 * 0.05 + 4 * 0.2) / 4.0),
    )


def test_observed_steps_count_but_do_not_cost():
    usual = steady(0, 4, 0.5, wait=0.1, bytes_pulled=100, staleness=0)
    looked_at = {"worker": 0, "time": 105.0, "wall": 3.0, "wait": 2.9, "bytes_pulled": 9999, "staleness": 5, "observed": True}
    found = summarise(records(*usual, looked_at))
    assert (found.steps, found.seconds) == (5, pytest.approx(5.0))
    assert found.worker_steps_per_s == pytest.approx(2.0)
    assert found.bytes_pulled_per_step == pytest.approx(100)
    assert found.wait_share == pytest.approx(0.2)
    assert (found.staleness_mean, found.staleness_max) == (pytest.approx(1.0), 5)


def test_a_pause_is_not_counted():
    found = summarise(records(*steady(0, 2, 0.5), *steady(0, 2, 0.5, start=1000.0)))
    assert found.worker_steps_per_s == pytest.approx(2.0)


def test_what_nobody_says_anything_about_is_nan():
    for rows in ([], steady(0, 2, 0.5, observed=True)):
        found = summarise(records(*rows))
        assert found.steps == len(rows)
        for figure in ("worker_steps_per_s", "bytes_pushed_per_step", "staleness_mean", "staleness_max", "wait_share"):
            assert math.isnan(getattr(found, figure)), figure

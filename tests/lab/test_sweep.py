"""The result of an experiment: its table, its summary, what a notebook shows, and several of them as one."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import pslab
from pslab.errors import UsageError
from pslab.lab.until import Until
from pslab.train.strategy import Strategy
from pslab.train.updates import Async, Sync
from tests.lab.sweeps import ALL_FAILED, NOW, TARGET, filled, one

GRID = {"batch_size": [16, 64], "update": [Sync(), Async()]}


def test_a_table_has_a_row_per_run_and_the_curves_one_per_measurement() -> None:
    sweep = filled(GRID)
    assert list(sweep.table.columns[:5]) == ["batch_size", "update", "seed", "outcome", "message"]
    assert list(zip(sweep.table["batch_size"], sweep.table["update"], sweep.table["seed"], strict=True))[:5] == [
        *((16, "sync", 0), (16, "async", 0), (64, "sync", 0), (64, "async", 0)),
        (16, "sync", 1),
    ]
    row = sweep.table.iloc[0]
    mine = sweep.curves[(sweep.curves["batch_size"] == 16) & (sweep.curves["update"] == "sync") & (sweep.curves["seed"] == 0)]
    assert [dict(point) for point in one(TARGET, 4.0).curve] == mine.drop(columns=["batch_size", "update", "seed"]).to_dict("records")
    assert row["test_accuracy"] == mine["test_accuracy"].iloc[-1]


def test_a_target_that_was_not_reached_is_not_a_number() -> None:
    table = filled({"batch_size": [4, 64]}, seeds=1).table
    assert table["outcome"].tolist() == ["not reached", "reached"]
    assert math.isnan(table["seconds_to_target"][0])
    assert table["seconds_to_target"][1] == table["seconds"][1] > 0
    assert table["steps"][0] == 300


def test_a_summary_has_means_and_standard_deviations_over_the_seeds() -> None:
    sweep = filled(GRID, failing=(0,))
    row = sweep.summary.iloc[0]
    seconds = sweep.table[(sweep.table["batch_size"] == 16) & (sweep.table["update"] == "sync")]["seconds"].to_numpy()
    assert (row["runs"], row["failed"], row["reached"] + row["not reached"]) == (3, 1, 2)
    assert row["seconds"] == pytest.approx(np.nanmean(seconds))
    assert row["seconds_std"] == pytest.approx(np.nanstd(seconds, ddof=1))
    assert len(sweep.summary) == 4


def test_what_is_shown_names_points_spread_and_failures() -> None:
    shown = repr(filled(GRID, failing=(1,)))
    assert shown.startswith("sweep over batch_size, update, until accuracy 0.95, steps 300: 12 of 12 runs\n")
    assert " ± " in shown
    assert shown.endswith("1 failed, the first with: the loss is NaN")
    assert "<table" in filled(GRID)._repr_html_()
    assert "–" in repr(filled(GRID, failing=ALL_FAILED))


def test_what_is_missing_is_told_with_the_way_to_go_on(tmp_path) -> None:
    whole = filled(GRID)
    part = type(whole)(whole.plan, {(0, 0): whole.measured(0, 0)})
    assert repr(part).endswith("1 of 12 runs are there; the same again with resume= and this result (%pslab sweep: --resume) goes on")
    part.path = tmp_path
    assert repr(part).endswith(f"the same again with path={str(tmp_path)!r} goes on")
    assert "0 of 12 runs" in repr(type(whole)(whole.plan))


def test_what_differs_between_two_becomes_a_key() -> None:
    sync = filled({"batch_size": [16, 64]}, now=dataclasses.replace(NOW, strategy=Strategy(update=Sync())))
    asynchronous = filled({"batch_size": [16, 32]})
    both = sync | asynchronous
    assert both.plan.keys == ("batch_size", "update")
    assert [(p["batch_size"].label, p["update"].label) for p in both.plan.points] == [(16, "sync"), (64, "sync"), (16, "async"), (32, "async")]
    assert len(both) == 12
    assert both.table["seconds"].sum() == pytest.approx(sync.table["seconds"].sum() + asynchronous.table["seconds"].sum())


def test_one_that_is_about_what_another_has_fixed() -> None:
    both = filled({"update": [Sync(), Async()]}) | filled({"batch_size": [16]})
    assert both.plan.keys == ("update", "batch_size")
    assert [(p["update"].label, p["batch_size"].label) for p in both.plan.points] == [("sync", 64), ("async", 64), ("async", 16)]


def test_the_same_settings_twice_are_told_apart_by_name(tmp_path) -> None:
    first, second = filled(GRID), filled(GRID)
    assert set((first | second).table["sweep"]) == {"1", "2"}
    first.path, second.path = tmp_path / "monday", tmp_path / "tuesday"
    both, third = first | second, filled(GRID, path=tmp_path / "wednesday")
    assert set(both.table["sweep"]) == {"monday", "tuesday"}
    assert set((both | third).table["sweep"]) == {"monday", "tuesday", "wednesday"}
    twice = both | both
    assert (len(twice), len(set(twice.table["sweep"]))) == (48, 4)


def test_different_targets_and_three_at_once() -> None:
    sweeps = [filled({"batch_size": [64]}, Until(accuracy=goal)) for goal in (0.8, 0.9, 0.95)]
    three = pslab.overlay(sweeps)
    assert three.plan.keys == ("batch_size", "until")
    assert [p["until"].label for p in three.plan.points] == ["accuracy 0.8", "accuracy 0.9", "accuracy 0.95"]
    assert three.plan.until.accuracy == 0.8


def test_an_overlay_can_be_saved_and_more_laid_over_it(tmp_path) -> None:
    both = filled({"batch_size": [16]}) | filled({"batch_size": [16]}, Until(accuracy=0.9))
    loaded = pslab.Sweep.load(both.save(tmp_path))
    assert len(loaded | filled({"batch_size": [128]})) == 9
    with pytest.raises(UsageError, match="nothing to overlay"):
        pslab.overlay([])
    with pytest.raises(TypeError):
        both | 5

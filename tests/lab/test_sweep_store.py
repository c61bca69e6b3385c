"""Experiments on disk: the same again, and nothing else is taken for one."""

from __future__ import annotations

import json

import pandas
import pytest

import pslab
from pslab.errors import DataLossError, InvalidArgumentError, NotFoundError, UsageError
from pslab.lab.sweep_store import CURVES, RUNS, SETTINGS, found
from pslab.lab.until import Until
from pslab.train.updates import Async, Sync
from tests.lab.sweeps import ALL_FAILED, filled

GRID = {"batch_size": [16, 64], "update": [Sync(), Async()]}


@pytest.mark.parametrize(
    "sweep",
    [
        filled(GRID),
        filled(GRID, failing=(0, 3)),
        filled(GRID, failing=ALL_FAILED),
        filled({"hidden": [[64, 32], ()]}, Until(steps=50), seeds=1),
        filled({"learning_rate": [0.1, 1]}, Until(loss=0.5, steps=50)),
    ],
    ids=["all", "some failed", "all failed", "words", "loss"],
)
def test_what_is_loaded_is_what_was_saved(sweep, tmp_path) -> None:
    loaded = pslab.Sweep.load(sweep.save(tmp_path / "runs" / "k"))
    assert loaded.plan == sweep.plan
    pandas.testing.assert_frame_equal(loaded.table, sweep.table, check_dtype=False)
    pandas.testing.assert_frame_equal(loaded.curves, sweep.curves, check_dtype=False)
    assert loaded.missing == []
    assert loaded.path == tmp_path / "runs" / "k"


def test_other_programs_can_read_it(tmp_path) -> None:
    sweep = filled(GRID)
    sweep.save(tmp_path)
    table = pandas.read_parquet(tmp_path / RUNS)
    assert table["seconds_to_target"].tolist() == pytest.approx(sweep.table["seconds_to_target"].tolist(), nan_ok=True)
    settings = json.loads((tmp_path / SETTINGS).read_text())
    update = settings["points"][0]["update"]
    assert (update["label"], update["detail"]["type"], update["detail"]["backup"]) == ("sync", "Sync", 0)
    assert settings["fixed"]["until"]["detail"]["accuracy"] == 0.95


def test_each_run_is_written_as_it_is_made(tmp_path) -> None:
    whole = filled(GRID)
    sweep = type(whole)(whole.plan, path=tmp_path)
    for count, run in enumerate(whole.plan.runs(), 1):
        sweep.add(*run, whole.measured(*run))
        assert len(pslab.Sweep.load(tmp_path)) == count


def test_a_run_whose_writing_was_cut_short_is_missing(tmp_path) -> None:
    """The curves are written before the runs: what a kill leaves between the two is as before, and the run is made again."""
    filled(GRID).save(tmp_path)
    runs = pandas.read_parquet(tmp_path / RUNS)
    runs.iloc[:-1].to_parquet(tmp_path / RUNS)
    loaded = pslab.Sweep.load(tmp_path)
    assert loaded.missing == [(3, 2)]
    assert len(loaded.curves) < len(pandas.read_parquet(tmp_path / CURVES))


@pytest.mark.parametrize("name", [SETTINGS, RUNS, CURVES])
@pytest.mark.parametrize("keep", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_told(name, keep, tmp_path) -> None:
    filled(GRID).save(tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(keep * len(content))])
    with pytest.raises(DataLossError, match=name):
        pslab.Sweep.load(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"format": "another", "version": 1}',
        '{"format": "pslab sweep", "version": 1}',
        '{"format": "pslab sweep", "version": 1, "keys": ["a"], "points": [5], "fixed": {}, "seeds": [0]}',
        '{"format": "pslab sweep", "version": 1, "keys": ["a"], "points": [{}], "fixed": {}, "seeds": [0]}',
        '{"format": "pslab sweep", "version": 1, "keys": ["a"], "points": [{"a": {"label": 1, "detail": 1}}], "fixed": {}, "seeds": [0]}',
    ],
)
def test_foreign_settings_are_refused(text, tmp_path) -> None:
    filled(GRID).save(tmp_path)
    (tmp_path / SETTINGS).write_text(text)
    with pytest.raises(DataLossError, match="settings"):
        pslab.Sweep.load(tmp_path)


def test_settings_of_another_version_are_refused(tmp_path) -> None:
    filled(GRID).save(tmp_path)
    (tmp_path / SETTINGS).write_text((tmp_path / SETTINGS).read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(DataLossError, match="another version"):
        pslab.Sweep.load(tmp_path)


def test_foreign_tables_are_refused(tmp_path) -> None:
    filled(GRID).save(tmp_path)
    other = filled({"batch_size": [8], "update": [Sync()]}).save(tmp_path / "other")
    (tmp_path / RUNS).write_bytes((other / RUNS).read_bytes())
    with pytest.raises(DataLossError, match=r"does not belong to settings.json: the table has a run \(8, 'sync', 0\)"):
        pslab.Sweep.load(tmp_path)
    pandas.DataFrame({"batch_size": [1]}).to_parquet(tmp_path / RUNS)
    with pytest.raises(DataLossError, match="has no column 'update'"):
        pslab.Sweep.load(tmp_path)


def test_what_is_not_there_is_told(tmp_path) -> None:
    with pytest.raises(NotFoundError, match="there is no sweep in"):
        pslab.Sweep.load(tmp_path / "none")
    assert not found(tmp_path / "none")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is there, and is no sweep"):
        found(tmp_path)
    with pytest.raises(InvalidArgumentError):
        filled(GRID).save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"

"""Parts: what means data in parts, and how each kind is loaded."""

from __future__ import annotations

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from pslab.data.datasets import load
from pslab.data.parts import FilePart, parts_of
from pslab.errors import DataLossError, UsageError

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 3
TABLE = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": Y})


def loaded(parts):
    arrays = [part.load() for part in parts]
    return [np.concatenate([np.asarray(a[i]) for a in arrays]) for i in (0, 1)]


@pytest.fixture(params=["npz", "npy", "csv", "parquet", "lists.parquet"])
def files(request, tmp_path):
    """Three files of one kind: their pattern, and the label."""
    for part in range(3):
        rows = slice(4 * part, 4 * part + 4)
        path = tmp_path / f"part-{part}.{request.param}"
        if request.param == "npz":
            np.savez(path, x=X[rows], y=Y[rows])
        elif request.param == "npy":
            np.save(path, np.column_stack([X, Y])[rows])
        elif request.param == "csv":
            TABLE[rows].to_csv(path, index=False)
        elif request.param == "parquet":
            TABLE[rows].to_parquet(path)
        else:
            pd.DataFrame({"x": list(X[rows]), "label": Y[rows]}).to_parquet(path)
    return f"{tmp_path}/*.{request.param}", None if request.param in ("npz", "npy") else "label"


def test_files(files):
    pattern, label = files
    parts = parts_of(pattern, None, label)
    assert [part.name for part in parts] == [pattern.replace("*", f"part-{i}") for i in range(3)]
    x, y = loaded(parts)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    assert len(parts_of([pattern, pattern.replace("*", "part-1")], None, label)) == 3


def test_dask_arrays_with_chunks_of_their_own():
    x, y = dask.array.from_array(X, chunks=(5, 1)), dask.array.from_array(Y, chunks=4)
    parts = parts_of(x, y, None)
    assert [len(part.load()[1]) for part in parts] == [5, 5, 2]
    np.testing.assert_array_equal(loaded(parts)[0], X)
    np.testing.assert_array_equal(loaded(parts)[1], Y)


def test_dask_dataframes():
    table = dask.dataframe.from_pandas(TABLE, npartitions=3)
    for parts in (
        parts_of(table, None, "label"),
        parts_of(table[["a", "b"]], table["label"], None),
        parts_of(table[["a", "b"]].values, table["label"].values, None),
    ):
        assert len(parts) == 3
        np.testing.assert_array_equal(loaded(parts)[0], X)
        np.testing.assert_array_equal(loaded(parts)[1], Y)


@pytest.mark.parametrize("source", ["digits", "mnist", 3, X, (X, Y), ["a", 3]])
def test_what_is_no_data_in_parts(source):
    assert parts_of(source, None, None) is None


@pytest.mark.parametrize(
    ("source", "targets", "label", "says"),
    [
        ("no/such*.csv", None, "label", "no file matches no/such"),
        (dask.array.from_array(X), Y, None, "y must be one too, not ndarray"),
        (dask.array.from_array(X), None, None, "there is no column None of targets"),
        (dask.dataframe.from_pandas(TABLE, npartitions=2), None, "z", "there is no column 'z' of targets"),
        (dask.array.from_array(X, chunks=(4, 2)), dask.array.from_array(Y[:8], chunks=4), None, "x has 3 partitions, y has 2"),
    ],
)
def test_what_does_not_fit(source, targets, label, says):
    with pytest.raises(UsageError, match=says):
        parts_of(source, targets, label)


def test_files_that_do_not_fit(tmp_path):
    (tmp_path / "t.txt").touch()
    with pytest.raises(UsageError, match=r"t.txt' cannot be read: it is no .npy, .npz"):
        parts_of(f"{tmp_path}/*", None, None)
    TABLE.assign(name="n").to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "t.npy", X)
    for name, label, says in (
        ("t.csv", "z", "has no column 'z' of targets; it has a, b, label, name"),
        ("t.csv", "label", "are no numbers: name"),
        ("t.npy", 2, "has no column 2"),
        ("t.npy", "y", "label is a number, not 'y'"),
    ):
        with pytest.raises(UsageError, match=says):
            FilePart(f"{tmp_path}/{name}", label).load()


def test_a_pattern_without_a_file_is_told_though_another_has_one(tmp_path):
    np.save(tmp_path / "t.npy", X)
    with pytest.raises(UsageError, match=r"no file matches .*none\.npy"):
        parts_of([f"{tmp_path}/t.npy", f"{tmp_path}/none.npy"], None, None)


@pytest.mark.parametrize(("name", "contents"), [("e.csv", b""), ("j.csv", b"\xff\xfe\x00"), ("r.csv", b"a,y\n1,0\n1,2,3\n"), ("e.parquet", b"")])
def test_a_file_that_is_not_what_its_name_says_is_named(tmp_path, name, contents):
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(DataLossError, match=rf"{name}.* cannot be loaded"):
        load(f"{tmp_path}/{name}", label="y")

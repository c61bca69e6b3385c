"""Parts of a data set that lie apart, each to be loaded where it is needed: files, and the partitions of Dask collections.

A Dask collection is known by what it can do, so that Dask need not be imported here. Its parts are computed where they are loaded, by threads of that process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pslab.data.columns import numpy_columns
from pslab.data.files import matching, open_file
from pslab.errors import UsageError

Array = np.ndarray[Any, np.dtype[Any]]
SUFFIXES = (".npy", ".npz", ".csv", ".parquet", ".pq")
"""Of the names of files that can be read."""


class Part(Protocol):
    """A part of a data set."""

    @property
    def name(self) -> str:
        """What it is called, in messages."""

    def load(self) -> tuple[Any, Any]:
        """Its examples and targets."""


@dataclass(frozen=True)
class FilePart:
    """A file.

    Attributes:
        name: path or URL, with one of `SUFFIXES`.
        label: the column of the targets; of a ``.npz`` file the array's name, ``"y"`` if None; of a ``.npy`` file the column's number, the last if None.
    """

    name: str
    label: Any

    def load(self) -> tuple[Any, Any]:
        """Read it.

        Raises:
            NotFoundError: there is no such file.
            UsageError: it has no such column.
        """
        import pandas

        if self.name.endswith(".npy"):
            (rows,) = numpy_columns(self.name, None)
            try:
                column = -1 if self.label is None else int(self.label)
            except ValueError:
                raise UsageError(
                    f"{self.name!r} has columns without names, so label is a number, not {self.label!r}", "0 is the first, -1 the last"
                ) from None
            if rows.ndim != 2 or not -rows.shape[1] <= column < rows.shape[1]:
                raise UsageError(f"{self.name!r} has shape {rows.shape}, which has no column {column} of targets")
            return np.delete(rows, column, axis=1), rows[:, column]
        if self.name.endswith(".npz"):
            return tuple(numpy_columns(self.name, ["x", self.label or "y"]))  # type: ignore[return-value]
        with open_file(self.name) as file:
            table = pandas.read_csv(file) if self.name.endswith(".csv") else pandas.read_parquet(file)
        return _from_table(table, self.label, self.name)


@dataclass(frozen=True, eq=False)
class ArrayPart:
    """Partitions of two Dask collections, with as many rows each."""

    name: str
    x: Any
    y: Any

    def load(self) -> tuple[Any, Any]:
        """Compute them."""
        return _computed(self.x), _computed(self.y)


@dataclass(frozen=True, eq=False)
class TablePart:
    """A partition of a Dask dataframe, one of whose columns holds the targets."""

    name: str
    table: Any
    label: Any

    def load(self) -> tuple[Any, Any]:
        """Compute it.

        Raises:
            UsageError: it has no such column.
        """
        return _from_table(_computed(self.table), self.label, self.name)


def parts_of(source: Any, targets: Any, label: Any) -> tuple[Part, ...] | None:
    """The parts that ``source`` means; None if it is no data in parts.

    Args:
        source: Dask collections, a dataframe, or one or several URLs or patterns of files.
        targets: a Dask collection, if ``source`` has the examples only.
        label: the column of the targets.

    Raises:
        UsageError: no file matches, a file is of no known kind, or two collections do not fit.
    """
    if _is_collection(source):
        return _of_collections(source, targets, label)
    names = [source] if isinstance(source, str) else source
    if isinstance(names, list | tuple) and names and all(isinstance(n, str) for n in names) and _may_be_files(names):
        return _of_files(names, label)
    return None


def _is_collection(thing: Any) -> bool:
    return hasattr(thing, "__dask_graph__") and hasattr(thing, "compute") and hasattr(thing, "partitions")


def _may_be_files(names: Sequence[str]) -> bool:
    return any("/" in name or "*" in name or name.endswith(SUFFIXES) for name in names)


def _of_files(patterns: Sequence[str], label: Any) -> tuple[Part, ...]:
    found = matching(patterns)
    lacking = [pattern for pattern in patterns if not matching([pattern])]
    if lacking:
        raise UsageError(f"no file matches {', '.join(lacking)}", "a path on this machine or a URL; * stands for any characters")
    strange = [name for name in found if not name.endswith(SUFFIXES)]
    if strange:
        raise UsageError(f"{strange[0]!r} cannot be read: it is no {', '.join(SUFFIXES)}")
    return tuple(FilePart(name, label) for name in found)


def _of_collections(x: Any, y: Any, label: Any) -> tuple[Part, ...]:
    if y is None:
        if label is None or label not in getattr(x, "columns", ()):
            raise UsageError(
                f"there is no column {label!r} of targets in this {type(x).__name__}", "give label=, or a second collection with the targets"
            )
        return tuple(TablePart(f"partition {i}", x.partitions[i], label) for i in range(_count(x)))
    if not _is_collection(y):
        raise UsageError(f"x is a Dask collection, so y must be one too, not {type(y).__name__}", "dask.array.from_array(y)")
    lengths = getattr(x, "chunks", ((np.nan,),))[0]
    if hasattr(y, "rechunk") and not np.isnan(lengths).any() and sum(lengths) == len(y):
        y = y.rechunk({0: lengths})
    if _count(x) != _count(y):
        raise UsageError(f"x has {_count(x)} partitions, y has {_count(y)}", "they need the same rows in each: rechunk, or repartition")
    return tuple(ArrayPart(f"partition {i}", x.partitions[i], y.partitions[i]) for i in range(_count(x)))


def _count(collection: Any) -> int:
    """How many partitions there are along the rows."""
    return int(collection.numblocks[0] if hasattr(collection, "numblocks") else collection.npartitions)


def _computed(partition: Any) -> Any:
    return partition.compute(scheduler="threads")


def _from_table(table: Any, label: Any, name: str) -> tuple[Any, Any]:
    if label not in table.columns:
        raise UsageError(f"{name!r} has no column {label!r} of targets; it has {', '.join(map(str, table.columns))}", "give label=")
    rest = table.drop(columns=[label])
    numbers = [column for column in rest.columns if rest[column].dtype.kind in "biuf"]
    if len(numbers) == len(rest.columns):
        return rest.to_numpy(), table[label].to_numpy()
    if len(rest.columns) == 1:
        return np.stack(rest.iloc[:, 0].to_numpy()), table[label].to_numpy()  # a column of rows
    others = [str(column) for column in rest.columns if column not in numbers]
    raise UsageError(f"{name!r} has columns that are no numbers: {', '.join(others)}", "make numbers of them, or leave them out")

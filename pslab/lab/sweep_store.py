"""Experiments on disk: a directory with the settings as JSON, the runs and their learning curves as Parquet.

Each file is written whole or not at all, the settings first and the runs last: a run that is in ``runs.parquet`` has all that belongs to it.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pslab.checkpoint.atomic import named_errors, write_bytes, write_text
from pslab.errors import DataLossError, NotFoundError, UsageError
from pslab.lab.measure import Measured
from pslab.lab.plan import Plan
from pslab.lab.sweep import CURVE, FIGURES, Sweep, runs_of

if TYPE_CHECKING:
    import pandas

SETTINGS, RUNS, CURVES = "settings.json", "runs.parquet", "curves.parquet"
FORMAT = {"format": "pslab sweep", "version": 1}


def write(sweep: Sweep, directory: Path) -> Path:
    """Write an experiment to a directory, which is made if it is not there.

    Raises:
        OpError: it cannot be written; what was there before is untouched.
    """
    with named_errors("write", str(directory)):
        write_text(str(directory / SETTINGS), json.dumps({**FORMAT, **sweep.plan.to_json()}, indent=1, ensure_ascii=False) + "\n")
        for name, table in ((CURVES, sweep.curves), (RUNS, sweep.table)):
            write_bytes(str(directory / name), _parquet(table))
    return directory


def found(directory: Path) -> bool:
    """Whether an experiment is kept there.

    Raises:
        UsageError: something else is there.
    """
    if (directory / SETTINGS).exists():
        return True
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UsageError(f"{directory} is there, and is no sweep", "give another path")
    return False


def read(directory: Path) -> Sweep:
    """Read an experiment.

    Raises:
        NotFoundError: there is none.
        DataLossError: a file is truncated, or is not what it says it is.
    """
    if not (directory / SETTINGS).exists():
        raise NotFoundError(f"there is no sweep in {directory}", "the directory that sweep.save(path) or lab.sweep(path=…) has written")
    plan = _read_plan(directory / SETTINGS)
    if not (directory / RUNS).exists():
        return Sweep(plan, path=directory)
    keys = (*plan.keys, "seed")
    table, curves = _read_table(directory / RUNS, (*keys, *FIGURES)), _read_table(directory / CURVES, (*keys, *CURVE))
    try:
        runs: dict[tuple[int, int], Measured] = runs_of(plan, table, curves)
    except UsageError as error:
        raise DataLossError(f"{directory / RUNS} does not belong to {SETTINGS}: {error.message}") from None
    return Sweep(plan, runs, directory)


def _read_plan(path: Path) -> Plan:
    with named_errors("read", str(path)):
        text = path.read_bytes()
    try:
        data: Any = json.loads(text)
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT["format"]:
            raise DataLossError(f"{path} has no settings of a sweep")
        if data.pop("version", None) != FORMAT["version"]:
            raise DataLossError(f"{path} was written by another version of pslab", "use that one")
        return Plan.from_json(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # JSON's and Unicode's are ValueErrors
        raise DataLossError(f"{path} is truncated, or has no settings of a sweep: {type(error).__name__}: {error}") from None


def _parquet(table: pandas.DataFrame) -> bytes:
    import pyarrow
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pandas(table, preserve_index=False), buffer)
    return buffer.getvalue()


def _read_table(path: Path, columns: tuple[str, ...]) -> pandas.DataFrame:
    import pyarrow
    from pyarrow import parquet

    with named_errors("read", str(path)):
        content = path.read_bytes()
    try:
        table: pandas.DataFrame = parquet.read_table(io.BytesIO(content)).to_pandas()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataLossError(f"{path} is truncated, or no Parquet file: {error}") from None
    missing = [name for name in columns if name not in table]
    if missing:
        raise DataLossError(f"{path} is not of this sweep: it has no column {missing[0]!r}")
    return table

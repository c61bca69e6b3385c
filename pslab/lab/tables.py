"""Step records as a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pslab.trace.records import METRIC, step_dtype

if TYPE_CHECKING:
    import pandas

    from pslab.trace.recorder import Records
    from pslab.train.strategy import Strategy


def metrics_table(records: Records | None, strategies: Sequence[Strategy]) -> pandas.DataFrame:
    """A tidy table: one row per worker step.

    ``time`` is in seconds since the first step began; ``strategy`` becomes ``replication``, ``update`` and
    ``compression`` (empty where there is none); a metric's column has the metric's own name.
    """
    import numpy as np
    import pandas

    if records is None:
        records = np.zeros(0, step_dtype())
    table = pandas.DataFrame({name: records[name] for name in records.dtype.names or ()})
    if len(table):
        table["time"] -= float((records["time"] - records["wall"]).min())
    modes = table.pop("strategy")
    table.insert(4, "replication", [str(strategies[i].replication) for i in modes])
    table.insert(5, "update", [str(strategies[i].update) for i in modes])
    table.insert(6, "compression", [str(strategies[i].compression or "") for i in modes])
    return table.rename(columns={name: name.removeprefix(METRIC) for name in table.columns if name.startswith(METRIC)})

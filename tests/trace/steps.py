"""Step records by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.trace.recorder import Records
from pslab.trace.records import step_dtype


def steps(global_steps: Any, metrics: tuple[str, ...] = (), **fields: Any) -> Records:
    """Records of these global steps: floats that are not given are NaN, whole numbers 0; each step ends a hundredth of a second after the last."""
    records = np.zeros(len(global_steps), step_dtype(metrics))
    for name in records.dtype.names or ():
        if records.dtype[name].kind == "f":
            records[name] = np.nan
    records["global_step"] = global_steps
    records["time"] = 1000.0 + 0.01 * np.arange(len(records))
    records["wall"] = 0.01
    for name, values in fields.items():
        records[name] = values
    return records

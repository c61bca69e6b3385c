"""What is shown of an apply log, and of a replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pslab.lab.display import Shown
from pslab.train.apply_log import ApplyLog, EpochLog
from pslab.train.fingerprint import digests
from pslab.train.rehearsal import obstacle


def show_log(log: ApplyLog, note: str = "") -> Shown:
    """What is in it, a row per epoch."""
    first = int(log.beginning["global_step"])
    heading = f"apply log: global steps {first} to {log.last_step}, {log.ps} ps, {log.workers} workers, {log.reading}"
    rows = [(e.strategy, f"{e.first_step} – {e.last_step}", _brought(e, log.workers), obstacle(e) or "bit for bit") for e in log.epochs]
    return Shown(heading, ("mode", "steps", "brought", "replay"), rows, note)


def show_replay(log: ApplyLog, found: Mapping[str, np.ndarray[Any, Any]], until: int | None) -> Shown:
    """Whether a replay has come to the parameters of the log; of a step in the middle, of which no log has any, just to which."""
    now = digests(found)
    columns = ("parameter", "shape", "SHA-256")
    rows = [(name, value.shape, now[name]) for name, value in found.items()]
    if until is not None and until < log.last_step:
        note = f"the log has the order to come to any step, and digests of its last, {log.last_step}; these are the same each time"
        return Shown(f"replayed to step {until}", columns, rows, note)
    unlike = [name for name in log.outcome if now.get(name) != log.outcome[name]]
    if not unlike:
        return Shown(f"replayed to step {log.last_step}: the same parameters, bit for bit", columns, rows)
    compared = [(*row, log.outcome[row[0]], "differs" if row[0] in unlike else "same") for row in rows]
    note = "on a machine with another processor or BLAS, bits may differ"
    return Shown(f"replayed to step {log.last_step}: {len(unlike)} of {len(rows)} parameters differ", (*columns, "in the log", ""), compared, note)


def _brought(epoch: EpochLog, workers: int) -> str:
    """How much each worker brought to the first ps."""
    order = epoch.orders[0]
    if not len(order):
        return "all the same" if not epoch.strategy.races else "nothing"
    counts = np.bincount(order[(order >= 0) & (order < workers)], minlength=workers)
    return ", ".join(f"worker:{worker} {count}" for worker, count in enumerate(counts))

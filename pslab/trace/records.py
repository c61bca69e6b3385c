"""What is recorded of a worker's step: the fields of one row of a structured array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pslab.errors import UsageError

METRIC = "metric_"
"""What the field of a metric begins with; the metric's name follows."""


def step_dtype(metrics: Sequence[str] = ()) -> np.dtype[np.void]:
    """The dtype of a step's record. Durations are seconds; a field of floats is NaN where there is nothing to say.

    ======================  ========  =====================================================================================================
    time                    float64   when the step ended, on the clock of the worker's machine (Unix time)
    worker                  int32     index of the worker
    step                    int64     the worker's own count of steps
    global_step             int64     updates of the model when the step ended
    strategy                int32     which strategy was in force: an index into the trainer's table
    loss                    float64
    metric_…                float64   one per name in ``metrics``
    staleness               float64   updates by others between reading the parameters and applying the gradient
    divergence              float64   ‖θ_worker − θ_ps‖ / ‖θ_ps‖, where it was observed
    wall                    float64   from the end of the worker's previous step (or from its start, or its going on after a pause) to ``time``
    compute                 float64   inside ops
    wait                    float64   for a token or a mean gradient
    push                    float64   sending
    pull                    float64   receiving
    bytes_pushed            int64     sent by the worker, headers included
    bytes_pulled            int64     received by the worker, headers included
    bytes_fed               int64     came as feeds, and counted in neither of the two above
    torn                    int32     parameters that an update ran into while they were read, without a lock
    observed                bool      the step did extra work to be looked at; its costs are not those of training
    ======================  ========  =====================================================================================================

    Raises:
        UsageError: a metric's name comes twice.
    """
    if len(set(metrics)) < len(metrics):
        raise UsageError(f"a metric comes twice: {', '.join(metrics)}", "give each metric a name of its own")
    fields: list[tuple[str, str]] = [
        ("time", "f8"),
        ("worker", "i4"),
        ("step", "i8"),
        ("global_step", "i8"),
        ("strategy", "i4"),
        ("loss", "f8"),
        *((METRIC + name, "f8") for name in metrics),
        ("staleness", "f8"),
        ("divergence", "f8"),
        ("wall", "f8"),
        ("compute", "f8"),
        ("wait", "f8"),
        ("push", "f8"),
        ("pull", "f8"),
        ("bytes_pushed", "i8"),
        ("bytes_pulled", "i8"),
        ("bytes_fed", "i8"),
        ("torn", "i4"),
        ("observed", "?"),
    ]
    return np.dtype(fields)

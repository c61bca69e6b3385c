"""A traced run as a timeline that Chrome's ``about:tracing`` and Perfetto show (TensorFlow 1's ``tensorflow.python.client.timeline``)."""

from __future__ import annotations

import json

from pslab.graph.graph import Graph
from pslab.runtime.run_options import StepStats

__all__ = ["Timeline"]


class Timeline:
    """The timeline of a traced run: a process per device, in it a span per op and exchange.

    Args:
        step_stats: what was measured, ``run_metadata.step_stats``.
        graph: accepted; what was measured has all names.
    """

    def __init__(self, step_stats: StepStats, graph: Graph | None = None) -> None:
        self._stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The timeline as JSON in Chrome's trace event format; times are microseconds.

        Args:
            show_dataflow: accepted; exchanges between tasks are spans of their own.
            show_memory: accepted; memory is not traced.
        """
        events: list[dict[str, object]] = []
        for pid, device in enumerate(self._stats.dev_stats):
            events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": device.device}})
            events.extend(
                {
                    "ph": "X",
                    "cat": "Op",
                    "name": node.op,
                    "pid": pid,
                    "tid": 0,
                    "ts": node.all_start_micros,
                    "dur": node.all_end_rel_micros,
                    "args": {"name": node.node_name, "op": node.op, "bytes": node.output_bytes},
                }
                for node in device.node_stats
            )
        return json.dumps({"traceEvents": events}, indent=1)

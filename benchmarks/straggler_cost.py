"""What the ops cost by which a worker could be slow, where none is; and how precise a sleep is.

python benchmarks/straggler_cost.py
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import constant, identity
from pslab.graph.tensor import Tensor
from pslab.runtime.driver import drive
from pslab.runtime.task import Task
from pslab.testing.one_task import NoLink, program
from pslab.train.delays import Constant
from pslab.train.straggler import changing, held_up

RUNS = 20_000


def seconds(task: Task, wanted: list[Tensor | Operation], runs: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of each run of a program."""
    compiled = program(task, wanted, [])
    took = np.empty(runs)
    for i in range(runs):
        began = perf_counter()
        drive(compiled, [], NoLink(), task.monitor)
        took[i] = perf_counter() - began
    return took


def main() -> None:
    """Print both."""
    task = Task("worker:0")
    with Graph().as_default():
        gradient = identity(constant(np.ones(1000, np.float32)))
        without, with_them = [gradient], [gradient, held_up([gradient])]
    costs = [np.median(seconds(task, with_them, RUNS)) - np.median(seconds(task, without, RUNS)) for _ in range(5)]
    print(f"the two ops, nobody slow: {np.median(costs) * 1e6:.1f} µs of a step")
    bare = np.median(seconds(task, with_them, RUNS))
    for delay in (0.0005, 0.005, 0.05):
        with changing(task) as straggler:
            straggler.slow(Constant(delay), seed=0)
        late = seconds(task, with_them, 50) - delay - bare
        print(f"a sleep of {delay * 1e3:g} ms: {np.median(late) * 1e3:.3f} ms late, 90 % of them at most {np.quantile(late, 0.9) * 1e3:.3f} ms")


if __name__ == "__main__":
    main()

"""Running a graph kernel by kernel, and checking gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pslab.graph.gradients import gradients
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import placeholder
from pslab.graph.tensor import Tensor
from pslab.runtime.task import Task

Array = np.ndarray[Any, Any]


def evaluate(tensors: Sequence[Tensor], feeds: Mapping[Tensor, Any] | None = None, state: Task | None = None) -> list[Any]:
    """The values of ``tensors``, by calling the kernel of each op they need once, in the order the ops were built.

    Args:
        tensors: of one graph.
        feeds: values that replace tensors.
        state: what stateful kernels get; a new task by default.
    """
    values = dict(feeds or {})
    task = state or Task("localhost:0")
    for op in _needed(tensors, values):
        values.update(zip(op.outputs, run_kernel(op, [values[t] for t in op.inputs], task), strict=True))
    return [values[t] for t in tensors]


def run_kernel(op: Operation, inputs: Sequence[Any], task: Task, **keywords: Any) -> tuple[Any, ...]:
    """One value per output of ``op``."""
    bound = (task, op.name, np) if op.definition.stateful else (np,)
    result = op.definition.kernel(*bound, *inputs, **op.attrs, **keywords)
    return tuple(result) if len(op.outputs) > 1 else (result,) * len(op.outputs)


def _needed(tensors: Iterable[Tensor], fed: Mapping[Tensor, Any]) -> list[Operation]:
    waiting = [t for t in tensors if t not in fed]
    if not waiting:
        return []
    graph, found = waiting[0].graph, set[Operation]()
    while waiting:
        op = waiting.pop().op
        if op not in found:
            found.add(op)
            waiting.extend(t for t in op.inputs if t not in fed)
    return [op for op in graph.operations if op in found]


def check_gradients(build: Callable[..., Any], *inputs: Any, delta: float = 1e-6, tolerance: float = 1e-6, seed: int = 0) -> Graph:
    """Compare the gradients of ``build`` with central differences, at every element of every float64 input.

    What is differentiated is a sum of all floating outputs with random weights, so that no mistake cancels out.

    Args:
        build: from a placeholder per input to a tensor or a list of them.
        inputs: arrays; those of another dtype than float64 are held fast.
        delta: step of the differences.
        tolerance: greatest error allowed, relative to the greatest slope (or to 1, if that is greater).
        seed: of the weights.

    Returns:
        The graph, gradient ops included.

    Raises:
        AssertionError: a gradient is wrong; the message says where.
    """
    arrays = [np.asarray(i) for i in inputs]
    with Graph().as_default() as graph:
        points = [placeholder(a.dtype, a.shape, f"input_{i}") for i, a in enumerate(arrays)]
        built = build(*points)
        outputs = [t for t in (built if isinstance(built, list | tuple) else [built]) if t.dtype.is_floating]
        feeds = dict(zip(points, arrays, strict=True))
        rng = np.random.default_rng(seed)
        weights = [rng.normal(size=np.shape(v)) for v in evaluate(outputs, feeds)]
        free = [p for p in points if p.dtype.is_floating]
        found = gradients(outputs, free, weights)
        known = [g for g in found if g is not None]
        by_tensor = dict(zip(known, evaluate(known, feeds), strict=True))

        def objective(point: Tensor, value: Array) -> float:
            return sum(float(np.sum(w * v)) for w, v in zip(weights, evaluate(outputs, {**feeds, point: value}), strict=True))

        for point, gradient in zip(free, found, strict=True):
            wanted = _differences(lambda value, point=point: objective(point, value), feeds[point], delta)  # type: ignore[misc]
            got = np.zeros_like(wanted) if gradient is None else np.asarray(by_tensor[gradient])
            _compare(point.name, got, wanted, tolerance)
    return graph


def _differences(function: Callable[[Array], float], at: Array, delta: float) -> Array:
    slopes = np.zeros(at.shape)
    for index in np.ndindex(*at.shape):
        above, below = at.copy(), at.copy()
        above[index] += delta
        below[index] -= delta
        slopes[index] = (function(above) - function(below)) / (2 * delta)
    return slopes


def _compare(name: str, got: Array, wanted: Array, tolerance: float) -> None:
    assert got.shape == wanted.shape, f"the gradient of {name} has shape {got.shape}, expected {wanted.shape}"
    if not wanted.size:
        return
    error = np.abs(got - wanted) / max(1.0, float(np.abs(wanted).max()))
    worst = np.unravel_index(int(error.argmax()), error.shape) if error.ndim else ()
    at = list(map(int, worst))
    assert error[worst] <= tolerance, f"the gradient of {name} at {at} is {got[worst]}, finite differences give {wanted[worst]}"

"""Ops on variables. Each names its variable by an attribute and runs on the variable's own task, against that task's store."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, OutOfRangeError, ShapeError
from pslab.graph.dtypes import as_dtype, bool_
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape, scalar

READS = ("VariableV2", "ReadVariable")
"""Op types whose output is a variable's value; a variable's gradient is summed over them."""


def _infer_variable(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))]


def _infer_update(op: Operation) -> infer.Inferred:
    dtype, shape = as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"])
    value = op.inputs[0]
    if value.dtype is not dtype:
        raise ShapeError(f"variable {op.attrs['variable']!r} is {dtype.name}, the value is {value.dtype.name}")
    if not shape.is_compatible_with(value.shape):
        raise ShapeError(f"variable {op.attrs['variable']!r} has shape {shape}, the value has {value.shape}")
    return [(dtype, shape)]


def _read(state: Any, name: str, xp: Any, *, variable: str, dtype: str, shape: Any) -> Any:
    value = state.variables.read(variable)
    if value.shape != shape and not TensorShape(shape).is_compatible_with(value.shape):
        raise _other_graph(
            f"variable {variable!r} has shape {TensorShape(shape)} in this program's graph, but {TensorShape(value.shape)} on its task"
        )
    if value.dtype != _numpy_dtype(dtype):
        raise _other_graph(f"variable {variable!r} is {dtype} in this program's graph, but {value.dtype} on its task")
    return value


@functools.cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    return as_dtype(name).as_numpy_dtype


def _other_graph(problem: str) -> InvalidArgumentError:
    return InvalidArgumentError(problem, "whoever initialised it has another graph: each worker must build the same")


def _assign(state: Any, name: str, xp: Any, value: Any, *, variable: str, dtype: str, shape: Any) -> Any:
    return state.variables.assign(variable, xp.array(value, copy=True))  # the value may be a fed array that its owner writes to


def _assign_add(state: Any, name: str, xp: Any, delta: Any, *, variable: str, dtype: str, shape: Any) -> Any:
    return state.variables.assign(variable, state.variables.read(variable) + delta)


def _assign_sub(state: Any, name: str, xp: Any, delta: Any, *, variable: str, dtype: str, shape: Any) -> Any:
    return state.variables.assign(variable, state.variables.read(variable) - delta)


def _count_up_to(state: Any, name: str, xp: Any, *, variable: str, dtype: str, shape: Any, limit: int) -> Any:
    value = state.variables.read(variable)
    if value >= limit:
        raise OutOfRangeError(f"variable {variable!r} has reached its limit of {limit}")
    state.variables.assign(variable, value + xp.ones((), value.dtype))
    return value


def _is_initialized(state: Any, name: str, xp: Any, *, variable: str, dtype: str, shape: Any) -> Any:
    return xp.asarray(variable in state.variables)


register("VariableV2", infer=_infer_variable, kernel=_read, gradient=not_differentiable, stateful=True)
register("ReadVariable", infer=_infer_variable, kernel=_read, gradient=not_differentiable, stateful=True)
register("Assign", infer=_infer_update, kernel=_assign, gradient=not_differentiable, stateful=True, signals=True)
register("AssignAdd", infer=_infer_update, kernel=_assign_add, gradient=not_differentiable, stateful=True, signals=True)
register("AssignSub", infer=_infer_update, kernel=_assign_sub, gradient=not_differentiable, stateful=True, signals=True)
register("CountUpTo", infer=_infer_variable, kernel=_count_up_to, gradient=not_differentiable, stateful=True, signals=True)
register("IsVariableInitialized", infer=lambda op: [(bool_, scalar())], kernel=_is_initialized, gradient=not_differentiable, stateful=True)

"""Which variables have no value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.graph.build import apply_one
from pslab.graph.dtypes import string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, global_variables, is_variable_initialized, local_variables


def _infer(op: Operation) -> infer.Inferred:
    return [(string, TensorShape([None]))]


def _kernel(xp: Any, *initialised: Any, names: tuple[str, ...]) -> Any:
    missing = [name.encode() for name, has in zip(names, initialised, strict=True) if not has]
    found = np.empty(len(missing), object)
    found[:] = missing
    return found


register("ReportUninitialized", infer=_infer, kernel=_kernel, gradient=not_differentiable, host_only=True)


def report_uninitialized_variables(var_list: Sequence[Variable] | None = None, name: str = "report_uninitialized_variables") -> Tensor:
    """The names of the variables that have no value: a string vector (TensorFlow 1's function of this name).

    Args:
        var_list: the variables; all global and local ones if None.
        name: name of the op.
    """
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    inputs = [is_variable_initialized(v) for v in variables]
    return apply_one("ReportUninitialized", inputs, name, names=tuple(v.op.name for v in variables))

"""The ops that apply an update rule: `ApplyGradientDescent`, `ApplyMomentum`, `ApplyAdagrad`, `ApplyAdadelta`, `ApplyFtrl`, `ApplyRMSProp` and `ApplyAdam`.

Such an op runs on its variable's task, reads the variable and its slots from the task's store, and puts the results in their place in one critical
section.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.dtypes import as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.optim.rules import Adadelta, Adagrad, Adam, Ftrl, GradientDescent, Momentum, RMSProp

AnyRule = GradientDescent | Momentum | Adagrad | Adadelta | Ftrl | RMSProp | Adam


def apply_update(rule: AnyRule, variable: Variable, slots: Sequence[Variable], gradient: Tensor, name: str | None = None) -> Tensor:
    """An op that takes one step of ``rule``, on the variable's device. Its output is the variable's new value.

    Args:
        rule: its hyper-parameters are scalar tensors of the variable's dtype, or Python numbers.
        variable: what is updated.
        slots: the rule's slots of this variable, in the rule's order.
        gradient: of the variable's dtype and shape.
        name: name of the op.

    Raises:
        ShapeError: the gradient or a hyper-parameter has another dtype or shape.
    """
    with variable.graph.colocate_with(variable.op):
        inputs = update_inputs(rule, gradient)
        return apply_one(f"Apply{type(rule).__name__}", inputs, name, **update_attrs(rule, variable, slots))


def update_inputs(rule: AnyRule, gradient: Tensor) -> list[Tensor]:
    """The inputs of a rule's op: the gradient, and the hyper-parameters that may change from step to step."""
    return [gradient, *(convert_to_tensor(getattr(rule, field), like=gradient) for field in tensor_fields(type(rule)))]


def update_attrs(rule: AnyRule, variable: Variable, slots: Sequence[Variable]) -> dict[str, Any]:
    """The attributes of a rule's op: what it updates, and the hyper-parameters that stay as they are."""
    return {
        "variable": variable.op.name,
        "slots": tuple(s.op.name for s in slots),
        "dtype": variable.dtype.name,
        "shape": variable.shape.dims,
        **{field: getattr(rule, field) for field in _static_fields(type(rule))},
    }


_STATIC = ("use_nesterov", "centered", "initial_accumulator_value")


def tensor_fields(rule: type[AnyRule]) -> tuple[str, ...]:
    """The hyper-parameters that are inputs of the rule's op, so that they may change from step to step."""
    return tuple(field for field in rule._fields if field not in _STATIC)


def _static_fields(rule: type[AnyRule]) -> tuple[str, ...]:
    return tuple(field for field in rule._fields if field in _STATIC)


def infer_update(op: Operation) -> infer.Inferred:
    """The shape rule of a rule's op: it gives the variable's new value."""
    dtype, shape = as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"])
    variable = op.attrs["variable"]
    gradient, *hyper = op.inputs
    if gradient.dtype is not dtype:
        raise ShapeError(f"variable {variable!r} is {dtype.name}, its gradient {gradient.dtype.name}")
    if not shape.is_compatible_with(gradient.shape):
        raise ShapeError(f"variable {variable!r} has shape {shape}, its gradient {gradient.shape}")
    for tensor in hyper:
        if tensor.dtype is not dtype or not tensor.shape.is_compatible_with(()):
            raise ShapeError(f"a hyper-parameter must be a {dtype.name} scalar, but {tensor.name} is {tensor.dtype.name} of shape {tensor.shape}")
    return [(dtype, shape)]


def _kernel(rule: Callable[..., AnyRule]) -> Callable[..., Any]:
    def take_step(
        state: Any, name: str, xp: Any, gradient: Any, *hyper: Any, variable: str, slots: Sequence[str], dtype: str, shape: Any, **static: Any
    ) -> Any:
        variables = state.variables
        parameter = variables.read(variable)
        if gradient.shape != parameter.shape:  # a smaller gradient would be broadcast in silence
            raise InvalidArgumentError(f"variable {variable!r} has shape {parameter.shape}, its gradient {gradient.shape}")
        values = tuple(map(variables.read, slots))
        parameter, values = rule(*hyper, **static).update(xp, parameter, values, gradient)
        for slot, value in zip(slots, values, strict=True):
            variables.assign(slot, value)
        return variables.assign(variable, parameter)

    return take_step


RULES: dict[type[AnyRule], int] = {GradientDescent: 2, Momentum: 4, Adagrad: 6, Adadelta: 12, Ftrl: 16, RMSProp: 10, Adam: 12}
"""The rules that ops apply, and how many operations each takes per element."""

for _rule, _flops in RULES.items():
    register(
        f"Apply{_rule.__name__}",
        infer=infer_update,
        kernel=_kernel(_rule),
        flops=infer.per_element(_flops),
        stateful=True,
        signals=True,
    )

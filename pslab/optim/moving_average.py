"""Moving averages of variables, which often do better than the variables themselves (TensorFlow 1's ``tf.train.ExponentialMovingAverage``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import float32
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import cast, zeros
from pslab.graph.ops.math import minimum
from pslab.graph.ops.sources import group
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, global_variables, moving_average_variables, trainable_variables


class ExponentialMovingAverage:
    """Averages that move towards their variables: ``average -= (1 − decay) · (average − variable)``.

    Args:
        decay: near 1; a float or a tensor.
        num_updates: a count, a variable as a rule; the decay is then at most ``(1 + num_updates) / (10 + num_updates)``, so that it starts small.
        zero_debias: must be False.
        name: last part of the averages' names: ``w/ExponentialMovingAverage``.

    Raises:
        GraphError: ``zero_debias`` is set.
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage") -> None:
        if zero_debias:
            raise GraphError("zero_debias is not built", "averages of variables begin at their initial values, so that it changes nothing for them")
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """Last part of the averages' names."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """An op that moves the averages, which are made now, each beside its variable.

        Args:
            var_list: variables, whose averages begin at their initial values, and tensors of known shape, whose averages begin at 0; by default
                all trainable variables.

        Raises:
            GraphError: one is not floating.
        """
        listed = list(trainable_variables() if var_list is None else var_list)
        for variable in listed:
            if not variable.dtype.is_floating:
                raise GraphError(f"the moving average of {variable.name} needs a floating dtype, not {variable.dtype.name}")
            if variable not in self._averages:
                self._averages[variable] = self._make(variable)
        graph = listed[0].graph if listed else get_default_graph()
        with graph.as_default(), graph.name_scope(self._name) as scope:
            decay = self._present_decay()
            return group([_move(self._averages[v], v, decay) for v in listed], name=scope)

    def average(self, var: Any) -> Variable | None:
        """The average of ``var``, or None if `apply` was not given it."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of the average of ``var``, whether it was made or not, without ``:0``."""
        if var in self._averages:
            return self._averages[var].op.name
        with var.graph.name_scope(None):
            return str(var.graph.unique_name(f"{var.op.name}/{self._name}", mark_as_used=False))

    def variables_to_restore(self, moving_avg_variables: Sequence[Variable] | None = None) -> dict[str, Variable]:
        """For a `Saver` that is to restore averages into their variables: names in the checkpoint, and the variables they are for.

        Args:
            moving_avg_variables: variables that have averages; by default the trainable ones, and those that averages were made of.
        """
        averaged = [*trainable_variables(), *moving_average_variables()] if moving_avg_variables is None else list(moving_avg_variables)
        found = {self.average_name(v): v for v in dict.fromkeys(averaged)}
        for variable in global_variables():
            if variable not in averaged and variable.op.name not in found:
                found[variable.op.name] = variable
        return found

    def _make(self, var: Any) -> Variable:
        graph = var.graph
        name = f"{var.op.name}/{self._name}"
        is_variable = isinstance(var, Variable)
        beside = graph.colocate_with(var.op) if is_variable else nullcontext()
        with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None), beside:
            initial = var.initialized_value() if is_variable else zeros(var.shape.as_tuple(), var.dtype)
            average = Variable(initial, trainable=False, name=name)
        if is_variable:
            graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
        return average

    def _present_decay(self) -> Tensor:
        decay = convert_to_tensor(self._decay, float32, "decay")
        if self._num_updates is None:
            return decay
        count = cast(_now(self._num_updates), float32, "num_updates")
        return minimum(decay, (1.0 + count) / (10.0 + count))


def _now(value: Any) -> Any:
    """A variable read anew, so that updates that the caller lets it wait for are in it; others as they are."""
    return value.read_value() if isinstance(value, Variable) else value


def _move(average: Variable, var: Any, decay: Tensor) -> Tensor:
    """An op that moves an average, where it lives."""
    value = _now(var)
    with average.graph.colocate_with(average.op):
        weight = cast(1.0 - decay, average.dtype)
        return average.assign_sub((average.read_value() - value) * weight, name="AssignMovingAvg")

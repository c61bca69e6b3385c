"""Optimizers: from a loss to the op that trains its variables. TensorFlow 1's classes over `pslab.optim.rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.gradients import gradients
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import fill
from pslab.graph.ops.sources import group
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.optim import rules
from pslab.optim.hyper_parameters import HyperParameters, beside
from pslab.optim.ops import AnyRule, apply_update

Gradients = list[tuple[Tensor | None, Variable]]
ApplyUpdate = Callable[[AnyRule, Variable, Sequence[Variable], Tensor, str], Tensor]


class Optimizer:
    """Base of the optimizers (TensorFlow 1's ``tf.train.Optimizer``).

    Args:
        rule: the update rule. Its hyper-parameters are Python numbers or scalar tensors, such as a placeholder for the learning rate.
        use_locking: taken for TensorFlow's sake; an update is always atomic.
        name: prefix of the names of ops and slots.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, rule: AnyRule, use_locking: bool, name: str) -> None:
        if not name:
            raise GraphError("an optimizer needs a name", 'for example name="Adam"')
        self._rule = rule
        self._name = name
        self._slots: dict[Variable, dict[str, Variable]] = {}

    def get_name(self) -> str:
        """The name given to the constructor."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """`compute_gradients` and `apply_gradients` in one.

        Raises:
            GraphError: there is nothing to train, or ``loss`` depends on none of the variables.
        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        if all(gradient is None for gradient, _ in pairs):
            names = ", ".join(v.name for _, v in pairs)
            raise GraphError(
                f"{convert_to_tensor(loss).name} depends on none of the variables {names}",
                "is there a stop_gradient, a cast or an argmax on the way?",
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Gradients:
        """Gradients of ``loss`` (summed, if it is no scalar) with respect to variables.

        Args:
            loss: a floating tensor.
            var_list: variables to differentiate by; the loss's graph's trainable ones by default.
            gate_gradients: taken for TensorFlow's sake; an update always waits for its whole gradient.
            aggregation_method: taken for TensorFlow's sake; sums are made in the order of use.
            colocate_gradients_with_ops: see `pslab.gradients`.
            grad_loss: gradient that flows into ``loss``; ones by default.

        Returns:
            Pairs (gradient, variable); the gradient is None where the loss does not depend on the variable.

        Raises:
            GraphError: ``loss`` is no floating tensor, or there are no variables.
        """
        loss = convert_to_tensor(loss)
        if not loss.dtype.is_floating:
            raise GraphError(f"the loss {loss.name} is {loss.dtype.name}; only floating tensors have gradients", "use pslab.cast on its inputs")
        variables = loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES) if var_list is None else list(var_list)
        if not variables:
            raise GraphError(f"there are no variables to train for the loss {loss.name}", "make a pslab.Variable with trainable=True")
        for variable in variables:
            _require_variable(variable)
        found = gradients(loss, variables, grad_loss, colocate_gradients_with_ops=colocate_gradients_with_ops)
        return list(zip(found, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Variable]], global_step: Variable | None = None, name: str | None = None
    ) -> Operation:
        """An op that updates each variable by its gradient, and then adds one to ``global_step``.

        Args:
            grads_and_vars: pairs as `compute_gradients` returns them; those without a gradient are left out.
            global_step: a variable that counts the updates.
            name: name of the op; the optimizer's own by default.

        Raises:
            GraphError: no pair has a gradient, or a variable comes twice.
            ShapeError: a gradient has another dtype or shape than its variable.
        """
        pairs = list(grads_and_vars)
        for _, variable in pairs:
            _require_variable(variable)
        useful = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not useful:
            raise GraphError(f"no gradients for any variable: {', '.join(v.name for _, v in pairs) or 'the list is empty'}")
        graph = useful[0][1].graph
        with graph.as_default(), graph.name_scope(name or self._name) as scope:
            updates = self.update(useful)
            train_op = group(updates, name=scope) if global_step is None else _count(global_step, updates, scope)
        if train_op not in graph.get_collection(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op

    def update(self, grads_and_vars: Iterable[tuple[Tensor, Variable]], apply: ApplyUpdate = apply_update) -> list[Tensor]:
        """The ops of `apply_gradients`, one by one: an update of each variable by its gradient, whose output is the variable's new value.

        Args:
            grads_and_vars: pairs of gradients and variables.
            apply: makes the op of an update.

        Raises:
            GraphError: a variable comes twice.
            ShapeError: a gradient has another dtype or shape than its variable.
        """
        pairs = list(grads_and_vars)
        if len({variable for _, variable in pairs}) < len(pairs):
            raise GraphError(f"a variable comes twice: {', '.join(v.name for _, v in pairs)}", "add its gradients up first")
        slots = {variable: list(self._slots_of(variable).values()) for _, variable in pairs}
        hyper = HyperParameters(self._rule)
        updates = []
        for gradient, variable in pairs:
            rule = hyper.beside(variable)
            short = f"update_{variable.op.name}/Apply{type(rule).__name__}"
            updates.append(apply(rule, variable, slots[variable], convert_to_tensor(gradient, like=variable.value()), short))
        return updates

    # Slots

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot ``name`` of ``var``, or None if it has none (yet)."""
        return self._slots.get(var, {}).get(name)

    def get_slot_names(self) -> list[str]:
        """Names of the slots that the rule keeps for each variable."""
        return sorted(slot.name for slot in self._rule.slots())

    def variables(self) -> list[Variable]:
        """All variables that the optimizer made, by name."""
        return sorted((v for slots in self._slots.values() for v in slots.values()), key=lambda v: v.name)

    def _slots_of(self, variable: Variable) -> dict[str, Variable]:
        if variable not in self._slots:
            self._slots[variable] = {slot.name: self._make_slot(variable, slot) for slot in self._rule.slots()}
        return self._slots[variable]

    def _make_slot(self, variable: Variable, slot: rules.Slot) -> Variable:
        """A variable beside ``variable``, named as TensorFlow does: ``w/Adam``, ``w/Adam_1``; a number by its slot's name: ``w/beta1_power``."""
        graph = variable.graph
        name = f"{variable.op.name}/{slot.name if slot.scalar else self._name}"
        with graph.as_default(), graph.name_scope(None), graph.control_dependencies(None), graph.colocate_with(variable.op):
            if slot.scalar:
                initial: Any = beside(variable, slot.fill, f"{name}/initial_value")
            else:
                initial = fill(variable.shape.as_tuple(), beside(variable, slot.fill, f"{name}/value"), f"{name}/initial_value")
            return Variable(initial, trainable=False, name=name)


class GradientDescentOptimizer(Optimizer):
    """Plain gradient descent."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(rules.GradientDescent(learning_rate), use_locking, name)


class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum, or with Nesterov's."""

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum", use_nesterov: bool = False) -> None:
        super().__init__(rules.Momentum(learning_rate, momentum, use_nesterov), use_locking, name)


class AdagradOptimizer(Optimizer):
    """Adagrad (Duchi et al., 2011).

    Raises:
        GraphError: ``initial_accumulator_value`` is not positive.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False, name: str = "Adagrad") -> None:
        if initial_accumulator_value <= 0:
            raise GraphError(f"initial_accumulator_value must be positive, not {initial_accumulator_value}", "TensorFlow's default is 0.1")
        super().__init__(rules.Adagrad(learning_rate, initial_accumulator_value), use_locking, name)


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012)."""

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adadelta") -> None:
        super().__init__(rules.Adadelta(learning_rate, rho, epsilon), use_locking, name)


class FtrlOptimizer(Optimizer):
    """Follow the regularised leader (McMahan et al., 2013). ``accum_name`` and ``linear_name`` change nothing.

    Raises:
        GraphError: ``initial_accumulator_value``, or a strength of regularisation, is negative, or ``learning_rate_power`` positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: Any = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        strengths = l1_regularization_strength, l2_regularization_strength, l2_shrinkage_regularization_strength
        if initial_accumulator_value < 0 or min(strengths) < 0 or learning_rate_power > 0:
            raise GraphError(
                f"expected no negative initial_accumulator_value and strengths, and no positive learning_rate_power, found"
                f" {initial_accumulator_value}, {strengths} and {learning_rate_power}"
            )
        super().__init__(rules.Ftrl(learning_rate, learning_rate_power, *strengths, initial_accumulator_value), use_locking, name)


class RMSPropOptimizer(Optimizer):
    """RMSProp (Hinton, 2012), with momentum; with ``centered``, gradients are divided by an estimate of their standard deviation."""

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(rules.RMSProp(learning_rate, decay, momentum, epsilon, centered), use_locking, name)


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2014)."""

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8, use_locking: bool = False, name: str = "Adam"
    ) -> None:
        super().__init__(rules.Adam(learning_rate, beta1, beta2, epsilon), use_locking, name)


def _count(global_step: Variable, updates: list[Tensor], name: str) -> Operation:
    """An op that adds one to the global step after the updates. The one is made where the step lives, so that it does not travel."""
    with global_step.graph.colocate_with(global_step.op):
        one = convert_to_tensor(1, global_step.dtype, "one")
        with global_step.graph.control_dependencies(updates):
            return global_step.assign_add(one, name=name).op


def _require_variable(thing: Any) -> None:
    if not isinstance(thing, Variable):
        raise GraphError(f"expected a pslab.Variable to train, not {type(thing).__name__}: {thing!r}")

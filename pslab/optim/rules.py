"""Update rules: what an optimizer does to one parameter, as pure values over arrays.

A rule holds its hyper-parameters. ``init`` makes the slots of a parameter (what the rule remembers between steps), and ``update`` goes one step:
from a parameter, its slots and a gradient to the new parameter and the new slots. Nothing is written to the arrays that are given, which others may
be reading at that moment; results are fresh arrays of the parameter's dtype. The formulas are TensorFlow 1's (``training_ops.cc``).

Hyper-parameters are Python numbers or scalars of the parameter's dtype. `slots` is also asked of rules that hold tensors, while a graph is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

Arrays = tuple[Any, ...]


class Slot(NamedTuple):
    """What a rule remembers of a parameter between steps.

    Attributes:
        name: TensorFlow's name of the slot.
        fill: its initial value.
        scalar: whether it is one number; otherwise it has the parameter's shape. The dtype is the parameter's in both cases.
    """

    name: str
    fill: Any
    scalar: bool = False


class Rule(Protocol):
    """An update rule. The implementations are named tuples: a kernel makes one for every step, from hyper-parameters that may change."""

    def slots(self) -> tuple[Slot, ...]:
        """The slots of a parameter, in the order `update` takes them."""

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step.

        Args:
            xp: the array module of the arrays, NumPy or CuPy.
            parameter: any shape, a floating dtype.
            slots: one array per member of `slots`.
            gradient: of the parameter's shape and dtype.

        Returns:
            The new parameter, and its new slots.
        """


def init(rule: Rule, xp: Any, parameter: Any) -> Arrays:
    """The slots of ``parameter`` before its first step."""
    return tuple(xp.asarray(slot.fill, dtype=parameter.dtype) if slot.scalar else xp.full_like(parameter, slot.fill) for slot in rule.slots())


class GradientDescent(NamedTuple):
    """``parameter -= learning_rate · gradient``."""

    learning_rate: Any

    def slots(self) -> tuple[Slot, ...]:
        """None: the rule has no memory."""
        return ()

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        return _descend(xp, parameter, gradient, self.learning_rate), ()


class Momentum(NamedTuple):
    """``accumulator = momentum · accumulator + gradient``; ``parameter -= learning_rate · accumulator``.

    With ``use_nesterov``, ``parameter -= learning_rate · (gradient + momentum · accumulator)``.
    """

    learning_rate: Any
    momentum: Any
    use_nesterov: bool = False

    def slots(self) -> tuple[Slot, ...]:
        """The accumulator, zero at first."""
        return (Slot("momentum", 0.0),)

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        accumulator = xp.multiply(slots[0], self.momentum, out=xp.empty_like(parameter))
        accumulator += gradient
        if not self.use_nesterov:
            return _descend(xp, parameter, accumulator, self.learning_rate), (accumulator,)
        ahead = xp.multiply(accumulator, self.momentum, out=xp.empty_like(parameter))
        ahead += gradient
        return _descend(xp, parameter, ahead, self.learning_rate, out=ahead), (accumulator,)


class Adagrad(NamedTuple):
    """``accumulator += gradient²``; ``parameter -= learning_rate · gradient / √accumulator``."""

    learning_rate: Any
    initial_accumulator_value: float = 0.1

    def slots(self) -> tuple[Slot, ...]:
        """The sum of squared gradients."""
        return (Slot("accumulator", self.initial_accumulator_value),)

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        accumulator = xp.multiply(gradient, gradient, out=xp.empty_like(parameter))
        accumulator += slots[0]
        step = xp.sqrt(accumulator, out=xp.empty_like(parameter))
        xp.divide(gradient, step, out=step)
        return _descend(xp, parameter, step, self.learning_rate, out=step), (accumulator,)


class RMSProp(NamedTuple):
    """``rms`` is a running mean of gradient², ``mg`` of the gradient; ``step = momentum · step + learning_rate · gradient / √(rms + epsilon)``.

    With ``centered``, the root is of ``rms − mg² + epsilon``, an estimate of the variance. ``parameter -= step``.
    """

    learning_rate: Any
    decay: Any = 0.9
    momentum: Any = 0.0
    epsilon: Any = 1e-10
    centered: bool = False

    def slots(self) -> tuple[Slot, ...]:
        """The running mean of squares, one at first as in TensorFlow; the running mean, if centered; the last step."""
        mean = (Slot("mg", 0.0),) if self.centered else ()
        return (Slot("rms", 1.0), *mean, Slot("momentum", 0.0))

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        square = xp.multiply(gradient, gradient, out=xp.empty_like(parameter))
        rms = _running_mean(xp, slots[0], square, 1 - self.decay, out=square)
        scale = xp.empty_like(parameter)
        if self.centered:
            mg = _running_mean(xp, slots[1], gradient, 1 - self.decay, out=xp.empty_like(parameter))
            xp.multiply(mg, mg, out=scale)
            xp.subtract(rms, scale, out=scale)
            scale += self.epsilon
            means: Arrays = (rms, mg)
        else:
            xp.add(rms, self.epsilon, out=scale)
            means = (rms,)
        xp.sqrt(scale, out=scale)
        xp.divide(gradient, scale, out=scale)
        scale *= self.learning_rate
        step = xp.multiply(slots[-1], self.momentum, out=xp.empty_like(parameter))
        step += scale
        return xp.subtract(parameter, step, out=scale), (*means, step)


class Adam(NamedTuple):
    """Adam (Kingma and Ba, 2014), in the form before section 2.1 of the paper: ``epsilon`` is its "epsilon hat".

    ``m`` and ``v`` are running means of the gradient and of its square; ``parameter -= α · m / (√v + epsilon)`` with
    ``α = learning_rate · √(1 − beta2ᵗ) / (1 − beta1ᵗ)`` at step t = 1, 2, …
    """

    learning_rate: Any = 0.001
    beta1: Any = 0.9
    beta2: Any = 0.999
    epsilon: Any = 1e-8

    def slots(self) -> tuple[Slot, ...]:
        """The two running means, zero at first, and the powers beta1ᵗ and beta2ᵗ of the coming step.

        TensorFlow keeps one pair of powers for all variables. Here every variable has its own, so that an update needs nothing from another task,
        and the powers change with the variable in one critical section. The results are the same.
        """
        return (Slot("m", 0.0), Slot("v", 0.0), Slot("beta1_power", self.beta1, scalar=True), Slot("beta2_power", self.beta2, scalar=True))

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        m, v, beta1_power, beta2_power = slots
        m = _running_mean(xp, m, gradient, 1 - self.beta1, out=xp.empty_like(parameter))
        square = xp.multiply(gradient, gradient, out=xp.empty_like(parameter))
        v = _running_mean(xp, v, square, 1 - self.beta2, out=square)
        step = xp.sqrt(v, out=xp.empty_like(parameter))
        step += self.epsilon
        xp.divide(m, step, out=step)
        alpha = self.learning_rate * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
        powers = (xp.asarray(beta1_power * self.beta1), xp.asarray(beta2_power * self.beta2))
        return _descend(xp, parameter, step, alpha, out=step), (m, v, *powers)


class Adadelta(NamedTuple):
    """Adadelta (Zeiler, 2012): ``step = gradient · √(accum_update + epsilon) / √(accum + epsilon)``; ``parameter -= learning_rate · step``.

    ``accum`` is a running mean of gradient², ``accum_update`` one of step², as it was before this step.
    """

    learning_rate: Any = 0.001
    rho: Any = 0.95
    epsilon: Any = 1e-8

    def slots(self) -> tuple[Slot, ...]:
        """The two running means, zero at first."""
        return (Slot("accum", 0.0), Slot("accum_update", 0.0))

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        square = xp.multiply(gradient, gradient, out=xp.empty_like(parameter))
        accum = _running_mean(xp, slots[0], square, 1 - self.rho, out=square)
        step = xp.add(slots[1], self.epsilon, out=xp.empty_like(parameter))
        step /= accum + self.epsilon
        xp.sqrt(step, out=step)
        step *= gradient
        square = xp.multiply(step, step, out=xp.empty_like(parameter))
        accum_update = _running_mean(xp, slots[1], square, 1 - self.rho, out=square)
        return _descend(xp, parameter, step, self.learning_rate, out=step), (accum, accum_update)


class Ftrl(NamedTuple):
    """Follow the regularised leader, by coordinate (McMahan et al., 2013).

    ``accum`` is the sum of gradient²; with ``rate(a) = learning_rate · a ^ learning_rate_power``,
    ``linear += gradient − (1 / rate(accum after) − 1 / rate(accum before)) · parameter`` and
    ``parameter = (sign(linear) · l1 − linear) / (1 / rate(accum) + 2 · l2)`` where ``|linear| > l1``, else 0.
    With shrinkage, ``linear`` is moved by ``gradient + 2 · l2_shrinkage · parameter`` instead.
    """

    learning_rate: Any
    learning_rate_power: Any = -0.5
    l1: Any = 0.0
    l2: Any = 0.0
    l2_shrinkage: Any = 0.0
    initial_accumulator_value: float = 0.1

    def slots(self) -> tuple[Slot, ...]:
        """The sum of squared gradients, and the linear term."""
        return (Slot("accum", self.initial_accumulator_value), Slot("linear", 0.0))

    def update(self, xp: Any, parameter: Any, slots: Sequence[Any], gradient: Any) -> tuple[Any, Arrays]:
        """One step; see `Rule.update`."""
        before, linear = slots
        accum = xp.multiply(gradient, gradient, out=xp.empty_like(parameter))
        accum += before
        strength = xp.power(accum, -self.learning_rate_power, out=xp.empty_like(parameter))
        pull = xp.power(before, -self.learning_rate_power, out=xp.empty_like(parameter))
        xp.subtract(strength, pull, out=pull)
        pull *= parameter
        pull /= self.learning_rate
        shrunk = xp.multiply(parameter, 2 * self.l2_shrinkage, out=xp.empty_like(parameter))
        shrunk += gradient
        shrunk += linear
        linear = xp.subtract(shrunk, pull, out=shrunk)
        strength /= self.learning_rate
        strength += 2 * self.l2
        beyond = xp.sign(linear) * self.l1 - linear
        beyond = xp.where(xp.abs(linear) > self.l1, beyond, 0)
        return xp.divide(beyond, strength, out=strength), (accum, linear)


def _descend(xp: Any, parameter: Any, direction: Any, rate: Any, out: Any = None) -> Any:
    """``parameter − rate · direction``, in ``out`` or in a fresh array. With ``out=``, an array of rank 0 stays an array."""
    step = xp.multiply(direction, rate, out=xp.empty_like(parameter) if out is None else out)
    return xp.subtract(parameter, step, out=step)


def _running_mean(xp: Any, mean: Any, value: Any, weight: Any, out: Any) -> Any:
    """``mean + weight · (value − mean)``, in ``out``, which may be ``value`` itself."""
    xp.subtract(value, mean, out=out)
    out *= weight
    out += mean
    return out

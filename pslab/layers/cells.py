"""The cells themselves: plain, gated, and with long short-term memory. Variables have TensorFlow's names, and gates its order."""

from __future__ import annotations

from typing import Any, NamedTuple

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.dtypes import DType
from pslab.graph.initializers import constant_initializer, zeros_initializer
from pslab.graph.ops.activations import sigmoid, tanh
from pslab.graph.ops.clip import clip_by_value
from pslab.graph.ops.joining import concat, split
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.nn import bias_add
from pslab.graph.tensor import Tensor
from pslab.layers.cell import RNNCell
from pslab.layers.making import Activation, units_in
from pslab.layers.variable_store import Reuse


class _OneStateCell(RNNCell):
    """A cell whose new state is its output: as many numbers as it has units."""

    def __init__(self, num_units: int, activation: Activation | None, reuse: Reuse, name: str | None, dtype: DType | Any) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse)
        self._units = num_units
        self._activation = activation or tanh

    @property
    def state_size(self) -> int:
        """The number of units."""
        return self._units

    @property
    def output_size(self) -> int:
        """The number of units."""
        return self._units


class BasicRNNCell(_OneStateCell):
    """``output = new_state = activation([input, state] · kernel + bias)``."""

    def __init__(
        self, num_units: int, activation: Activation | None = None, reuse: Reuse = None, name: str | None = None, dtype: DType | Any = None
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs: Tensor) -> None:
        """Make ``kernel`` and ``bias``."""
        self._kernel = self.weights("kernel", [units_in(inputs) + self._units, self._units], inputs)
        self._bias = self.weights("bias", [self._units], inputs, zeros_initializer())

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        """One step."""
        output = self._activation(_affine([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(_OneStateCell):
    """A gated recurrent unit (Cho et al., 2014): gates r and u; ``new_state = u · state + (1 − u) · candidate``."""

    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: Reuse = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: DType | Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs: Tensor) -> None:
        """Make the kernels and biases of ``gates`` and ``candidate``; the gates' biases begin at 1, so that the cell remembers at first."""
        units, length = self._units, units_in(inputs) + self._units
        ones, nothing = self._bias_initializer or constant_initializer(1.0), self._bias_initializer or zeros_initializer()
        self._gates = self.weights("gates/kernel", [length, 2 * units], inputs, self._kernel_initializer)
        self._gates_bias = self.weights("gates/bias", [2 * units], inputs, ones)
        self._candidate = self.weights("candidate/kernel", [length, units], inputs, self._kernel_initializer)
        self._candidate_bias = self.weights("candidate/bias", [units], inputs, nothing)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        """One step."""
        r, u = split(sigmoid(_affine([inputs, state], self._gates, self._gates_bias)), 2, 1)
        candidate = self._activation(_affine([inputs, r * state], self._candidate, self._candidate_bias))
        new = u * state + (1.0 - u) * candidate
        return new, new


class LSTMStateTuple(NamedTuple):
    """The state of an LSTM: the cell's own, and its last output."""

    c: Any
    h: Any

    @property
    def dtype(self) -> DType:
        """Element type of both."""
        return convert_to_tensor(self.c).dtype


class LSTMCell(RNNCell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; Sak et al., 2014), with peepholes and a projection if wanted.

    ``c = sigmoid(f + forget_bias) · c + sigmoid(i) · activation(j)`` and ``h = sigmoid(o) · activation(c)``, where i, j, f, o are the four parts of
    ``[input, h] · kernel + bias``.

    Args:
        num_units: number of units.
        use_peepholes: let the gates see c, by the vectors ``w_f_diag``, ``w_i_diag``, ``w_o_diag``.
        cell_clip: a bound of c, either way.
        initializer: of the kernels.
        num_proj: length of h and of the output, to which the matrix ``projection/kernel`` takes it.
        proj_clip: a bound of the projection, either way.
        num_unit_shards: changes nothing.
        num_proj_shards: changes nothing.
        forget_bias: added to the forget gate, so that the cell remembers at first.
        state_is_tuple: whether the state is an `LSTMStateTuple`; else c and h lie next to each other in one tensor.
        activation: tanh by default.
        reuse: whether to share variables that are there.
        name: of the scope.
        dtype: of the variables; the input's by default.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: Reuse = None,
        name: str | None = None,
        dtype: DType | Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype, reuse=reuse)
        self._units = num_units
        self._peepholes = use_peepholes
        self._clip, self._projection_clip = cell_clip, proj_clip
        self._initializer = initializer
        self._projection_units = num_proj
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation or tanh

    @property
    def state_size(self) -> Any:
        """The lengths of c and h, or their sum if the state is one tensor."""
        sizes = LSTMStateTuple(self._units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        """The length of h."""
        return self._units if self._projection_units is None else self._projection_units

    def build(self, inputs: Tensor) -> None:
        """Make ``kernel`` and ``bias``, and what peepholes and projection need."""
        self._kernel = self.weights("kernel", [units_in(inputs) + self.output_size, 4 * self._units], inputs, self._initializer)
        self._bias = self.weights("bias", [4 * self._units], inputs, zeros_initializer())
        if self._peepholes:
            self._from_c = [self.weights(f"w_{gate}_diag", [self._units], inputs, self._initializer) for gate in "fio"]
        if self._projection_units is not None:
            self._projection = self.weights("projection/kernel", [self._units, self._projection_units], inputs, self._initializer)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        """One step."""
        c, h = state if self._state_is_tuple else split(state, [self._units, self.output_size], 1)
        i, j, f, o = split(_affine([inputs, h], self._kernel, self._bias), 4, 1)
        if self._peepholes:
            f, i = f + self._from_c[0] * c, i + self._from_c[1] * c
        c = _bounded(sigmoid(f + self._forget_bias) * c + sigmoid(i) * self._activation(j), self._clip)
        h = sigmoid(o + self._from_c[2] * c if self._peepholes else o) * self._activation(c)
        if self._projection_units is not None:
            h = _bounded(matmul(h, self._projection), self._projection_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)


class BasicLSTMCell(LSTMCell):
    """`LSTMCell` without peepholes, bounds and projection."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Activation | None = None,
        reuse: Reuse = None,
        name: str | None = None,
        dtype: DType | Any = None,
    ) -> None:
        super().__init__(
            num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation, reuse=reuse, name=name, dtype=dtype
        )


def _affine(parts: list[Any], kernel: Any, bias: Any) -> Tensor:
    return bias_add(matmul(concat(parts, 1), kernel), bias)


def _bounded(x: Tensor, bound: float | None) -> Tensor:
    if bound is not None and bound <= 0:
        raise ShapeError(f"a bound must be positive, found {bound}")
    return x if bound is None else clip_by_value(x, -bound, bound)

"""Variables: the parameters of a model. Their values live in the store of the task they are placed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pslab.errors import GraphError, InvalidArgumentError
from pslab.graph.build import apply, apply_one, apply_op, convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph, require_session
from pslab.graph.dtypes import DType
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops import state as state_ops
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


class Variable:
    """A value that outlives a step (TensorFlow 1's ``tf.Variable``).

    It adds four ops: the variable itself, its initial value, the assignment of that (``initializer``), and a read. An update publishes a new array, so a value
    that was read never changes under the reader.

    Args:
        initial_value: a tensor, a value, or a function without arguments that returns one. Its static shape becomes the variable's.
        trainable: whether optimizers train it by default.
        collections: graph collections to join; the global variables by default.
        validate_shape: False, if values of other shapes may be assigned later; the static shape is not known then.
        caching_device: changes nothing.
        name: name of the variable op.
        dtype: element type; that of ``initial_value`` by default.

    Raises:
        GraphError: no initial value.
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool = True,
        collections: list[str] | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: DType | Any = None,
    ) -> None:
        if initial_value is None:
            raise GraphError("a variable needs an initial value", "for example pslab.zeros([10])")
        graph = get_default_graph()
        with graph.name_scope(name or "Variable") as scope, graph.control_dependencies(None):
            if callable(initial_value):
                with graph.name_scope("Initializer"), graph.device(None):
                    initial = convert_to_tensor(initial_value(), dtype, "initial_value")
            else:
                initial = convert_to_tensor(initial_value, dtype, "initial_value")
            shape = initial.shape if validate_shape else TensorShape(None)
            full_name = scope.rstrip("/")
            self._attrs: dict[str, Any] = {"variable": full_name, "dtype": initial.dtype.name, "shape": shape.dims}
            self.op: Operation = graph.create_op("VariableV2", (), dict(self._attrs), scope)
            with graph.colocate_with(self.op):
                self.initializer: Operation = apply_op("Assign", [initial], "Assign", **self._attrs)
                self._read: Tensor = apply("ReadVariable", [], "read", **self._attrs)
        self.initial_value = initial
        self.trainable = trainable
        joined = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if trainable and GraphKeys.TRAINABLE_VARIABLES not in joined:
            joined.append(GraphKeys.TRAINABLE_VARIABLES)
        for key in joined:
            graph.add_to_collection(key, self)

    @classmethod
    def of_ops(cls, op: Operation, initializer: Operation, read: Tensor, initial_value: Tensor, trainable: bool) -> Variable:
        """The variable whose ops a graph has already, such as one that was read from a file. It joins no collection.

        Raises:
            InvalidArgumentError: the ops are not those of one variable.
        """
        about = (op.type == "VariableV2", initializer.type == "Assign", read.op.type in state_ops.READS, initial_value.dtype is read.dtype)
        if not all(about) or any(o.attrs.get("variable") != op.name for o in (op, initializer, read.op)):
            raise InvalidArgumentError(f"{op.name!r}, {initializer.name!r} and {read.name!r} are not the ops of one variable")
        self = cls.__new__(cls)
        self._attrs = dict(op.attrs)
        self.op, self.initializer, self._read = op, initializer, read
        self.initial_value, self.trainable = initial_value, trainable
        return self

    @property
    def name(self) -> str:
        """``"scope/name:0"``."""
        return f"{self.op.name}:0"

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self.op.graph

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._read.dtype

    @property
    def shape(self) -> TensorShape:
        """Static shape."""
        return self._read.shape

    def get_shape(self) -> TensorShape:
        """Static shape, by TensorFlow 1's name."""
        return self.shape

    @property
    def device(self) -> str:
        """The device asked for, possibly partial."""
        return self.op.device

    def value(self) -> Tensor:
        """The read that all uses of the variable share."""
        return self._read

    def read_value(self, name: str | None = None) -> Tensor:
        """A fresh read: with `control_dependencies`, one that happens after other ops."""
        with self.graph.colocate_with(self.op):
            return apply_one("ReadVariable", [], name or f"{self.op.name.rsplit('/', 1)[-1]}/read", **self._attrs)

    def initialized_value(self) -> Tensor:
        """The initial value, for other variables' initial values."""
        return self.initial_value

    def assign(self, value: Any, use_locking: bool = True, name: str | None = None) -> Tensor:
        """An op that replaces the value; its output is the new one."""
        return self._update("Assign", value, name)

    def assign_add(self, delta: Any, use_locking: bool = True, name: str | None = None) -> Tensor:
        """An op that adds ``delta``; its output is the new value."""
        return self._update("AssignAdd", delta, name)

    def assign_sub(self, delta: Any, use_locking: bool = True, name: str | None = None) -> Tensor:
        """An op that subtracts ``delta``; its output is the new value."""
        return self._update("AssignSub", delta, name)

    def count_up_to(self, limit: int) -> Tensor:
        """An op that adds 1 to an integer scalar; its output is the value before.

        Raises:
            OutOfRangeError: (when it runs) the value is ``limit`` already.
        """
        return count_up_to(self, limit)

    def _update(self, type: str, value: Any, name: str | None) -> Tensor:
        tensor = convert_to_tensor(value, self.dtype, like=self._read)
        with self.graph.colocate_with(self.op):
            return apply_one(type, [tensor], name, **self._attrs)

    def load(self, value: Any, session: Any = None) -> None:
        """Replace the value now, in ``session`` or the default one."""
        tensor = self.initializer.inputs[0]
        (session or require_session()).run(self.initializer, {tensor: value})

    def eval(self, session: Any = None) -> Any:
        """The present value, from ``session`` or the default one."""
        return self._read.eval(session=session)

    def _as_tensor(self) -> Tensor:
        return self._read

    def _as_graph_element(self) -> Tensor:
        return self._read

    def _all_reads(self) -> Iterator[Tensor]:
        for op in self.graph.operations:
            if op.type in state_ops.READS and op.attrs["variable"] == self.op.name:
                yield op.outputs[0]

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __getitem__(self, key: Any) -> Tensor:
        return self._read[key]

    def __iter__(self) -> Iterator[Tensor]:
        raise TypeError(f"variable {self.name} cannot be iterated; use pslab.unstack")

    def __repr__(self) -> str:
        return f"<pslab.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


def _operator(name: str) -> Callable[..., Any]:
    def apply_to_value(self: Variable, *others: Any) -> Any:
        return getattr(self._as_tensor(), name)(*others)

    return apply_to_value


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge")
for _name in [*_BINARY, *(f"r{n}" for n in _BINARY[:8]), "neg", "abs"]:
    setattr(Variable, f"__{_name}__", _operator(f"__{_name}__"))


def global_variables(scope: str | None = None) -> list[Variable]:
    """The default graph's variables that all tasks share, in the order they were made."""
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Variable]:
    """The default graph's variables that belong to one task."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """The variables that optimizers train by default."""
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Variable]:
    """The variables that layers of ``contrib`` made."""
    return get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Variable]:
    """The variables of which a moving average is kept."""
    return get_default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: list[Variable], name: str = "init") -> Operation:
    """An op that gives each variable its initial value."""
    from pslab.graph.ops.sources import group

    return group(*[v.initializer for v in var_list], name=name)


def global_variables_initializer() -> Operation:
    """An op that gives all global variables their initial values."""
    return variables_initializer(global_variables(), "init")


def local_variables_initializer() -> Operation:
    """An op that gives all local variables their initial values."""
    return variables_initializer(local_variables(), "init_local")


def is_variable_initialized(variable: Variable) -> Tensor:
    """A boolean scalar: whether the variable has a value."""
    with variable.graph.colocate_with(variable.op):
        return apply_one("IsVariableInitialized", [], **variable._attrs)


def assign(ref: Variable, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """`Variable.assign`, by TensorFlow 1's function. ``validate_shape`` and ``use_locking`` change nothing."""
    return ref.assign(value, name=name)


def assign_add(ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """`Variable.assign_add`, by TensorFlow 1's function. ``use_locking`` changes nothing."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Variable, value: Any, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """`Variable.assign_sub`, by TensorFlow 1's function. ``use_locking`` changes nothing."""
    return ref.assign_sub(value, name=name)


def count_up_to(ref: Variable, limit: int, name: str | None = None) -> Tensor:
    """`Variable.count_up_to`, by TensorFlow 1's function.

    Raises:
        GraphError: the variable is no integer scalar.
    """
    if not ref.dtype.is_integer or not ref.shape.is_compatible_with([]):
        raise GraphError(f"only an integer scalar counts; {ref.name} is {ref.dtype.name} of shape {ref.shape}")
    with ref.graph.colocate_with(ref.op):
        return apply_one("CountUpTo", [], name, **ref._attrs, limit=int(limit))

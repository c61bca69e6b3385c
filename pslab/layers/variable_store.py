"""The variables of a graph that are shared by name: `get_variable` makes one, or finds the one that is there."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype, float32
from pslab.graph.initializers import glorot_uniform_initializer, zeros_initializer
from pslab.graph.ops.slicing import slice_
from pslab.graph.shape import TensorShape
from pslab.graph.variables import Variable
from pslab.layers.partitioned_variable import PartitionedVariable, slices

AUTO_REUSE = "AUTO_REUSE"
"""For ``reuse=``: share the variable if it is there, else make it."""

Reuse = bool | str | None


@dataclass(frozen=True)
class PartitionInfo:
    """What an initializer is told of a part of a variable: the shape of the whole, and where the part begins."""

    full_shape: tuple[int, ...]
    var_offset: tuple[int, ...]


class VariableStore:
    """The shared variables of one graph, by their full names."""

    def __init__(self) -> None:
        self._variables: dict[str, Variable] = {}
        self._partitioned: dict[str, PartitionedVariable] = {}

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: DType | Any = float32,
        initializer: Any = None,
        regularizer: Callable[[Any], Any] | None = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: Sequence[str] | None = None,
        partitioner: Callable[..., Sequence[int]] | None = None,
        validate_shape: bool = True,
    ) -> Variable | PartitionedVariable:
        """The variable of this full name: see `pslab.get_variable`."""
        options: dict[str, Any] = {
            "regularizer": regularizer,
            "reuse": reuse,
            "trainable": trainable,
            "collections": collections,
            "validate_shape": validate_shape,
        }
        if partitioner is not None and TensorShape(shape).ndims != 0:
            return self._whole(name, shape, as_dtype(dtype), initializer, partitioner, options)
        if name in self._partitioned and reuse:
            return self._partitioned[name]
        if f"{name}/part_0" in self._variables:
            raise GraphError(f"variable {name!r} was made in parts, {name}/part_0 is one; no partitioner was given now", "give the same partitioner")
        return self._single(name, shape, as_dtype(dtype), initializer, **options)

    def _single(
        self,
        name: str,
        shape: Any,
        dtype: DType,
        initializer: Any,
        regularizer: Callable[[Any], Any] | None,
        reuse: Reuse,
        trainable: bool | None,
        collections: Sequence[str] | None,
        validate_shape: bool,
    ) -> Variable:
        is_value = initializer is not None and not callable(initializer)
        if is_value and shape is not None:
            raise GraphError(f"variable {name!r}: an initializer that is a value has a shape of its own", "leave out shape=")
        wanted = TensorShape(shape)
        if name in self._variables:
            return _shared(self._variables[name], name, wanted, dtype, reuse)
        if reuse is True:
            raise GraphError(
                f"variable {name!r} does not exist, or was not made with get_variable()", "reuse=pslab.AUTO_REUSE makes it where it is missing"
            )
        variable = Variable(
            initializer if is_value else _initial_value(name, wanted, dtype, initializer),
            trainable=trainable is not False,
            collections=None if collections is None else list(collections),
            validate_shape=validate_shape,
            name=name,
            dtype=None if is_value else dtype,
        )
        self._variables[name] = variable
        if regularizer is not None:
            graph = variable.graph
            with graph.colocate_with(variable.op), graph.name_scope(f"{name}/Regularizer/"):
                loss = regularizer(variable)
            if loss is not None:
                graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable

    def _whole(
        self, name: str, shape: Any, dtype: DType, initializer: Any, partitioner: Callable[..., Sequence[int]], options: dict[str, Any]
    ) -> PartitionedVariable:
        """A variable in parts: each is a variable of its own, ``name/part_0``, …, initialised as a slice of the whole would be."""
        if name in self._variables:
            raise GraphError(f"variable {name!r} exists already, in one piece; a partitioner was given now", "leave out partitioner=")
        is_value = initializer is not None and not callable(initializer)
        if is_value:
            initializer = convert_to_tensor(initializer)
        full = TensorShape(initializer.shape if is_value else shape)
        if not full.is_fully_defined():
            raise GraphError(f"the shape of the new variable {name!r} must be fully known to be partitioned, found {full}")
        partitions = tuple(int(p) for p in partitioner(shape=full, dtype=dtype))
        if (found := self._partitioned.get(name)) is not None and options["reuse"]:
            return _shared_whole(found, full, dtype, partitions)
        parts = []
        for i, (offset, size) in enumerate(slices(name, full, partitions)):
            made_by = slice_(initializer, offset, size) if is_value else _part_of(initializer, PartitionInfo(full.as_tuple(), offset))
            parts.append(self._single(f"{name}/part_{i}", None if is_value else size, dtype, made_by, **options))
        self._partitioned[name] = PartitionedVariable(name, full, dtype, parts, partitions)
        return self._partitioned[name]


def _shared(found: Variable, name: str, shape: TensorShape, dtype: DType, reuse: Reuse) -> Variable:
    if not reuse:
        raise GraphError(
            f"variable {name!r} exists already, and is not to be shared",
            f"set reuse=True or reuse=pslab.AUTO_REUSE in its variable_scope; it was made at {found.op.origin}",
        )
    if not shape.is_compatible_with(found.shape):
        raise GraphError(f"variable {name!r} cannot be shared: shape {shape} was asked for, it has shape {found.shape}")
    if dtype is not found.dtype:
        raise GraphError(f"variable {name!r} cannot be shared: dtype {dtype.name} was asked for, it has dtype {found.dtype.name}")
    return found


def _shared_whole(found: PartitionedVariable, shape: TensorShape, dtype: DType, partitions: tuple[int, ...]) -> PartitionedVariable:
    wanted, there = (shape, dtype.name, partitions), (found.shape, found.dtype.name, found.partitions)
    if wanted != there:
        described = [f"shape {s}, dtype {d} and partitions {list(p)}" for s, d, p in (wanted, there)]
        raise GraphError(f"variable {found.name!r} cannot be shared: {described[0]} were asked for, it has {described[1]}")
    return found


def _initial_value(name: str, shape: TensorShape, dtype: DType, initializer: Any) -> Callable[[], Any]:
    """A function without arguments that makes the initial value: ``initializer``, or TensorFlow's default, told the shape and the dtype."""
    if initializer is None:
        initializer = glorot_uniform_initializer() if dtype.is_floating else zeros_initializer()
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        return functools.partial(initializer, list(shape.as_tuple()), dtype=dtype)
    if inspect.isfunction(initializer) and not inspect.signature(initializer).parameters:
        return initializer
    raise GraphError(f"the shape of the new variable {name!r} must be fully known, found {shape}", "give shape=, or an initial value as initializer=")


def _part_of(initializer: Any, info: PartitionInfo) -> Any:
    """``initializer`` told of the part it is for, if it wants to know."""
    if initializer is None:
        initializer = glorot_uniform_initializer()
    if inspect.isclass(initializer):
        initializer = initializer()
    wants = "partition_info" in inspect.signature(initializer).parameters
    return functools.partial(initializer, partition_info=info) if wants else initializer


_COLLECTION = "__variable_store"


def default_store() -> VariableStore:
    """The store of the default graph."""
    graph = get_default_graph()
    found = graph.get_collection(_COLLECTION)
    if not found:
        graph.add_to_collection(_COLLECTION, VariableStore())
        return default_store()
    return found[0]  # type: ignore[no-any-return]

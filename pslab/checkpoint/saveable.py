"""What a saver saves: a variable, or the parts of one that was split, under a name in the checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pslab.checkpoint.data_file import Array
from pslab.errors import UsageError
from pslab.graph.dtypes import DType, string
from pslab.graph.shape import TensorShape
from pslab.graph.variables import Variable


@dataclass(frozen=True, slots=True)
class Part:
    """A variable, and where it lies in the array of its name: its first index along each axis, or None where it is the whole of it."""

    variable: Variable
    offset: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Saveable:
    """An array of a checkpoint.

    Attributes:
        shape: its static shape.
        parts: the variables that hold it.
    """

    shape: TensorShape
    parts: tuple[Part, ...]

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.parts[0].variable.dtype

    def joined(self, values: Iterable[Array]) -> Array:
        """The array that the values of its parts make."""
        arrays = list(values)
        if self.parts[0].offset is None:
            return np.asarray(arrays[0])
        whole = np.zeros(self.shape.as_tuple(), self.dtype.as_numpy_dtype)
        for part, array in zip(self.parts, arrays, strict=True):
            whole[_place(part)] = array
        return whole

    def split(self, array: Array) -> list[Array]:
        """The values of its parts."""
        whole = array.reshape(self.shape.as_tuple()) if self.shape.is_fully_defined() else array
        return [whole if part.offset is None else whole[_place(part)] for part in self.parts]


def saveables(var_list: Any) -> dict[str, Saveable]:
    """What a saver's ``var_list`` means, by names in the checkpoint.

    Args:
        var_list: variables, split variables, or a dict to them from names.

    Raises:
        UsageError: something else, a name that comes twice, or a variable of dtype ``string``.
    """
    named: dict[str, list[Variable]] = {}
    split: set[str] = set()
    for given, thing in var_list.items() if isinstance(var_list, Mapping) else [(None, thing) for thing in var_list]:
        variables = _variables(thing)
        info = getattr(variables[0], "_save_slice_info", None)
        name = given if given is not None else variables[0].op.name if info is None else info.full_name
        if name in named and (info is None or name not in split):
            raise UsageError(f"two variables would have the name {name!r} in the checkpoint", "give a dict from names to variables")
        named.setdefault(name, []).extend(variables)
        if info is not None:
            split.add(name)
    return {name: _saveable(variables, name in split) for name, variables in named.items()}


def _variables(thing: Any) -> list[Variable]:
    """A variable, or the parts of a split one, which lists them as TensorFlow's ``PartitionedVariable`` does."""
    parts = thing._get_variable_list() if hasattr(thing, "_get_variable_list") else thing if isinstance(thing, list | tuple) else [thing]
    for variable in parts:
        if not isinstance(variable, Variable):
            raise UsageError(f"a Saver saves variables, not {type(variable).__name__}: {variable!r}")
        if variable.dtype is string:
            raise UsageError(f"a checkpoint cannot hold variable {variable.name!r}: its dtype is string", "leave it out of var_list")
    if not parts:
        raise UsageError(f"a Saver saves variables, not {thing!r}")
    return list(parts)


def _saveable(variables: list[Variable], split: bool) -> Saveable:
    if not split:
        if len(variables) > 1:
            raise UsageError(f"{', '.join(v.name for v in variables)} are not the parts of one variable", "give each a name of its own")
        return Saveable(variables[0].shape, (Part(variables[0], None),))
    infos = [v._save_slice_info for v in variables]  # type: ignore[attr-defined]
    return Saveable(TensorShape(infos[0].full_shape), tuple(Part(v, tuple(i.var_offset)) for v, i in zip(variables, infos, strict=True)))


def _place(part: Part) -> tuple[slice, ...]:
    return tuple(slice(start, start + length) for start, length in zip(part.offset or (), part.variable.shape.as_tuple(), strict=True))

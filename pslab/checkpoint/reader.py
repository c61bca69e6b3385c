"""Looking into checkpoints without a model: TensorFlow 1's readers, and variables that take their initial values from one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from pslab.checkpoint.data_file import Array
from pslab.checkpoint.files import open_checkpoint
from pslab.checkpoint.match import match
from pslab.checkpoint.saveable import Saveable, saveables
from pslab.checkpoint.state import latest_checkpoint
from pslab.errors import NotFoundError, UsageError
from pslab.graph.build import apply_op, constant_in
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype
from pslab.graph.variables import Variable


class CheckpointReader:
    """Reads the arrays of a checkpoint (what TensorFlow 1's ``tf.train.NewCheckpointReader`` returns).

    Args:
        filepattern: the checkpoint's prefix.

    Raises:
        NotFoundError, DataLossError: there is none, or it is damaged.
    """

    def __init__(self, filepattern: str | os.PathLike[str]) -> None:
        self._checkpoint = open_checkpoint(filepattern)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Shapes by name."""
        return {name: list(shape) for name, shape in self._checkpoint.shapes.items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Element types by name."""
        return {name: as_dtype(dtype) for name, dtype in self._checkpoint.dtypes.items()}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is an array of this name."""
        return tensor_str in self._checkpoint

    def get_tensor(self, tensor_str: str) -> Array:
        """The array of this name, as the caller's own; of rank 0, a scalar.

        Raises:
            NotFoundError: there is none.
            DataLossError: its bytes are not those that were written.
        """
        array = self._checkpoint.read(tensor_str)
        return array[()] if array.ndim == 0 else array

    def debug_string(self) -> str:
        """A line per array: name, element type, shape."""
        return "\n".join(f"{name} ({dtype}) {list(self._checkpoint.shapes[name])}" for name, dtype in self._checkpoint.dtypes.items())


def load_checkpoint(ckpt_dir_or_file: str | os.PathLike[str]) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one of a directory.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is damaged.
    """
    if os.path.isdir(ckpt_dir_or_file):
        latest = latest_checkpoint(ckpt_dir_or_file)
        if latest is None:
            raise NotFoundError(f"there is no checkpoint in {os.fspath(ckpt_dir_or_file)}", "name the checkpoint by its prefix")
        return CheckpointReader(latest)
    return CheckpointReader(ckpt_dir_or_file)


def load_variable(ckpt_dir_or_file: str | os.PathLike[str], name: str) -> Array:
    """The array of a name, which may end in ``:0``, of a checkpoint or of the latest one of a directory."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str | os.PathLike[str]) -> list[tuple[str, list[int]]]:
    """Names and shapes of a checkpoint's arrays, in order of the alphabet."""
    return list(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def init_from_checkpoint(ckpt_dir_or_file: str | os.PathLike[str], assignment_map: Mapping[str, Any]) -> None:
    """Let variables take their initial values from a checkpoint (TensorFlow 1's ``tf.train.init_from_checkpoint``).

    The values are read now, and become part of the graph; the variables' initializers give them.

    Args:
        ckpt_dir_or_file: a checkpoint, or a directory whose latest one it is.
        assignment_map: from a name in the checkpoint to a variable, its name, or the list of a split variable's parts; or from a scope in the checkpoint
            to one of the graph, both with ``/`` at the end (``"/"`` is the root), for all variables of that scope.

    Raises:
        UsageError: a scope or a variable is not in the graph.
        NotFoundError, InvalidArgumentError: the checkpoint lacks arrays, or they do not fit; every mismatch is listed.
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    wanted = saveables(dict(_assignments(assignment_map)))
    match(reader._checkpoint, {name: (one.dtype, one.shape) for name, one in wanted.items()})
    for name, one in wanted.items():
        _initialise(one, reader._checkpoint.read(name))


def _assignments(assignment_map: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    variables = {v.op.name: v for v in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)}
    for source, target in assignment_map.items():
        if isinstance(target, str) and source.endswith("/"):
            scope = target.lstrip("/")
            found = {name: v for name, v in variables.items() if name.startswith(scope)}
            if not target.endswith("/") or not found:
                raise UsageError(f"the graph has no variables in scope {target!r}", f"it has {', '.join(variables) or 'none'}")
            for name, variable in found.items():
                yield source.lstrip("/") + name.removeprefix(scope), variable
        elif isinstance(target, str) and target not in variables:
            raise UsageError(f"the graph has no variable {target!r}", f"it has {', '.join(variables) or 'none'}")
        else:
            yield source, variables[target] if isinstance(target, str) else target


def _initialise(one: Saveable, array: Array) -> None:
    for part, value in zip(one.parts, one.split(array), strict=True):
        variable: Variable = part.variable
        graph = variable.graph
        with graph.as_default(), graph.name_scope(f"{variable.op.name}/from_checkpoint/"), graph.colocate_with(variable.op):
            variable.initial_value = constant_in(graph, value, "value")
            variable.initializer = apply_op("Assign", [variable.initial_value], "Assign", **variable._attrs)

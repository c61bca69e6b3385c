"""`Saver`: variables of a session to checkpoints and back, with TensorFlow 1's signatures."""

from __future__ import annotations

import math
import operator
import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pslab.checkpoint.files import DATA_SUFFIX, Array, Checkpoint, checkpoint_prefix, open_checkpoint, remove_checkpoint, write_checkpoint
from pslab.checkpoint.match import Wanted, match
from pslab.checkpoint.retention import Retention
from pslab.checkpoint.state import checkpoint_exists, state_path, update_checkpoint_state
from pslab.errors import OpError, UsageError
from pslab.graph.dtypes import string
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import placeholder
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, global_variables


class Saver:
    """Writes variables to checkpoints, and reads them back (TensorFlow 1's ``tf.train.Saver``).

    Variables are addressed by name, so a checkpoint can be restored onto any number of ps tasks. The ops it needs are added to the graph when it is
    built; the graph may be finalized afterwards.

    Args:
        var_list: the variables: a list (in the file they have the names of their ops), or a dict by names in the file; all global variables if None.
        reshape: restore an array of another shape but as many elements into a variable.
        sharded: accepted for TensorFlow 1's programs: a checkpoint is one file, however many tasks there are.
        max_to_keep: how many of the checkpoints it wrote are kept; the oldest are deleted. None or 0 keeps all, and lists the last one only.
        keep_checkpoint_every_n_hours: of those to be deleted, one is kept each time this has passed.
        name: name scope of the ops; ``save`` by default.
        defer_build: add the ops in `build`, not now.
        allow_empty: be content with no variables; saving and restoring then do nothing.
        pad_step_number: write the step in a checkpoint's name with eight digits.

    Raises:
        UsageError: no variables, a name that comes twice, something that is no variable, or one of dtype ``string``.
    """

    def __init__(
        self,
        var_list: Iterable[Variable] | Mapping[str, Variable] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        *,
        defer_build: bool = False,
        allow_empty: bool = False,
        pad_step_number: bool = False,
    ) -> None:
        if defer_build and var_list is not None:
            raise UsageError("a Saver that is given its variables is built at once", "leave out defer_build or var_list")
        self._reshape = reshape
        self._name = name or "save"
        self._allow_empty = allow_empty
        self._step_format = "08d" if pad_step_number else "d"
        self._retention = Retention(max_to_keep, keep_checkpoint_every_n_hours, time.time())
        self._variables: dict[str, Variable] | None = None
        if not defer_build:
            self._build(var_list)

    def build(self) -> None:
        """Add the ops, if that was deferred."""
        if self._variables is None:
            self._build(None)

    def save(
        self,
        sess: Any,
        save_path: str | os.PathLike[str],
        global_step: int | Tensor | Variable | None = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
    ) -> str:
        """Write the variables to a checkpoint, as one step of the session reads them.

        Args:
            sess: the session in which the variables have values.
            save_path: prefix of the files; directories are made.
            global_step: a number, or a scalar that the same step reads, to add to the prefix: ``model.ckpt-100``.
            latest_filename: name of the state file; ``checkpoint`` by default.
            meta_graph_suffix: accepted for TensorFlow 1's programs.
            write_meta_graph: accepted for TensorFlow 1's programs: the ``.meta`` is small and always written.
            write_state: note the checkpoint in the state file, and delete the oldest ones.

        Returns:
            The checkpoint's absolute prefix, which `restore` takes.

        Raises:
            FailedPreconditionError: a variable has no value.
            UsageError: ``save_path`` or ``latest_filename`` is none.
            PermissionDeniedError, ResourceExhaustedError: it cannot be written; former checkpoints are untouched.
        """
        variables = self._built()
        prefix = checkpoint_prefix(save_path)
        state_path(os.path.dirname(prefix), latest_filename)  # refuses what is no name, before anything is written
        if not variables:
            return prefix
        fetches: dict[str, Any] = {"values": {name: variable.value() for name, variable in variables.items()}}
        if isinstance(global_step, Tensor | Variable):
            fetches["step"] = global_step
        fetched = sess.run(fetches)
        step = None if global_step is None else _as_step(fetched.get("step", global_step))
        prefix = write_checkpoint(
            prefix if step is None else f"{prefix}-{step:{self._step_format}}",
            {name: np.asarray(value) for name, value in fetched["values"].items()},
            global_step=step,
            devices={name: variable.device for name, variable in variables.items()},
        )
        if write_state:
            self._record(prefix, latest_filename)
        return prefix

    def restore(self, sess: Any, save_path: str | os.PathLike[str]) -> None:
        """Give the variables the values of a checkpoint. Everything is checked and read before any of them is assigned; then one step assigns all.

        Args:
            sess: the session whose tasks hold the variables; they need not be initialised.
            save_path: what `save` or `pslab.train.latest_checkpoint` returned.

        Raises:
            NotFoundError: there is no such checkpoint, or it lacks variables; every mismatch is listed.
            InvalidArgumentError: dtypes or shapes differ; every mismatch is listed.
            DataLossError: the file is truncated, or is not a checkpoint of pslab's.
            UsageError: ``save_path`` is none.
        """
        variables = self._built()
        if save_path is None:
            raise UsageError("there is no checkpoint to restore: save_path is None", "latest_checkpoint returns None if a directory has none")
        with open_checkpoint(save_path) as checkpoint:
            match(checkpoint, self._wanted(checkpoint))
            feeds = {self._fed[name]: _shaped(checkpoint.read(name), variable.shape) for name, variable in variables.items()}
        if feeds:
            sess.run(self._assigns, feeds)

    @property
    def last_checkpoints(self) -> list[str]:
        """Prefixes of the checkpoints that it wrote and keeps, the oldest first."""
        return self._retention.prefixes

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Let it think that it wrote these, the oldest first: they will be deleted in their turn."""
        self._retention.remember((checkpoint_prefix(path), math.inf) for path in last_checkpoints)

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: Sequence[tuple[str, float]]) -> None:
        """Let it think that it wrote these, the oldest first, at these times (seconds since 1970)."""
        self._retention.remember((checkpoint_prefix(path), written) for path, written in last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Take over, after a restart, those of these checkpoints that are there."""
        there = [prefix for prefix in map(checkpoint_prefix, checkpoint_paths) if checkpoint_exists(prefix)]
        self._retention.remember((prefix, os.path.getmtime(prefix + DATA_SUFFIX)) for prefix in there)

    # Parts

    def _build(self, var_list: Iterable[Variable] | Mapping[str, Variable] | None) -> None:
        variables = _by_name(global_variables() if var_list is None else var_list)
        if not variables and not self._allow_empty:
            raise UsageError("there are no variables to save", "build the model before the Saver, in the same graph")
        self._variables = variables
        self._fed: dict[str, Tensor] = {}
        self._assigns: list[Operation] = []
        if not variables:
            return
        graph = next(iter(variables.values())).graph
        with graph.as_default(), graph.name_scope(self._name), graph.control_dependencies(None):
            for name, variable in variables.items():
                with graph.colocate_with(variable.op):
                    self._fed[name] = placeholder(variable.dtype, variable.shape, "restored")
                self._assigns.append(variable.assign(self._fed[name], name="Assign").op)

    def _built(self) -> dict[str, Variable]:
        if self._variables is None:
            raise UsageError("this Saver was not built", "call its build() when the model is complete")
        return self._variables

    def _wanted(self, checkpoint: Checkpoint) -> Wanted:
        return {name: (variable.dtype, self._wanted_shape(checkpoint, name, variable.shape)) for name, variable in self._built().items()}

    def _wanted_shape(self, checkpoint: Checkpoint, name: str, shape: TensorShape) -> TensorShape:
        if self._reshape and name in checkpoint and math.prod(checkpoint.shapes[name]) == shape.num_elements():
            return TensorShape(checkpoint.shapes[name])
        return shape

    def _record(self, prefix: str, latest_filename: str | None) -> None:
        obsolete = self._retention.record(prefix, time.time())
        update_checkpoint_state(os.path.dirname(prefix), prefix, self.last_checkpoints, latest_filename)
        for old in obsolete:
            try:
                remove_checkpoint(old)
            except OpError as error:  # the new checkpoint is safe, and so is the training
                warnings.warn(f"an old checkpoint stays: {error.message}", stacklevel=3)


def _by_name(var_list: Iterable[Variable] | Mapping[str, Variable]) -> dict[str, Variable]:
    """The variables by their names in the file."""
    named: dict[str, Variable] = {}
    pairs = var_list.items() if isinstance(var_list, Mapping) else [(None, variable) for variable in var_list]
    for given, variable in pairs:
        if not isinstance(variable, Variable):
            raise UsageError(f"a Saver saves variables, not {type(variable).__name__}: {variable!r}")
        name = variable.op.name if given is None else given
        if name in named:
            raise UsageError(f"two variables would have the name {name!r} in the checkpoint", "give a dict from names to variables")
        if variable.dtype is string:
            raise UsageError(f"a checkpoint cannot hold variable {variable.name!r}: its dtype is string", "leave it out of var_list")
        named[name] = variable
    return named


def _shaped(array: Array, shape: TensorShape) -> Array:
    return array.reshape(shape.as_tuple()) if shape.is_fully_defined() else array


def _as_step(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError(f"global_step is a whole number, or a tensor or variable that holds one, not {value!r}") from None

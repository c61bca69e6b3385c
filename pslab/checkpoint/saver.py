"""Saving and restoring variables (TensorFlow 1's ``tf.train.Saver``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import Any

import numpy as np

from pslab.checkpoint.files import check_fits, data_file, read_checkpoint, write_checkpoint
from pslab.checkpoint import state
from pslab.errors import UsageError
from pslab.graph.build import apply_op
from pslab.graph.ops.sources import placeholder
from pslab.graph.variables import Variable, global_variables


class Saver:
    """Writes variables to checkpoints, and reads them back, onto whatever tasks they are placed on.

    Args:
        var_list: the variables: a list, or a dict from their names in the file. All global ones by default.
        reshape: taken for TensorFlow's sake; another shape is an error.
        sharded: taken for TensorFlow's sake; a checkpoint is one file.
        max_to_keep: how many checkpoints to keep, the latest ones; None or 0 keeps all.
        keep_checkpoint_every_n_hours: keep, besides, one of every so many hours.
        name: name scope of the ops it adds.

    Raises:
        UsageError: there are no variables, or something else than variables.
    """

    def __init__(
        self,
        var_list: Sequence[Variable] | Mapping[str, Variable] | None = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
    ) -> None:
        self._variables = _by_name(global_variables() if var_list is None else var_list)
        if not self._variables:
            raise UsageError("there are no variables to save", "make the Saver after the variables")
        self._max_to_keep = max_to_keep or 0
        self._keep_every_s = keep_checkpoint_every_n_hours * 3600
        self._next_to_keep = time() + self._keep_every_s
        self._kept: list[tuple[str, float]] = []
        self._sources: dict[str, Any] = {}
        self._assigns = []
        graph = next(iter(self._variables.values())).graph
        with graph.as_default(), graph.name_scope(name or "save"), graph.control_dependencies(None):
            for key, variable in self._variables.items():
                with graph.colocate_with(variable.op):
                    source = placeholder(variable.dtype, variable.shape, name="restored")
                    attrs = {"variable": variable.op.name, "dtype": variable.dtype.name, "shape": variable.shape.dims}
                    self._assigns.append(apply_op("Assign", [source], "Assign", **attrs))
                self._sources[key] = source

    def save(
        self,
        sess: Any,
        save_path: str | Path,
        global_step: Any = None,
        latest_filename: str | None = None,
        write_meta_graph: bool = True,
        write_state: bool = True,
    ) -> str:
        """Write the variables' present values; returns the checkpoint's prefix, for `restore`.

        Args:
            sess: a session.
            save_path: prefix of the file's name.
            global_step: a number, tensor or variable that is appended to it: ``model-1000``.
            latest_filename: name of the state file; ``"checkpoint"`` by default.
            write_meta_graph: taken for TensorFlow's sake; the graph is not written.
            write_state: whether to note the checkpoint in the state file, and to remove old ones.

        Raises:
            FailedPreconditionError: a variable has no value yet.
            ResourceExhaustedError: the disk is full; the checkpoints before are as they were.
            PermissionDeniedError: the place cannot be written to.
        """
        if global_step is not None:
            step = global_step if isinstance(global_step, int) else int(sess.run(global_step))
            save_path = f"{save_path}-{step}"
        values = sess.run({key: variable.value() for key, variable in self._variables.items()})
        prefix = write_checkpoint(save_path, {key: np.asarray(value) for key, value in values.items()})
        if write_state:
            self._note(prefix, latest_filename)
        return prefix

    def restore(self, sess: Any, save_path: str | Path) -> None:
        """Give the variables the values of a checkpoint: all of them, or none.

        Raises:
            NotFoundError: there is no such checkpoint, or it lacks a variable.
            InvalidArgumentError: a variable has another dtype or shape there.
            DataLossError: the file is truncated, or no checkpoint of pslab's.
        """
        found = read_checkpoint(save_path)
        wanted = {key: (v.dtype.as_numpy_dtype, v.shape.dims) for key, v in self._variables.items()}
        check_fits(str(save_path), found, wanted)
        sess.run(self._assigns, {source: found[key] for key, source in self._sources.items()})

    @property
    def last_checkpoints(self) -> list[str]:
        """Prefixes of the checkpoints that are kept, oldest first."""
        return [prefix for prefix, _ in self._kept]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Take these, oldest first, as the ones that are kept."""
        self._kept = [(prefix, _written(prefix)) for prefix in last_checkpoints]

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Take those of these that are still there, as after a restart."""
        self.set_last_checkpoints([p for p in checkpoint_paths if data_file(p).is_file()])

    def _note(self, prefix: str, latest_filename: str | None) -> None:
        self._kept = [(p, t) for p, t in self._kept if p != prefix] + [(prefix, _written(prefix))]
        while self._max_to_keep and len(self._kept) > self._max_to_keep:
            old, written = self._kept.pop(0)
            if written >= self._next_to_keep:
                self._next_to_keep += self._keep_every_s
            else:
                data_file(old).unlink(missing_ok=True)
        directory = data_file(prefix).parent
        before = state.get_checkpoint_state(directory, latest_filename)
        known = [] if self._max_to_keep or before is None else [p for p in before.all_model_checkpoint_paths if p != prefix]
        state.write_state(directory, [*known, *(p for p, _ in self._kept if p not in known)], latest_filename)


def _by_name(variables: Sequence[Variable] | Mapping[str, Variable]) -> dict[str, Variable]:
    for variable in variables.values() if isinstance(variables, Mapping) else variables:
        if not isinstance(variable, Variable):
            raise UsageError(f"a Saver saves variables, not {type(variable).__name__}: {variable!r}")
    return dict(variables) if isinstance(variables, Mapping) else {v.op.name: v for v in variables}


def _written(prefix: str) -> float:
    path = data_file(prefix)
    return path.stat().st_mtime if path.is_file() else 0.0

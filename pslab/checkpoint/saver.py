"""`Saver`: variables of a session to checkpoints and back, with TensorFlow 1's signatures."""

from __future__ import annotations

import math
import operator
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pslab.checkpoint.atomic import locked, named_errors, write_bytes
from pslab.checkpoint.files import Checkpoint, checkpoint_prefix, checkpoint_time, open_checkpoint, remove_checkpoint, write_checkpoint
from pslab.checkpoint.graph_files import export_meta_graph
from pslab.checkpoint.graph_objects import register_member
from pslab.checkpoint.match import Wanted, match
from pslab.checkpoint.meta_graph import MetaGraph
from pslab.checkpoint.retention import Retention
from pslab.checkpoint.saveable import Part, Saveable, saveables
from pslab.checkpoint.state import checkpoint_exists, state_path, update_checkpoint_state
from pslab.errors import InvalidArgumentError, NotFoundError, OpError, UnimplementedError, UsageError
from pslab.graph.device import DeviceSpec
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.sources import placeholder
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, global_variables


@dataclass(frozen=True, slots=True)
class _Options:
    """How a saver saves: what of its arguments a graph that is written takes along."""

    reshape: bool
    sharded: bool
    max_to_keep: int | None
    keep_checkpoint_every_n_hours: float
    name: str
    allow_empty: bool
    pad_step_number: bool


class Saver:
    """Writes variables to checkpoints, and reads them back (TensorFlow 1's ``tf.train.Saver``).

    Variables are addressed by name, so a checkpoint can be restored onto any number of ps tasks. The ops it needs are added to the graph when it is
    built; the graph may be finalized afterwards.

    Args:
        var_list: the variables: a list (in the file they have the names of their ops), or a dict by names in the file; all global variables if None. A
            variable that is split into parts (TensorFlow's ``PartitionedVariable``, or the parts themselves) is one array in the file.
        reshape: restore an array of another shape but as many elements into a variable.
        sharded: write a file per task that has variables, and an index of them. All of them are written by the session's client.
        max_to_keep: how many of the checkpoints it wrote are kept; the oldest are deleted. None or 0 keeps all, and lists the last one only.
        keep_checkpoint_every_n_hours: of those to be deleted, one is kept each time this has passed.
        name: name scope of the ops; ``save`` by default.
        restore_sequentially: changes nothing: one step restores all.
        saver_def: not to be given: a saver is written as a part of its graph, see `export_meta_graph`.
        builder: not to be given.
        defer_build: add the ops in `build`, not now.
        allow_empty: be content with no variables; saving and restoring then do nothing.
        write_version: changes nothing: there is one format, safetensors.
        pad_step_number: write the step in a checkpoint's name with eight digits.
        save_relative_paths: changes nothing: the state file names the checkpoints of its directory relative to it, always.
        filename: changes nothing: a path is given to `save`.

    Raises:
        UsageError: no variables, a name that comes twice, something that is no variable, or one of dtype ``string``; a number to keep that is none.
        UnimplementedError: ``saver_def`` or ``builder``.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: Any = None,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if saver_def is not None or builder is not None:
            raise UnimplementedError(
                "a Saver is made from variables, not from a saver_def or a builder", "import_meta_graph returns the graph's Saver"
            )
        if defer_build and var_list is not None:
            raise UsageError("a Saver that is given its variables is built at once", "leave out defer_build or var_list")
        self._options = _Options(reshape, sharded, max_to_keep, keep_checkpoint_every_n_hours, name or "save", allow_empty, pad_step_number)
        self._retention = Retention(max_to_keep, keep_checkpoint_every_n_hours, time.time())
        self._saveables: dict[str, Saveable] | None = None
        self._fed: dict[Variable, Tensor] = {}
        self._assigns: list[Operation] = []
        if not defer_build:
            self._build(var_list)

    def build(self) -> None:
        """Add the ops, if that was deferred."""
        if self._saveables is None:
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
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str:
        """Write the variables to a checkpoint, as one step of the session reads them.

        Args:
            sess: the session in which the variables have values.
            save_path: prefix of the files; directories are made.
            global_step: a number, or a scalar that the same step reads, to add to the prefix: ``model.ckpt-100``.
            latest_filename: name of the state file; ``checkpoint`` by default.
            meta_graph_suffix: suffix of the graph's file, without its dot.
            write_meta_graph: write the graph as well; see `export_meta_graph`. If it cannot be written, that is a warning.
            write_state: note the checkpoint in the state file, and delete the oldest ones.
            strip_default_attrs: changes nothing.
            save_debug_info: changes nothing: ops keep the lines that built them.

        Returns:
            The checkpoint's absolute prefix, which `restore` takes.

        Raises:
            FailedPreconditionError: a variable has no value.
            UsageError: ``save_path`` or ``latest_filename`` is none.
            PermissionDeniedError, ResourceExhaustedError: it cannot be written; former checkpoints are untouched.
            NotFoundError: another process that saves into this directory has deleted it; the state file does not name it.
        """
        saved = self._built()
        prefix = checkpoint_prefix(save_path)
        state_path(os.path.dirname(prefix), latest_filename)  # refuses what is no name, before anything is written
        if not saved:
            return prefix
        fetches: dict[str, Any] = {"values": {name: [part.variable.value() for part in one.parts] for name, one in saved.items()}}
        if isinstance(global_step, Tensor | Variable):
            fetches["step"] = global_step
        fetched = sess.run(fetches)
        step = None if global_step is None else _as_step(fetched.get("step", global_step))
        devices = {name: one.parts[0].variable.device for name, one in saved.items()}
        prefix = write_checkpoint(
            prefix if step is None else f"{prefix}-{step:{'08d' if self._options.pad_step_number else 'd'}}",
            {name: one.joined(fetched["values"][name]) for name, one in saved.items()},
            global_step=step,
            devices=devices,
            shards={name: _task(device) for name, device in devices.items()} if self._options.sharded else None,
        )
        if write_state:
            self._retention.record(prefix, time.time())  # whatever fails from here on, it is deleted in its turn
        if write_meta_graph:
            self._write_graph(f"{prefix}.{meta_graph_suffix}")
        if write_state:
            self._update_state(prefix, latest_filename, meta_graph_suffix)
        return prefix

    def restore(self, sess: Any, save_path: str | os.PathLike[str]) -> None:
        """Give the variables the values of a checkpoint. Everything is checked and read before any of them is assigned; then one step assigns all.

        Args:
            sess: the session whose tasks hold the variables; they need not be initialised.
            save_path: what `save` or `pslab.train.latest_checkpoint` returned.

        Raises:
            NotFoundError: there is no such checkpoint, or it lacks variables; every mismatch is listed.
            InvalidArgumentError: dtypes or shapes differ; every mismatch is listed.
            DataLossError: a file is truncated, was changed, or is not a checkpoint of pslab's; the array is named.
            UsageError: ``save_path`` is none.
        """
        saved = self._built()
        if save_path is None:
            raise UsageError("there is no checkpoint to restore: save_path is None", "latest_checkpoint returns None if a directory has none")
        with open_checkpoint(save_path) as checkpoint:
            match(checkpoint, self._wanted(checkpoint))
            feeds = {
                self._fed[part.variable]: array
                for name, one in saved.items()
                for part, array in zip(one.parts, one.split(checkpoint.read(name)), strict=True)
            }
        if feeds:
            sess.run(self._assigns, feeds)

    def export_meta_graph(
        self,
        filename: str | os.PathLike[str] | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> MetaGraph:
        """The graph of its variables as plain data, with this saver; see `pslab.train.export_meta_graph`."""
        return export_meta_graph(
            filename,
            graph=self._graph(),
            saver_def=self,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
        )

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
        self._retention.remember((prefix, checkpoint_time(prefix)) for prefix in there)

    # Parts

    def _build(self, var_list: Any) -> None:
        saved = saveables(global_variables() if var_list is None else var_list)
        if not saved and not self._options.allow_empty:
            raise UsageError("there are no variables to save", "build the model before the Saver, in the same graph")
        self._saveables = saved
        if not saved:
            return
        graph = self._graph()
        with graph.as_default(), graph.name_scope(self._options.name), graph.control_dependencies(None):
            for variable in self._variables():
                with graph.colocate_with(variable.op):
                    self._fed[variable] = placeholder(variable.dtype, variable.shape, "restored")
                self._assigns.append(variable.assign(self._fed[variable], name="Assign").op)

    def _built(self) -> dict[str, Saveable]:
        if self._saveables is None:
            raise UsageError("this Saver was not built", "call its build() when the model is complete")
        return self._saveables

    def _variables(self) -> list[Variable]:
        return [part.variable for one in self._built().values() for part in one.parts]

    def _graph(self) -> Graph:
        if not self._built():
            raise UsageError("this Saver has no variables, and so no graph")
        return self._variables()[0].graph

    def _wanted(self, checkpoint: Checkpoint) -> Wanted:
        return {name: (one.dtype, self._wanted_shape(checkpoint, name, one.shape)) for name, one in self._built().items()}

    def _wanted_shape(self, checkpoint: Checkpoint, name: str, shape: TensorShape) -> TensorShape:
        if self._options.reshape and name in checkpoint and math.prod(checkpoint.shapes[name]) == shape.num_elements():
            return TensorShape(checkpoint.shapes[name])
        return shape

    def _write_graph(self, path: str) -> None:
        try:
            content = self.export_meta_graph().to_bytes()
        except UnimplementedError as error:  # the variables are safe
            warnings.warn(f"{path} was not written: {error.message}", stacklevel=3)
            return
        with named_errors("write", path):
            write_bytes(path, content)

    def _update_state(self, prefix: str, latest_filename: str | None, meta_graph_suffix: str) -> None:
        directory = os.path.dirname(prefix)
        with locked(directory):
            if not checkpoint_exists(prefix):
                raise NotFoundError(f"checkpoint {prefix} was deleted as soon as it was written", "does another process save into this directory?")
            update_checkpoint_state(directory, prefix, self._retention.newest, latest_filename)
            for old in self._retention.obsolete():
                try:
                    remove_checkpoint(old, meta_graph_suffix)
                except OpError as error:  # the new checkpoint is safe, and so is the training
                    warnings.warn(f"an old checkpoint stays: {error.message}", stacklevel=3)

    # As data

    def _to_plain(self) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
        variables = tuple(self._variables())
        refs: dict[str, tuple[Any, ...]] = {"variables": variables, "fed": tuple(self._fed[v] for v in variables), "assigns": tuple(self._assigns)}
        arrays = tuple((name, one.shape.dims, tuple(part.offset for part in one.parts)) for name, one in self._built().items())
        return refs, {"options": asdict(self._options), "arrays": arrays}

    @classmethod
    def _from_plain(cls, found: dict[str, list[Any]], data: dict[str, Any]) -> Saver:
        saver = cls(**data["options"], defer_build=True)
        kinds = {"variables": Variable, "fed": Tensor, "assigns": Operation}
        variables = iter(found["variables"])
        if not all(isinstance(thing, kind) for role, kind in kinds.items() for thing in found[role]):
            raise InvalidArgumentError("a saver that was written cannot be: it refers to what is no variable, placeholder or assignment")
        saver._saveables = {
            str(name): Saveable(TensorShape(shape), tuple(Part(next(variables), _checked(offset)) for offset in offsets))
            for name, shape, offsets in data["arrays"]
        }
        saver._fed = dict(zip(found["variables"], found["fed"], strict=True))
        saver._assigns = found["assigns"]
        return saver


register_member("saver", Saver, Saver._to_plain, Saver._from_plain)


def _task(device: str) -> str:
    """The task of a variable, which says what file it goes to."""
    spec = DeviceSpec.from_string(device)
    return f"{spec.job or ''}:{spec.task or 0:05d}"


def _checked(offset: Any) -> tuple[int, ...] | None:
    if offset is not None and not all(type(i) is int for i in offset):
        raise InvalidArgumentError(f"a saver that was written cannot be: a part of a variable begins at {offset!r:.60}")
    return None if offset is None else tuple(offset)


def _as_step(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError(f"global_step is a whole number, or a tensor or variable that holds one, not {value!r}") from None

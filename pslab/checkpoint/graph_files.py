"""Graphs to files and back: TensorFlow 1's ``export_meta_graph``, ``import_meta_graph`` and ``write_graph``; and models whose scopes get other names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from pslab.checkpoint.atomic import named_errors, write_bytes
from pslab.checkpoint.files import META_SUFFIX, checkpoint_prefix, open_checkpoint, write_checkpoint
from pslab.checkpoint.graph_objects import add_to_graph, meta_graph_of
from pslab.checkpoint.meta_graph import MetaGraph
from pslab.errors import UnimplementedError, UsageError
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.graph import Graph
from pslab.graph.graph_def import GraphDef
from pslab.graph.importing import scope_for

Path = str | os.PathLike[str]


def export_meta_graph(
    filename: Path | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
) -> MetaGraph:
    """A graph and its collections as plain data, and in a file if one is named (TensorFlow 1's ``tf.train.export_meta_graph``).

    Variables, tensors, ops, queue runners, savers, numbers and strings in collections are written. What is of no such kind is left out with a warning.

    Args:
        filename: the file, or None.
        meta_info_def: not to be given.
        graph_def: not to be given: what is written is ``graph``.
        saver_def: the graph's `Saver`, which `import_meta_graph` will return; the one of the collection ``SAVERS`` if None.
        collection_list: names of the collections to write; all by default.
        as_text: write it for people. Such a file cannot be read back.
        graph: the graph; the default graph if None.
        export_scope: write the ops below this scope only, named as seen from within it.
        clear_devices: forget where ops are to run.
        clear_extraneous_savers: write no saver but this one.
        strip_default_attrs: changes nothing.
        save_debug_info: changes nothing: ops keep the lines that built them.

    Raises:
        UnimplementedError: an op that calls code of this program; ``meta_info_def`` or ``graph_def``.
        InvalidArgumentError: ``export_scope`` is empty, or takes a tensor from outside.
        PermissionDeniedError, ResourceExhaustedError: the file cannot be written.
    """
    if meta_info_def is not None or graph_def is not None:
        raise UnimplementedError("export_meta_graph writes a graph, not a graph_def with a meta_info_def", "pass graph=")
    graph = graph or get_default_graph()
    savers = graph.get_collection(GraphKeys.SAVERS)
    saver = saver_def if saver_def is not None else savers[0] if len(savers) == 1 else None
    if clear_extraneous_savers:
        collection_list = [k for k in graph.collections.lists if k != GraphKeys.SAVERS and (collection_list is None or k in collection_list)]
    meta = meta_graph_of(graph, saver, collection_list)
    meta = meta.below(export_scope) if export_scope else meta
    meta = meta.without_devices() if clear_devices else meta
    if filename is not None:
        _write(filename, str(meta).encode() if as_text else meta.to_bytes())
    return meta


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None) -> Any:
    """Add a graph that was written, and its collections, to the default graph (TensorFlow 1's ``tf.train.import_meta_graph``).

    The program that built it is not needed: tensors and ops are found by name, or in collections such as ``TRAIN_OP``.

    Args:
        meta_graph_or_file: a file that `export_meta_graph` or `Saver.save` wrote, or a `MetaGraph`.
        clear_devices: forget where ops are to run.
        import_scope: prefix of all names. Checkpoints keep the names they have.

    Returns:
        The graph's `Saver`; one for all its global variables if it was written without; None if it has no variables.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is no such file, or a damaged one.
        InvalidArgumentError: something of the graph cannot be, such as an op of an unknown type, or of a name that is taken. The graph is as it was.
    """
    from pslab.checkpoint.saver import Saver

    written = meta_graph_or_file if isinstance(meta_graph_or_file, MetaGraph) else read_meta_graph(meta_graph_or_file)
    graph = get_default_graph()
    fresh = not graph.operations
    with graph.undone_on_error():
        scope = scope_for(graph, import_scope)
        meta = written.renamed(lambda name: scope + name)
        saver = add_to_graph(graph, meta.without_devices() if clear_devices else meta)
    if fresh:
        graph.seed = meta.graph_def.seed
    if saver is not None:
        return saver
    made = {v.op.name: v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)}
    variables = {name: made[scope + name] for kind, name in written.collections.get(GraphKeys.GLOBAL_VARIABLES, ()) if kind == "variable"}
    return Saver(variables) if variables else None


def read_meta_graph(path: Path) -> MetaGraph:
    """Read what `export_meta_graph` wrote.

    Raises:
        UsageError: ``path`` is none.
        NotFoundError: there is no such file.
        DataLossError: it is no such file, or a damaged one.
    """
    return MetaGraph.from_bytes(_read(path), os.fspath(path))


def write_graph(graph_or_graph_def: Graph | GraphDef, logdir: Path, name: str, as_text: bool = True) -> str:
    """Write a graph to ``logdir/name``, and return that path (TensorFlow 1's ``tf.train.write_graph``).

    Args:
        graph_or_graph_def: what to write.
        logdir: directory; made if it is not there.
        name: name of the file.
        as_text: write it for people. Such a file cannot be read back; one that was written without can, by `read_graph`.

    Raises:
        UnimplementedError: an op that calls code of this program.
        PermissionDeniedError, ResourceExhaustedError: the file cannot be written.
    """
    graph_def = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    path = os.path.join(os.fspath(logdir), name)
    _write(path, f"{graph_def}\n".encode() if as_text else graph_def.to_bytes())
    return path


def read_graph(path: Path) -> GraphDef:
    """Read what `write_graph` wrote with ``as_text=False``, for `pslab.import_graph_def`.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is no such file, or a damaged one.
    """
    return GraphDef.from_bytes(_read(path), os.fspath(path))


def rename_scope(prefix_in: Path, prefix_out: Path, old: str, new: str) -> str:
    """Copy a model, its checkpoint and its graph together, with another name of a scope.

    Args:
        prefix_in: prefix of a checkpoint.
        prefix_out: prefix of the copy.
        old: the scope, such as ``"layer1"``; ``""`` for all names.
        new: its new name; ``""`` to take the scope away.

    Returns:
        The copy's absolute prefix.

    Raises:
        UsageError: two arrays or ops would have one name, or nothing has the old one.
        NotFoundError, DataLossError: there is no such checkpoint, or it is damaged.
    """
    start, end = (f"{scope.strip('/')}/" if scope else "" for scope in (old, new))

    def rename(name: str) -> str:
        return end + name.removeprefix(start) if name.startswith(start) else name

    with open_checkpoint(prefix_in) as checkpoint:
        arrays, about = checkpoint.read_all(), checkpoint.about
    path = checkpoint_prefix(prefix_in) + META_SUFFIX
    meta = read_meta_graph(path) if os.path.exists(path) else None
    for names in (list(arrays), [node.name for node in meta.graph_def.node] if meta is not None else []):
        if len(set(map(rename, names))) < len(names):
            raise UsageError(f"if {old!r} became {new!r}, two of {len(names)} would have one name", "choose a name that is not taken")
    if not any(map(str.startswith, arrays, [start] * len(arrays))):
        raise UsageError(f"nothing in the checkpoint is in scope {old!r}: it has {', '.join(arrays)}")
    devices = {rename(name): entry["device"] for name, entry in about["variables"].items()}
    renamed = {rename(name): array for name, array in arrays.items()}
    prefix = write_checkpoint(prefix_out, renamed, global_step=about["global_step"], devices=devices, meta=about["extra"])
    if meta is not None:
        _write(prefix + META_SUFFIX, meta.renamed(rename).with_file_names(rename).to_bytes())
    return prefix


def _write(path: Path, content: bytes) -> None:
    absolute = os.path.abspath(os.path.expanduser(os.fspath(path)))
    with named_errors("write", absolute):
        write_bytes(absolute, content)


def _read(path: Path) -> bytes:
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"a graph is read from a file, not from a {type(path).__name__}: {path!r:.80}")
    with named_errors("read", os.fspath(path)), open(os.path.expanduser(path), "rb") as file:
        return file.read()

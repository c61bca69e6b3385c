"""The state file: which checkpoints a directory has, and which is the latest. TensorFlow 1's text format, in a file called ``checkpoint``.

Paths within the directory are written relative to it, so that it can be moved::

    model_checkpoint_path: "model.ckpt-200"
    all_model_checkpoint_paths: "model.ckpt-100"
    all_model_checkpoint_paths: "model.ckpt-200"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pslab.checkpoint.atomic import named_errors, write_text
from pslab.checkpoint.files import checkpoint_prefix, checkpoint_time, open_checkpoint
from pslab.errors import DataLossError, InvalidArgumentError, NotFoundError, UsageError

STATE_FILE = "checkpoint"

_FIELD = re.compile(r'\s*(?P<name>\w+)\s*:\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<number>[-+.\w]+))\s*')
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """What a state file says (TensorFlow 1's ``CheckpointState``).

    Attributes:
        model_checkpoint_path: absolute prefix of the latest checkpoint.
        all_model_checkpoint_paths: absolute prefixes of those that were kept, the oldest first.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: Sequence[str]


def checkpoint_exists(prefix: str | os.PathLike[str]) -> bool:
    """Whether there is a complete checkpoint of this prefix."""
    try:
        open_checkpoint(prefix).close()
    except (NotFoundError, DataLossError, InvalidArgumentError):
        return False
    return True


def update_checkpoint_state(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Iterable[str] | None = (),
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Iterable[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the state file of ``save_dir``, in place of the former one.

    Args:
        save_dir: the directory; made if it is not there.
        model_checkpoint_path: prefix of the latest checkpoint.
        all_model_checkpoint_paths: prefixes of all, the oldest first; the latest is added at the end if it is not there.
        latest_filename: name of the state file; ``checkpoint`` by default.
        all_model_checkpoint_timestamps: changes nothing: the files themselves know when they were written.
        last_preserved_timestamp: changes nothing.

    Raises:
        PermissionDeniedError, ResourceExhaustedError: it cannot be written; the former one is untouched.
    """
    listed = list(all_model_checkpoint_paths or ())
    if model_checkpoint_path not in listed:
        listed.append(model_checkpoint_path)
    path = state_path(save_dir, latest_filename)
    directory = os.path.dirname(path)
    lines = [_field("model_checkpoint_path", directory, model_checkpoint_path)]
    lines += [_field("all_model_checkpoint_paths", directory, prefix) for prefix in listed]
    with named_errors("write", path):
        write_text(path, "".join(lines))


def get_checkpoint_state(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> CheckpointState | None:
    """What the state file of ``checkpoint_dir`` says, or None if there is no such file.

    If the latest checkpoint is gone or damaged, the newest of the others that is complete takes its place. If there is none, the state is returned as
    it was written, and restoring from it says what is missing.

    Raises:
        DataLossError: the file is not a state file.
        PermissionDeniedError: it may not be read.
    """
    path = state_path(checkpoint_dir, latest_filename)
    try:
        with named_errors("read", path), open(path, "rb") as file:
            state = _parse(path, file.read())
    except NotFoundError:
        return None
    return CheckpointState(_newest(state) or state.model_checkpoint_path, state.all_model_checkpoint_paths)


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """When those of these checkpoints that are there were written, in seconds since 1970."""
    return [checkpoint_time(prefix) for prefix in map(checkpoint_prefix, checkpoint_prefixes) if checkpoint_exists(prefix)]


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """Prefix of the newest checkpoint that the state file lists and that is complete, or None.

    Raises:
        DataLossError: there is a state file, but it is not one.
        PermissionDeniedError: it may not be read.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return None if state is None else _newest(state)


def state_path(directory: str | os.PathLike[str], latest_filename: str | None) -> str:
    """Absolute path of the state file of a directory.

    Raises:
        UsageError: ``latest_filename`` is not a mere name, or ``directory`` no path.
    """
    if not isinstance(directory, str | os.PathLike):
        raise UsageError(f"a checkpoint directory is a string or a pathlib.Path, not {type(directory).__name__}: {directory!r}")
    name = latest_filename or STATE_FILE
    if os.path.basename(name) != name:
        raise UsageError(f"latest_filename is the name of a file in the checkpoint's directory, not a path: {name!r}")
    return os.path.join(os.path.abspath(os.path.expanduser(os.fspath(directory))), name)


def _newest(state: CheckpointState) -> str | None:
    by_age = [state.model_checkpoint_path, *reversed(state.all_model_checkpoint_paths)]
    return next((prefix for prefix in by_age if checkpoint_exists(prefix)), None)


def _field(name: str, directory: str, prefix: str) -> str:
    absolute = os.path.abspath(prefix)
    path = os.path.relpath(absolute, directory) if Path(absolute).is_relative_to(directory) else absolute
    return f'{name}: "{"".join(_ESCAPED.get(c, c) for c in path)}"\n'


def _parse(path: str, content: bytes) -> CheckpointState:
    text = content.decode("utf-8", "surrogateescape")
    found: dict[str, list[str]] = {}
    position = 0
    while position < len(text.rstrip()):
        field = _FIELD.match(text, position)
        if field is None:
            raise _not_a_state_file(path, text[position:])
        if field["text"] is not None:
            found.setdefault(field["name"], []).append(os.path.normpath(os.path.join(os.path.dirname(path), _unescaped(field["text"]))))
        position = field.end()
    if "model_checkpoint_path" not in found:
        raise _not_a_state_file(path, text)
    return CheckpointState(found["model_checkpoint_path"][-1], tuple(found.get("all_model_checkpoint_paths", ())))


def _unescaped(text: str) -> str:
    def plain(escape: re.Match[bytes]) -> bytes:
        octal, hexadecimal, other = escape.groups()
        if other is not None:
            return _UNESCAPED.get(other, other)
        return bytes([int(octal, 8) & 0xFF if octal is not None else int(hexadecimal, 16)])

    return _ESCAPE.sub(plain, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _not_a_state_file(path: str, found: str) -> DataLossError:
    return DataLossError(
        f'{path} is not a checkpoint state file: expected model_checkpoint_path: "…", found {found[:40]!r}',
        "delete it, and restore a checkpoint by its prefix",
    )

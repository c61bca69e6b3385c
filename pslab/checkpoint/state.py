"""The file ``checkpoint`` beside the checkpoints: which there are, and which is the latest. In TensorFlow 1's text form."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pslab.checkpoint.files import data_file

_LINE = re.compile(r'^\s*(model_checkpoint_path|all_model_checkpoint_paths)\s*:\s*"((?:[^"\\]|\\.)*)"\s*$')


@dataclass(frozen=True)
class CheckpointState:
    """The checkpoints of a directory.

    Attributes:
        model_checkpoint_path: prefix of the latest.
        all_model_checkpoint_paths: prefixes of those that are kept, oldest first.
    """

    model_checkpoint_path: str
    all_model_checkpoint_paths: tuple[str, ...]


def write_state(directory: str | Path, prefixes: Sequence[str], latest_filename: str | None = None) -> None:
    """Note the checkpoints of a directory, oldest first. Those within it are noted relative to it, so that it may be moved."""
    path = Path(directory) / (latest_filename or "checkpoint")
    lines = [f"model_checkpoint_path: {_quoted(prefixes[-1], directory)}"] if prefixes else []
    lines += [f"all_model_checkpoint_paths: {_quoted(p, directory)}" for p in prefixes]
    with tempfile.NamedTemporaryFile("w", dir=directory, prefix=f".{path.name}-", delete=False) as file:
        file.write("".join(f"{line}\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)


def get_checkpoint_state(checkpoint_dir: str | Path, latest_filename: str | None = None) -> CheckpointState | None:
    """What the directory's state file says; None if there is none. Checkpoints that are gone are left out."""
    directory = Path(checkpoint_dir).expanduser()
    path = directory / (latest_filename or "checkpoint")
    if not path.is_file():
        return None
    found: dict[str, list[str]] = {"model_checkpoint_path": [], "all_model_checkpoint_paths": []}
    for line in path.read_text().splitlines():
        if match := _LINE.match(line):
            prefix = str(directory / re.sub(r"\\(.)", r"\1", match[2]))
            if checkpoint_exists(prefix):
                found[match[1]].append(prefix)
    kept = found["all_model_checkpoint_paths"] or found["model_checkpoint_path"]
    latest = found["model_checkpoint_path"] or kept[-1:]
    return CheckpointState(latest[0], tuple(kept)) if latest else None


def latest_checkpoint(checkpoint_dir: str | Path, latest_filename: str | None = None) -> str | None:
    """Prefix of the latest checkpoint of a directory, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return None if state is None else state.model_checkpoint_path


def checkpoint_exists(checkpoint_prefix: str | Path) -> bool:
    """Whether there is a checkpoint of that name."""
    return data_file(checkpoint_prefix).is_file()


def _quoted(prefix: str, directory: str | Path) -> str:
    path, parent = Path(prefix).absolute(), Path(directory).absolute()
    text = str(path.relative_to(parent)) if path.is_relative_to(parent) else str(path)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

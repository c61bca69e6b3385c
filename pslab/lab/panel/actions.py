"""The buttons: what is done, rather than set."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pslab.errors import UsageError
from pslab.lab.panel.desk import Desk

_PART = re.compile(r"-\d{5}-of-\d{5}$")
STEPS = 100_000
"""Updates that the start button asks for."""


def _start(desk: Desk, _: Any) -> None:
    """Start a cluster if there is none, and train; go on if the training is paused."""
    lab = desk.lab
    if not lab.cluster.running:
        lab.strategy.check(desk.workers)
        lab.cluster.start(ps=desk.ps, workers=desk.workers)
    seen = lab.trainer.seen() if lab.trainer is not None else None
    if seen is not None and (seen.state == "failed" or (seen.state == "paused" and seen.target_step > seen.global_step)):
        lab.resume()
    elif seen is None or seen.state != "running":
        lab.train(STEPS)


def _save(desk: Desk, name: Any) -> None:
    """Write a checkpoint into the folder, by default called after the step."""
    trainer = desk.lab.trainer
    name = name or f"step-{trainer.seen().global_step if trainer is not None else 0}"
    if not isinstance(name, str) or "/" in name:
        raise UsageError(f"a checkpoint's name is a word, found {name!r}")
    desk.folder.mkdir(parents=True, exist_ok=True)
    desk.lab.save(desk.folder / name)


def checkpoints(desk: Desk) -> list[str]:
    """Names of the checkpoints in the folder, the newest first."""
    if not desk.folder.is_dir():
        return []
    whole = [path for path in desk.folder.iterdir() if path.suffix in (".safetensors", ".index") and not _PART.search(path.stem)]
    return list(dict.fromkeys(path.stem for path in sorted(whole, key=lambda path: path.stat().st_mtime, reverse=True)))


ACTIONS: Mapping[str, Callable[[Desk, Any], object]] = {
    "start": _start,
    "pause": lambda desk, _: desk.lab.pause(),
    "step": lambda desk, n: desk.lab.step(n or 1),
    "stop": lambda desk, _: desk.lab.stop(),
    "reset": lambda desk, _: desk.lab.reset(),
    "save": _save,
    "restore": lambda desk, name: desk.lab.restore(desk.folder / str(name)),
    "kill": lambda desk, task: desk.lab.cluster.kill(str(task)),
    "slow": lambda desk, task: desk.lab.cluster.slow(str(task), desk.delay),
    "hasten": lambda desk, task: desk.lab.cluster.slow(str(task), None),
}
"""What each button does."""

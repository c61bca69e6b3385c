"""Programs and cells that are run elsewhere, as a notebook shows them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from pslab.errors import UsageError
from pslab.run.launcher import run_program
from pslab.run.output import Output


def notebook_output(tasks: Sequence[str]) -> Output:
    """Lines as a notebook shows them: both streams in one, in colour."""
    console = Console(file=sys.stdout, force_terminal=True, force_jupyter=False, color_system="standard", soft_wrap=True, highlight=False)
    return Output(tasks, console, console)


def run_words(words: Sequence[str], cell: str | None, ps: int, workers: int, as_tensorflow: bool) -> int:
    """Run a program, a process per task; returns its exit status.

    Args:
        words: the script and its arguments; with a cell, only arguments.
        cell: the program itself, or None.
        ps: number of parameter servers.
        workers: number of workers.
        as_tensorflow: whether ``import tensorflow`` in it means pslab.

    Raises:
        UsageError: there is neither a script nor a cell, or it is no Python 3.
    """
    tasks = [*(f"ps:{i}" for i in range(ps)), *(f"worker:{i}" for i in range(workers))]
    if cell is None:
        if not words:
            raise UsageError("run what?", "%pslab run SCRIPT [ARGS], or a cell that begins with %%pslab run")
        return run_program(Path(words[0]), words[1:], ps, workers, as_tensorflow, notebook_output(tasks))
    with tempfile.TemporaryDirectory(prefix="pslab-") as directory:
        script = Path(directory) / "cell.py"
        script.write_text(cell)
        arguments = words[1:] if words[:1] == ["--"] else words
        return run_program(script, arguments, ps, workers, as_tensorflow, notebook_output(tasks), [Path.cwd()])

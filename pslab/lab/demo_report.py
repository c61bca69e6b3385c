"""What the demonstration prints: progress while it goes on, a table at its end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from pslab.lab.demo import DemoFacts, ModeFacts


class DemoReport:
    """A progress bar per stage, then the facts."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()
        self._progress = Progress(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._stages: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            for task in self._progress.tasks:
                self._progress.update(task.id, completed=task.total)
        self._progress.__exit__(kind, error, trace)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is. When another begins, the one before is finished."""
        if stage not in self._stages:
            for task in self._progress.tasks:
                self._progress.update(task.id, completed=task.total)
            self._stages[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._stages[stage], completed=done)

    def conclude(self, facts: DemoFacts) -> None:
        """Print the table, and where things are."""
        table = Table(title="MLP 64-128-10 on handwritten digits", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("mode", no_wrap=True)
        for heading in ("worker\nsteps/s", "test\nacc.", "pushed\n/ step", "pulled\n/ step", "fed\n/ step", "staleness\nmean max", "wait"):
            table.add_column(heading, justify="right", no_wrap=True)
        for mode in facts.modes:
            table.add_row(*_row(mode))
        self._console.print(table)
        same = "the same" if facts.restored_accuracy == facts.saved_accuracy else f"NOT the same as before, {facts.saved_accuracy:.4f}"
        self._console.print(f"checkpoint  {facts.checkpoint}", soft_wrap=True, highlight=False)
        self._console.print(f"picture     {facts.picture}", soft_wrap=True, highlight=False)
        self._console.print(
            f"restored    onto {facts.restored_ps} ps: test accuracy {facts.restored_accuracy:.4f}, {same}", soft_wrap=True, highlight=False
        )


def _row(mode: ModeFacts) -> tuple[str, ...]:
    return (
        f"{mode.replication}\n  {mode.update}",
        f"{mode.worker_steps_per_s:,.0f}",
        f"{mode.test_accuracy:.3f}",
        _bytes(mode.bytes_pushed_per_step),
        _bytes(mode.bytes_pulled_per_step),
        _bytes(mode.bytes_fed_per_step),
        f"{mode.staleness_mean:.2f} {mode.staleness_max:3.0f}",
        f"{mode.wait_share:.0%}",
    )


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"

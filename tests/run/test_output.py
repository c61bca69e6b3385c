"""Lines with their task's name in front."""

from __future__ import annotations

import io

from rich.console import Console

from pslab.run.output import Output


def console(**options: object) -> Console:
    return Console(file=io.StringIO(), soft_wrap=True, highlight=False, width=40, **options)


def test_lines_go_where_they_came_from() -> None:
    out, err = console(), console()
    output = Output(["ps:0", "worker:0"], out, err)
    output.line("worker:0", "x" * 100, error=False)
    output.line("ps:0", "[red]no markup", error=True)
    assert out.file.getvalue() == f"worker:0 | {'x' * 100}\n"
    assert err.file.getvalue() == "ps:0     | [red]no markup\n"


def test_each_task_has_its_colour_on_a_terminal() -> None:
    out = console(force_terminal=True, color_system="standard", no_color=False)
    output = Output(["ps:0", "worker:0"], out, out)
    output.line("ps:0", "a", error=False)
    output.line("worker:0", "\x1b[1mbold\x1b[0m", error=False)
    first, second = out.file.getvalue().splitlines()
    assert first != second.replace("worker:0", "ps:0    ")
    assert first.startswith("\x1b[36m") and "\x1b[1mbold" in second


def test_the_last_traceback_is_kept_with_what_led_to_it() -> None:
    output = Output(["worker:0"], console(), console())
    for line in (
        "Traceback (most recent call last):",
        "OldError: long past",
        "something else",
        "Traceback (most recent call last):",
        "KeyError: 1",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        "ValueError: 2",
    ):
        output.line("worker:0", line, error=True)
    assert output.traceback("worker:0").splitlines()[0:2] == ["Traceback (most recent call last):", "KeyError: 1"]
    assert output.traceback("worker:0").endswith("ValueError: 2")


def test_without_a_traceback_there_is_none() -> None:
    assert Output(["worker:0"], console(), console()).traceback("worker:0") == ""

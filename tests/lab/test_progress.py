"""The progress line: replaced in a notebook, rewritten in a terminal, absent from a file."""

from __future__ import annotations

import sys

from ipykernel.inprocess.ipkernel import InProcessKernel
from IPython.core.interactiveshell import InteractiveShell

from pslab.lab import progress
from pslab.lab.progress import ProgressLine


def test_a_terminal_s_line_is_rewritten_and_left_empty(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    with ProgressLine("starting") as line:
        line.update("step 1 of 2", 1, 2)
    assert capsys.readouterr().out == "\r\x1b[2Kstarting\r\x1b[2Kstep 1 of 2\r\x1b[2K"


def test_a_file_gets_no_progress(capsys) -> None:
    with ProgressLine("starting") as line:
        line.update("step 1 of 2", 1, 2)
    assert capsys.readouterr().out == ""


def test_a_notebook_s_line_is_one_display_that_is_updated(monkeypatch) -> None:
    shell = InProcessKernel().shell
    monkeypatch.setattr(progress, "get_ipython", lambda: shell)
    monkeypatch.setattr(InteractiveShell, "_instance", shell)
    published = []
    monkeypatch.setattr(shell.display_pub, "publish", lambda data, metadata=None, **how: published.append((data, how)))
    with ProgressLine("a < b") as line:
        line.update("half", 1, 2)
    texts = [(data["text/plain"], how.get("update", False)) for data, how in published]
    assert texts == [("a < b", False), ("half", True), ("", True)]
    assert len({how["transient"]["display_id"] for _, how in published}) == 1
    assert "a &lt; b" in published[0][0]["text/html"]
    assert "<progress value='1' max='2'" in published[1][0]["text/html"]

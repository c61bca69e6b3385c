"""The browser harness itself, on a plain notebook: what it says of a cell is what a person would see."""

from __future__ import annotations

import pytest

from tests.browser.notebook_page import STDERR

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


def test_a_cell_runs_and_runs_again(open_notebook, write) -> None:
    page = open_notebook(write("1 + 1", "raise ValueError('as told')"))
    assert len(page) == 2
    assert page.prompt(0) is None
    assert [o.text.strip() for o in page.run(0)] == ["2"]
    assert page.prompt(0) == 1
    page.run(0)
    assert page.prompt(0) == 2
    (failed,) = page.run(1)
    assert failed.mime == STDERR
    assert "ValueError: as told" in failed.text
    assert page.screenshot("plain").read_bytes().startswith(b"\x89PNG")


def test_running_all_cells_ends_at_one_that_fails(open_notebook, write) -> None:
    page = open_notebook(write("print('first')", "1 / 0", "print('never')"))
    with pytest.raises(AssertionError, match=r"(?s)code cell 1: .*ZeroDivisionError"):
        page.run_all(timeout=60)
    assert [o.text.strip() for o in page.outputs(0)] == ["first"]
    assert page.outputs(2) == []

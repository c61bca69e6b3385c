"""Cells in a task's process: names, graphs, what they print, and how they end."""

from __future__ import annotations

import sys
import threading

import pytest

from pslab.errors import FailedPreconditionError
from pslab.run.cells import Cells, CellState
from tests.waiting import until


@pytest.fixture
def cells():
    before = sys.stdout, sys.stderr
    import pslab

    yield Cells("worker:1", {"tf": pslab, "task_index": 1})
    sys.stdout, sys.stderr = before


def run(cells: Cells, source: str) -> CellState:
    """Run a cell to its end; all that it printed."""
    cells.begin(source)
    printed = []

    def done() -> bool:
        state = cells.state()
        printed.extend(state.printed)
        return not state.running

    until(done, "the cell has no end")
    return CellState(printed, False, cells.state().failed)


def text(state: CellState) -> str:
    return "".join(piece for piece, _ in state.printed)


def test_names_stay_and_the_last_value_is_shown(cells: Cells) -> None:
    assert text(run(cells, "x = task_index + 1\nprint('first')\nx * 10")) == "first\n20\n"
    assert text(run(cells, "def f():\n    return x\nf()")) == "2\n"
    assert text(run(cells, "x = 5")) == ""


def test_a_graph_is_built_in_pieces_and_begun_anew(cells: Cells) -> None:
    run(cells, "a = tf.constant(2, name='a')")
    assert text(run(cells, "with tf.Session() as sess:\n    print(sess.run(a * 3), tf.get_default_graph().get_operations()[0].name)")) == "6 a\n"
    cells.clear()
    assert text(run(cells, "print(len(tf.get_default_graph().get_operations()), 'a' in globals())")) == "0 False\n"


def test_an_error_is_shown_with_the_cells_own_lines(cells: Cells) -> None:
    state = run(cells, "def f(x):\n    return 1 / x\nf(0)")
    assert state.failed
    lines = text(state).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.strip() for line in lines if "worker:1>" in line][0].endswith("line 3, in <module>")  # noqa: RUF015
    assert "    return 1 / x" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert all(error for _, error in state.printed)


def test_an_error_of_ours_shows_nothing_of_our_insides(cells: Cells) -> None:
    lines = text(run(cells, "tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))")).splitlines()
    assert [line for line in lines if line.startswith("  File")] == [lines[1]]
    assert "worker:1>" in lines[1] and any("MatMul" in line for line in lines)


def test_python_that_is_none_is_an_error_of_the_cell(cells: Cells) -> None:
    state = run(cells, "x = (")
    assert state.failed and "SyntaxError" in text(state)


def test_one_at_a_time_and_it_can_be_interrupted(cells: Cells) -> None:
    cells.begin("import time\nprint('at work')\nwhile True:\n    time.sleep(0.01)")
    printed = []
    until(lambda: printed.extend(cells.state().printed) or printed, "it has not begun")
    with pytest.raises(FailedPreconditionError, match="worker:1 is still at work on a cell"):
        cells.begin("1")
    cells.interrupt()
    until(lambda: not (state := cells.state()).running and (printed.extend(state.printed) or True), "it was not interrupted")
    assert cells.state().failed
    assert text(run(cells, "'goes on'")) == "'goes on'\n"


def test_threads_that_are_not_the_cells_print_where_they_did(cells: Cells, capsys: pytest.CaptureFixture[str]) -> None:
    run(cells, "print('of the cell')")
    other = threading.Thread(target=print, args=("of another",))
    other.start()
    other.join()
    assert capsys.readouterr().out == "of another\n"


def test_what_the_threads_of_a_cell_print_is_its_own(cells: Cells) -> None:
    source = "import threading\nt = threading.Thread(target=print, args=('from a thread',))\nt.start()\nt.join()"
    assert text(run(cells, source)) == "from a thread\n"


def test_an_error_of_syntax_is_all_that_is_shown(cells: Cells) -> None:
    state = run(cells, "x = = 1")
    assert state.failed
    assert text(state).splitlines()[0].strip().startswith('File "<cell')
    assert text(state).splitlines()[-1] == "SyntaxError: invalid syntax"


def test_the_text_of_an_exit_is_shown(cells: Cells) -> None:
    state = run(cells, "import sys\nsys.exit('no data')")
    assert state.failed and state.printed == [("no data\n", True)]

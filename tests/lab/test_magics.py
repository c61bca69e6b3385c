"""%pslab in a real IPython shell, on a real cluster: the whole way from a line to an answer."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from pslab.lab.lab import Lab


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")
    yield shell
    shell.user_ns["lab"].cluster.stop()


@pytest.fixture
def say(shell, capsys):
    """Run a cell; what it answers, or the text that was shown of its error."""

    def run(cell: str) -> str:
        capsys.readouterr()
        result = shell.run_cell(cell)
        shown = capsys.readouterr()
        return repr(result.result) if result.success and result.result is not None else shown.out + shown.err

    return run


def test_the_lab_is_there_under_its_name(shell) -> None:
    assert isinstance(shell.user_ns["lab"], Lab)


@pytest.mark.parametrize(
    ("cell", "lines"),
    [
        ("%pslab clutser start", ["UsageError: %pslab has no 'clutser'", "  hint: did you mean 'cluster'? usage: %pslab [--help] VERB ..."]),
        (
            "%pslab cluster status",
            ["FailedPreconditionError: there is no cluster", "  hint: lab.cluster.start(ps=1, workers=2), or %pslab cluster start"],
        ),
        (
            "%pslab model nothing",
            ["NotFoundError: there is no function 'nothing' in this notebook", "  hint: define it first, or take one of: mlp, logistic"],
        ),
    ],
)
def test_an_error_is_two_lines_without_a_traceback(say, cell, lines) -> None:
    plain = say(cell).replace("\x1b[31m", "").replace("\x1b[0m", "")
    assert plain.splitlines() == lines


def test_a_whole_training(say, tmp_path) -> None:
    assert "cluster of 3 tasks, processes" in say("%pslab cluster start --ps 1 --workers 2")
    assert "it was running already" in say("%pslab cluster start --ps 5")
    assert "1438 + 359 examples" in say("%pslab data digits --batch 32")
    assert say("%pslab model mlp --hidden 32 --lr 0.2") == "model mlp, sgd with learning rate 0.2"
    assert "done: mlp on digits, between-graph async, step 1500 of 1500" in say("%pslab train --steps 1500 --wait")
    assert "running" in say("%pslab train --steps 1000000")
    assert "links: 800 Mbit/s, latency 1 ms full duplex" in say("%pslab cluster link --bandwidth 800Mbit --latency 1ms")
    assert say("%pslab mode --update sync") == "mode: between-graph sync"
    say("lab.wait(lab.status().global_step + 20)")
    assert "bottleneck: the " in say("%pslab cost")
    assert "worker:1  ps:0" in say("%pslab traffic")
    assert "hidden_0/weights  pull       ps:0  worker:0  1       8192" in say("%pslab traffic --by variable")
    assert "links: links as fast as they go" in say("%pslab cluster unlink")
    assert say("%pslab mode --replication in-graph") == "mode: in-graph sync"
    assert say("%pslab mode --compression top-k --keep 0.05") == "mode: in-graph sync, top-k 5 %"
    assert "running: mlp on digits, in-graph sync, top-k 5 %, step" in say("%pslab status")
    assert "paused" in say("%pslab pause")
    step = say("lab.status().global_step")
    assert f"step {int(step) + 3} of" in say("%pslab step 3")
    accuracy = float(say("%pslab evaluate").split("accuracy")[1])
    assert accuracy > 0.9
    assert "prediction  target" in say("%pslab predict 3")
    assert "saved to" in say(f"%pslab save {tmp_path}/first")
    assert "cluster of 4 tasks" in say("%pslab cluster scale --ps 2")
    assert "NotFoundError" in say(f"%pslab restore {tmp_path}/second")
    assert "paused" in say(f"%pslab restore {tmp_path}/first")
    assert float(say("%pslab evaluate").split("accuracy")[1]) == accuracy
    assert "Figure(" in say(f"%pslab plot {tmp_path}/plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    assert "StepPlan driven by client:0;" in say("%pslab graph")
    assert "/job:ps/replica:0/task:1/device:CPU:0" in say("%pslab placement")
    assert "no cluster" in say("%pslab cluster stop")


def test_a_function_of_the_notebook_is_a_model(say) -> None:
    say("def half(x, y):\n    pass")
    assert "returned nothing, not a loss tensor" in say("%pslab model half")

"""%pslab sweep on a real cluster, a ps of which is killed under a run."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

import pslab
from pslab.lab.progress import ProgressLine


@pytest.fixture
def shell():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")
    yield shell
    shell.user_ns["lab"].cluster.stop()


@pytest.mark.slow
def test_a_ps_that_is_killed_costs_its_run_and_no_other(shell, monkeypatch, tmp_path) -> None:
    lab = shell.user_ns["lab"]
    for line in ("cluster start --processes", "model logistic --lr 0.5", "train --steps 50 --wait"):
        shell.run_line_magic("pslab", line)
    tested, records = lab.evaluate(), len(lab.metrics())
    shown, killed = ProgressLine.update, []

    def update(self, line, *bar):
        shown(self, line, *bar)
        if "run 1 of 2" in line and "step" in line and not killed:
            killed.append(lab.cluster.kill("ps:0"))

    monkeypatch.setattr(ProgressLine, "update", update)
    words = f"sweep --over update=sync,async --until steps=2000,every=500 --seeds 1 --path {tmp_path}/k"
    sweep = shell.run_line_magic("pslab", words)
    assert killed
    assert sweep.table["outcome"].tolist() == ["failed", "done"]
    assert "lost" in sweep.table["message"][0]
    assert sweep.table["steps"][1] == 2000
    assert lab.evaluate() == tested
    assert len(lab.metrics()) == records
    assert lab.train(10, wait=True).global_step == 60
    assert pslab.Sweep.load(tmp_path / "k").table["outcome"].tolist() == ["failed", "done"]
    assert len(shell.run_line_magic("pslab", words)) == 2

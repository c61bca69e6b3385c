"""Each verb of %pslab in a real IPython shell, on a lab that only notes what it is asked for."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from pslab.lab.lab import Lab
from pslab.lab.magics import _VERBS
from pslab.lab.parser import build_parser, verbs_of
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.compression import TopK
from pslab.train.delays import Constant, Exponential, Pareto
from pslab.train.updates import Async, Sync
from tests.lab.fake import FakeLab


@pytest.fixture
def shell():
    shell = InteractiveShell()
    shell.user_ns["lab"] = FakeLab()
    shell.run_line_magic("load_ext", "pslab")
    return shell


@pytest.fixture
def lab(shell):
    return shell.user_ns["lab"]


@pytest.fixture
def say(shell, capsys):
    """Run a cell; what it shows, without colours."""

    def run(cell: str) -> str:
        capsys.readouterr()
        shell.run_cell(cell)
        shown = capsys.readouterr()
        return (shown.out + shown.err).replace("\x1b[31m", "").replace("\x1b[0m", "")

    return run


def test_every_verb_of_the_grammar_does_something() -> None:
    said = {f"{verb} {action}" if action else verb for verb, parser in verbs_of(build_parser()).items() for action in verbs_of(parser) or [""]}
    assert said == set(_VERBS)


START = {"ps": 1, "workers": 2, "processes": None, "address": None, "memory_limit": None}


@pytest.mark.parametrize(
    ("line", "call", "shown"),
    [
        ("cluster start", ("start", START), "worker:0  lost     12   here  0 MB    2"),
        ("cluster start --ps 2 --threads", ("start", {**START, "ps": 2, "processes": False}), "cluster of 2 tasks, processes"),
        ("cluster start --processes --memory-limit 2GB", ("start", {**START, "processes": True, "memory_limit": "2GB"}), "ps:0"),
        ("cluster start --address tcp://there:8786", ("start", {**START, "address": "tcp://there:8786"}), "ps:0"),
        ("cluster scale --workers 4", ("scale", {"ps": None, "workers": 4}), "ps:0"),
        ("cluster kill worker:1", ("kill", "worker:1"), "worker:1 was killed"),
        (
            "cluster link --bandwidth 100Mbit --latency 1ms",
            ("link", "100Mbit", "1ms", None, {"duplex": None, "between": None}),
            "links: 100 Mbit/s, latency 1 ms full duplex",
        ),
        (
            "cluster link worker:1 ps:0 --jitter 1ms --duplex half",
            ("link", None, None, "1ms", {"duplex": "half", "between": ("worker:1", "ps:0")}),
            "links: ",
        ),
        ("cluster unlink", ("unlink", None), "links as fast as they go"),
        ("cluster unlink ps:0 worker:1", ("unlink", ("ps:0", "worker:1")), "links as fast as they go"),
        ("cluster slow worker:1 --delay 50ms", ("slow", "worker:1", Constant(0.05)), "slower by"),
        ("cluster slow worker:0 --delay 1.5s --distribution exponential", ("slow", "worker:0", Exponential(1.5)), "ps:0"),
        ("cluster slow worker:0 --delay 200us --distribution pareto --shape 2", ("slow", "worker:0", Pareto(0.0002, 2.0)), "ps:0"),
        ("cluster slow worker:1 --delay 0", ("slow", "worker:1", None), "ps:0"),
        ("cluster stop", ("stop cluster",), "no cluster"),
        ("mode --update sync --backup 1", ("mode", {"update": Sync(1)}), "mode: between-graph sync, 1 backup"),
        ("mode --replication in-graph --update async", ("mode", {"replication": "in-graph", "update": Async()}), "mode: in-graph async"),
        ("mode --compression top-k --keep 0.05", ("mode", {"compression": TopK(0.05)}), "mode: between-graph async, top-k 5 %"),
        ("mode --update ring", ("mode", {"update": RingAllReduce()}), "mode: between-graph ring all-reduce"),
        ("mode --update pipeline --microbatches 2", ("mode", {"update": Pipeline(2)}), "mode: in-graph pipeline, 2 microbatches"),
        ("timeline step.png", ("timeline", "step.png"), ""),  # a picture, which a terminal does not show
        ("trajectories --looks 3 --directions random", ("trajectories", None, {"looks": 3, "every": 1, "directions": "random", "seed": 0}), ""),
        ("mode --compression none", ("mode", {"compression": None}), "mode: between-graph async"),
        ("train --steps 3", ("train", 3), "paused: mlp on digits, between-graph sync, step 7 of 9 — loss 0.25, accuracy 0.875"),
        ("pause", ("pause",), "as <asked>"),
        ("resume", ("resume",), "worker:0  waits  3"),
        ("step", ("step", 1), "step 7 of 9"),
        ("step 5", ("step", 5), "step 7 of 9"),
        ("step --messages 2 --worker 1", ("step", 2, 1), "commit of worker:1 at ps:0  0                    2      3            3"),
        ("share 'pslab(workers=3)'", ("take_share", "pslab(workers=3)"), "%pslab share 'pslab()'"),
        ("stop", ("stop",), "step 7 of 9"),
        ("reset", ("reset",), "step 7 of 9"),
        ("evaluate", ("evaluate",), "accuracy  0.8750"),
        ("predict 2", ("predict", 2), "2 examples of the test set"),
        ("save 'my runs/first'", ("save", "my runs/first"), "saved to my runs/first.safetensors"),
        ("restore runs/first", ("restore", "runs/first"), "step 7 of 9"),
    ],
)
def test_a_line_is_a_call_of_the_lab(say, lab, line, call, shown) -> None:
    assert shown in say(f"%pslab {line}")
    assert lab.calls == [call]


def test_what_is_shared_is_the_line_that_takes_it(say, lab) -> None:
    lab.mode(commit_every=4, replication="between-graph")
    lab.model("mlp", optimizer="adam")
    lab.calls.clear()
    line = say("%pslab share").removeprefix("Out[0]: ").strip()
    assert line == """%pslab share 'pslab(commit_every=4, optimizer="adam")'"""
    say(line)
    assert lab.calls == [("take_share", 'pslab(commit_every=4, optimizer="adam")')]


def test_a_second_start_says_that_one_runs(say) -> None:
    assert "it was running already" not in say("%pslab cluster start")
    assert "it was running already" in say("%pslab cluster start")


def test_the_status_of_the_cluster_tells_of_shaped_links(say) -> None:
    assert "links" not in say("%pslab cluster status")
    say("%pslab cluster link --bandwidth 100Mbit --latency 1ms")
    assert "links: 100 Mbit/s, latency 1 ms full duplex" in say("%pslab cluster status")


def test_a_link_has_two_ends(say, lab) -> None:
    assert say("%pslab cluster unlink ps:0").splitlines() == [
        "UsageError: a link is between two tasks, found ps:0",
        "  hint: %pslab cluster link worker:1 ps:0 --bandwidth 10Mbit",
    ]
    assert lab.calls == []


def test_backups_without_sync_are_refused_not_ignored(say, lab) -> None:
    for line in ("mode --backup 1", "mode --update async --backup 1"):
        assert say(f"%pslab {line}").splitlines() == [
            "UsageError: --update async has no backup",
            "  hint: that is of sync: %pslab mode --update sync …",
        ]
    assert lab.calls == []


def test_a_delay_that_cannot_be_meant_is_refused(say, lab) -> None:
    assert "must be a length of time, such as 50ms or 1.5s, found '50'" in say("%pslab cluster slow worker:1 --delay 50")
    assert "must be a number from 0 on, found -5" in say("%pslab cluster slow worker:1 --delay=-5ms")
    assert "must be more than 0 s and at most 3600 s, found 4000.0" in say("%pslab cluster slow worker:1 --delay 4000s")
    assert "--shape is said together with --distribution pareto" in say("%pslab cluster slow worker:1 --delay 5ms --shape 2")
    assert lab.calls == []


def test_train_and_wait_waits_until_it_no_longer_runs(say, lab) -> None:
    lab.running = 3
    assert "paused: mlp" in say("%pslab train --steps 3 --wait")
    assert lab.calls == [("train", 3), ("wait",), ("wait",), ("wait",)]


def test_an_interrupt_ends_the_waiting_not_the_training(say, lab) -> None:
    lab.running, lab.interrupt = 2, True
    shown = say("%pslab train --steps 3 --wait")
    assert shown.startswith("stopped waiting; the training goes on in the background")
    assert "running: mlp" in shown
    assert lab.calls == [("train", 3), ("wait",)]


def test_functions_and_arrays_are_found_by_name(say, shell) -> None:
    shell.user_ns.update(features=np.zeros((20, 3), np.float32), labels=np.arange(20) % 2)
    assert "16 + 4 examples of 3 features" in say("%pslab data features labels --batch 4")
    say("import pslab\ndef wide(x, y):\n    w = pslab.Variable(pslab.zeros([3]), name='w')\n    return pslab.reduce_mean(pslab.square(x * w)), {}")
    assert "model wide, adam with learning rate 0.01" in say("%pslab model wide --optimizer adam --lr 0.01")


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("data feature labels", ["NotFoundError: there is no array 'feature' in this notebook", "  hint: did you mean 'features'?"]),
        (
            "data none/*.csv --label y",
            ["UsageError: no file matches none/*.csv", "  hint: a path on this machine or a URL; * stands for any characters"],
        ),
        ("data a b c", ["UsageError: data takes a name, or two arrays; found a b c", "  hint: %pslab data x y"]),
        ("model features", ["UsageError: 'features' is a str, not a function", "  hint: a model is a function (x, y) -> (loss, metrics)"]),
        ("model featurez", ["NotFoundError: there is no function 'featurez' in this notebook", "  hint: did you mean 'features'?"]),
    ],
)
def test_what_is_not_there_is_said_in_two_lines(say, shell, line, lines) -> None:
    shell.user_ns["features"] = "one"
    assert say(f"%pslab {line}").splitlines() == lines


def test_the_overview_and_help_are_texts(say) -> None:
    assert "choose how the replicas work together" in say("%pslab")
    assert say("%pslab train --help").startswith("usage: %pslab train [--help] [--steps N] [--wait]")


def test_the_plan_and_the_placement_need_no_cluster(say) -> None:
    assert "StepPlan" in say("%pslab graph")
    assert "/job:ps/replica:0/task:0/device:CPU:0" in say("%pslab placement")


def test_a_variable_called_lab_is_left_alone(capsys) -> None:
    shell = InteractiveShell()
    shell.user_ns["lab"] = "mine"
    shell.run_line_magic("load_ext", "pslab")
    assert shell.user_ns["lab"] == "mine"
    assert "idle: mlp on digits" in repr(shell.run_line_magic("pslab", "status"))


def test_the_lab_is_injected_and_survives_a_reload() -> None:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")
    lab = shell.user_ns["lab"]
    assert isinstance(lab, Lab)
    shell.run_line_magic("unload_ext", "pslab")
    assert shell.find_line_magic("pslab") is None
    shell.run_line_magic("load_ext", "pslab")
    assert shell.user_ns["lab"] is lab
    del shell.user_ns["lab"]
    assert shell.find_line_magic("pslab").__self__.lab is lab


def test_the_end_of_python_stops_the_cluster() -> None:
    program = """
        from IPython.core.interactiveshell import InteractiveShell
        from tests.lab.fake import FakeLab
        shell = InteractiveShell()
        shell.user_ns["lab"] = lab = FakeLab()
        shell.run_line_magic("load_ext", "pslab")
        lab.calls = type("Loud", (list,), {"append": lambda self, call: print(call)})()
        lab.cluster._calls = lab.calls
        print("end")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["end", "('stop cluster',)"]

"""``import tensorflow`` that means pslab, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pslab as tf


def run(program: str, *arguments: str) -> str:
    """What a program prints that has the alias."""
    source = f"from pslab.compat import alias\nalias.install()\n{program}"
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("import tensorflow as tf", "tf.Session().run(tf.constant(2) + 3)"),
        ("import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()", "tf.Session().run(tf.constant(2) + 3)"),
        ("from tensorflow.python.training.summary_io import SummaryWriterCache", "5 if SummaryWriterCache else 0"),
        ("from tensorflow.contrib import rnn", "5 if rnn.BasicLSTMCell(4) else 0"),
        ("from tensorflow.examples.tutorials.mnist import input_data", "5 if input_data.read_data_sets else 0"),
        ("from tensorflow.python.client import timeline", "5 if timeline.Timeline else 0"),
    ],
)
def test_what_programs_import_is_there(statement: str, value: str) -> None:
    assert run(f"{statement}\nprint({value})") == "5"


def test_a_module_that_is_not_there_says_who_speaks() -> None:
    program = "try:\n    import tensorflow.nothing\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert run(program) == "pslab, which stands in for TensorFlow here, has no module 'tensorflow.nothing'"


@pytest.mark.parametrize("statement", ["import tensorflow.contrib.slim as slim", "from tensorflow.contrib import slim"])
def test_a_module_that_is_not_there_for_a_reason_says_the_reason(statement: str) -> None:
    program = f"try:\n    {statement}\nexcept ImportError as error:\n    print(error)"
    said = (
        "pslab, which stands in for TensorFlow here, has no 'tensorflow.contrib.slim': slim is not built; `layers` has dense, conv2d and their like"
    )
    assert run(program) == said


def test_installed_twice_it_is_once() -> None:
    assert (
        run("alias.install()\nimport sys, tensorflow\nprint(sum(type(f).__name__ == '_Finder' for f in sys.meta_path), tensorflow.__version__)")
        == "1 1.15.5"
    )


def test_another_tensorflow_that_was_imported_before_is_left_alone() -> None:
    program = "import sys, types\nsys.modules['tensorflow'] = types.ModuleType('tensorflow')\nfrom pslab.compat import alias\nalias.install()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "RuntimeError: tensorflow was imported already" in done.stderr


def test_every_module_can_be_imported_and_found_from_above() -> None:
    program = """
import importlib
for name in sorted(alias.MODULES):
    module = importlib.import_module(name)
    assert module.__name__ == name
    if alias.MODULES[name]:
        assert dir(module), name
import tensorflow as tf
print(tf.compat.v1.Session is tf.Session is tf.compat.v1.compat.v1.Session, tf.python.training.summary_io.FileWriter is tf.summary.FileWriter)
"""
    assert run(program) == "True True"


def test_errors_are_the_same_by_each_name() -> None:
    program = (
        "import tensorflow as tf\nfrom tensorflow.python.framework.errors import OutOfRangeError\nprint(OutOfRangeError is tf.errors.OutOfRangeError)"
    )
    assert run(program) == "True"


def test_flags_are_read_before_the_program_runs_and_those_of_others_are_left_alone() -> None:
    program = """
import tensorflow as tf
flags = tf.app.flags
flags.DEFINE_string("log_dir", "/none", "where")
flags.DEFINE_integer("task_index", 0, "which")
print(flags.FLAGS.log_dir, flags.FLAGS.task_index)
"""
    assert run(program, "--log_dir=/here", "--task_index=2", "--somebody_elses=1") == "/here 2"


def test_app_run_calls_main_and_ends_with_what_it_returns() -> None:
    source = "import pslab as tf\ndef main(argv):\n    print(argv[1:])\n    return 3\ntf.app.run(main)"
    done = subprocess.run([sys.executable, "-c", source, "rest"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("['rest']", 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (lambda: tf.initialize_all_variables, lambda: tf.global_variables_initializer),
        (lambda: tf.mul, lambda: tf.multiply),
        (lambda: tf.pack, lambda: tf.stack),
        (lambda: tf.train.SummaryWriter, lambda: tf.summary.FileWriter),
        (lambda: tf.contrib.framework.get_or_create_global_step, lambda: tf.train.get_or_create_global_step),
        (lambda: tf.contrib.rnn.static_rnn, lambda: tf.nn.static_rnn),
        (lambda: tf.contrib.training.GreedyLoadBalancingStrategy, lambda: tf.train.GreedyLoadBalancingStrategy),
    ],
)
def test_old_names_are_the_new_ones(old, new) -> None:
    assert old() is new()


@pytest.mark.parametrize(("name", "reason"), [("while_loop", "a Python loop unrolls"), ("keras", "Keras is not built")])
def test_what_is_not_there_says_why(name: str, reason: str) -> None:
    with pytest.raises(AttributeError, match=reason):
        getattr(tf, name)


def test_every_renamed_name_is_there() -> None:
    import functools

    from pslab.compat.historical import RENAMED

    for old, new in RENAMED.items():
        assert functools.reduce(getattr, new.split("."), tf) is functools.reduce(getattr, old.split("."), tf)

"""What public programs use of TensorFlow 1 is there, and takes the keyword arguments that they pass."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pslab as tf
from pslab.sessions.monitored_session import MonitoredSession
from pslab.sessions.supervisor import Supervisor
from tests.compat.surface import MEMBERS, NAMES

CLASSES = {
    "ClusterSpec": tf.train.ClusterSpec,
    "Dimension": tf.Dimension,
    "ExponentialMovingAverage": tf.train.ExponentialMovingAverage,
    "FIFOQueue": tf.FIFOQueue,
    "FileWriter": tf.summary.FileWriter,
    "FixedLengthRecordReader": tf.FixedLengthRecordReader,
    "Graph": tf.Graph,
    "MonitoredSession": MonitoredSession,
    "Optimizer": tf.train.Optimizer,
    "Server": tf.train.Server,
    "Session": tf.Session,
    "Supervisor": Supervisor,
    "Tensor": tf.Tensor,
    "TensorShape": tf.TensorShape,
}


def sync_replicas() -> tf.train.SyncReplicasOptimizer:
    """One whose gradients were applied: its ops are there from then on."""
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=1)
    variable = tf.Variable(1.0)
    optimizer.minimize(variable * 2.0, global_step=tf.train.get_or_create_global_step())
    return optimizer


INSTANCES = {
    "SyncReplicasOptimizer": sync_replicas,
    "Variable": lambda: tf.Variable(0.0),
    "VariableScope": tf.get_variable_scope,
    "name_scope_v1": lambda: tf.name_scope("scope"),
    "variable_scope": lambda: tf.variable_scope("scope"),
    "variable_scope.name": lambda: tf.variable_scope("scope").__enter__(),
}
"""Where an object is needed: it is made with the object, or what makes it is a function."""


def missing(function: Any, keywords: str) -> list[str]:
    """Those of the keyword arguments that ``function`` does not take."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return []
    return [k for k in keywords.split() if not any(p.name == k and p.kind is not p.POSITIONAL_ONLY for p in parameters)]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_there_and_takes_what_programs_pass(name: str) -> None:
    found = functools.reduce(getattr, name.split(".")[1:], tf)
    if NAMES[name]:
        assert missing(found, NAMES[name]) == []


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member_is_there_and_takes_what_programs_pass(member: str) -> None:
    owner, _, name = member.partition(".")
    make = INSTANCES.get(member) or INSTANCES.get(owner)
    found = getattr(make() if make else CLASSES[owner], name)
    if MEMBERS[member]:
        assert missing(found, MEMBERS[member]) == []


def test_all_are_there_by_the_name_tensorflow() -> None:
    """In a process of its own: an alias cannot be taken back."""
    program = (
        "import functools\nfrom pslab.compat import alias\nalias.install()\nimport tensorflow as tf\nfrom tests.compat.surface import NAMES\n"
        "for name in NAMES:\n    functools.reduce(getattr, name.split('.')[1:], tf)\nprint(len(NAMES))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, cwd=Path(__file__).parents[2])
    assert (done.stdout.strip(), done.stderr) == (str(len(NAMES)), "")

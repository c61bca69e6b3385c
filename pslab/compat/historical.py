"""The one table of names that TensorFlow 1 programs use and that have become others, or are not there for a reason.

A name is written in full, below ``tf``. The façades ask here for what they do not have.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from types import ModuleType

RENAMED = {
    "all_variables": "global_variables",
    "batch_matmul": "matmul",
    "initialize_all_variables": "global_variables_initializer",
    "initialize_local_variables": "local_variables_initializer",
    "initialize_variables": "variables_initializer",
    "floormod": "mod",
    "inv": "reciprocal",
    "merge_all_summaries": "summary.merge_all",
    "merge_summary": "summary.merge",
    "mul": "multiply",
    "neg": "negative",
    "op_scope": "name_scope",
    "pack": "stack",
    "select": "where",
    "sub": "subtract",
    "unpack": "unstack",
    "variable_op_scope": "variable_scope",
    "nn.rnn": "nn.static_rnn",
    "train.SummaryWriter": "summary.FileWriter",
    "train.SummaryWriterCache": "summary.FileWriterCache",
    "train.summary_iterator": "summary.summary_iterator",
    "contrib.framework.create_global_step": "train.create_global_step",
    "contrib.framework.get_global_step": "train.get_global_step",
    "contrib.framework.get_or_create_global_step": "train.get_or_create_global_step",
    "contrib.framework.get_variables": "global_variables",
    "contrib.framework.local_variable": "local_variable",
    "contrib.framework.variable": "get_variable",
    "contrib.layers.apply_regularization": "layers.regularizers.apply_regularization",
    "contrib.layers.batch_norm": "layers.contrib.batch_norm",
    "contrib.layers.conv2d": "layers.contrib.conv2d",
    "contrib.layers.convolution2d": "layers.contrib.conv2d",
    "contrib.layers.dropout": "layers.contrib.dropout",
    "contrib.layers.flatten": "layers.contrib.flatten",
    "contrib.layers.fully_connected": "layers.contrib.fully_connected",
    "contrib.layers.l1_regularizer": "layers.regularizers.l1_regularizer",
    "contrib.layers.l1_l2_regularizer": "layers.regularizers.l1_l2_regularizer",
    "contrib.layers.l2_regularizer": "layers.regularizers.l2_regularizer",
    "contrib.layers.max_pool2d": "layers.contrib.max_pool2d",
    "contrib.layers.sum_regularizer": "layers.regularizers.sum_regularizer",
    "contrib.layers.variance_scaling_initializer": "variance_scaling_initializer",
    "contrib.layers.xavier_initializer": "layers.contrib.xavier_initializer",
    "contrib.layers.xavier_initializer_conv2d": "layers.contrib.xavier_initializer",
    "contrib.rnn.BasicLSTMCell": "nn.rnn_cell.BasicLSTMCell",
    "contrib.rnn.BasicRNNCell": "nn.rnn_cell.BasicRNNCell",
    "contrib.rnn.DropoutWrapper": "nn.rnn_cell.DropoutWrapper",
    "contrib.rnn.GRUCell": "nn.rnn_cell.GRUCell",
    "contrib.rnn.LSTMCell": "nn.rnn_cell.LSTMCell",
    "contrib.rnn.LSTMStateTuple": "nn.rnn_cell.LSTMStateTuple",
    "contrib.rnn.MultiRNNCell": "nn.rnn_cell.MultiRNNCell",
    "contrib.rnn.RNNCell": "nn.rnn_cell.RNNCell",
    "contrib.rnn.static_rnn": "nn.static_rnn",
    "contrib.training.GreedyLoadBalancingStrategy": "train.GreedyLoadBalancingStrategy",
    "contrib.training.byte_size_load_fn": "train.byte_size_load_fn",
}
"""From an old name to where the thing is now, below ``pslab``."""

NOT_THERE = {
    "VarLenFeature": "sparse tensors are not built; a FixedLenFeature has as many values in every example",
    "case": "control flow inside a graph is not built; choose in Python while the graph is built, or by `where`",
    "cond": "control flow inside a graph is not built; choose in Python while the graph is built, or by `where`",
    "contrib.learn": "contrib.learn was removed from TensorFlow itself; write the loop around a session",
    "contrib.slim": "slim is not built; `layers` has dense, conv2d and their like",
    "data.Dataset": "input pipelines are queues and readers (train.batch, TextLineReader, …), or are fed",
    "enable_eager_execution": "pslab builds graphs, which sessions run",
    "estimator": "estimators are not built; write the loop around train.MonitoredTrainingSession",
    "function": "functions of TensorFlow 2 are not built; pslab builds graphs, which sessions run",
    "keras": "Keras is not built; `layers` has dense, conv2d and their like",
    "map_fn": "control flow inside a graph is not built; a Python loop unrolls",
    "metrics": "streaming metrics are not built; average in Python what the runs return",
    "scan": "control flow inside a graph is not built; a Python loop unrolls",
    "string_split": "sparse tensors are not built; decode_csv parts a string into as many fields in every record",
    "while_loop": "control flow inside a graph is not built; a Python loop unrolls",
}
"""Well-known names that pslab does not have, and what to do instead."""


class OldPackage(ModuleType):
    """A package of TensorFlow's that pslab has only the names of, such as ``tf.contrib.rnn``."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # it can be imported from

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return look_up(f"{self.__name__}.{name}", self.__dir__())

    def __dir__(self) -> list[str]:
        below = f"{self.__name__}."
        return sorted({known.removeprefix(below).partition(".")[0] for known in RENAMED if known.startswith(below)})


def look_up(name: str, others: list[str]) -> object:
    """What stands for an old name.

    Args:
        name: in full, below ``tf``, such as ``"train.SummaryWriter"``.
        others: names that its package has, to name the nearest.

    Raises:
        AttributeError: nothing does; it tells why, or the nearest name that is there.
    """
    if name in RENAMED:
        return functools.reduce(getattr, RENAMED[name].split("."), importlib.import_module("pslab"))
    if any(known.startswith(f"{name}.") for known in RENAMED):
        return OldPackage(name)
    if name in NOT_THERE:
        raise AttributeError(f"pslab has no tf.{name}: {NOT_THERE[name]}")
    package, _, last = f"tf.{name}".rpartition(".")
    old = [known.rpartition(".")[2] for known in RENAMED if f"tf.{known}".rpartition(".")[0] == package]
    close = difflib.get_close_matches(last, [*others, *old], n=1)
    raise AttributeError(f"pslab has no {package}.{last}" + (f"; did you mean {package}.{close[0]}?" if close else ""))

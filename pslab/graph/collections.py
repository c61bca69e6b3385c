"""Collections: named lists of graph members, by which parts of a program find each other's."""

from __future__ import annotations

import re
from typing import Any


class GraphKeys:
    """Names of the standard collections (TensorFlow 1's ``tf.GraphKeys``)."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MODEL_VARIABLES = "model_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    GLOBAL_STEP = "global_step"
    SUMMARIES = "summaries"
    SUMMARY_OP = "summary_op"
    QUEUE_RUNNERS = "queue_runners"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    TRAIN_OP = "train_op"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SAVERS = "savers"
    UPDATE_OPS = "update_ops"
    ACTIVATIONS = "activations"
    ASSET_FILEPATHS = "asset_filepaths"
    BIASES = "biases"
    COND_CONTEXT = "cond_context"
    EVAL_STEP = "eval_step"
    METRIC_VARIABLES = "metric_variables"
    TABLE_INITIALIZERS = "table_initializer"
    WEIGHTS = "weights"
    WHILE_CONTEXT = "while_context"


class Collections:
    """The collections of one graph.

    Attributes:
        lists: from a collection's name to its members, in the order they were added.
    """

    def __init__(self) -> None:
        self.lists: dict[str, list[Any]] = {}

    def add(self, name: str, value: Any) -> None:
        """Append ``value``."""
        self.lists.setdefault(name, []).append(value)

    def get(self, name: str, scope: str | None = None) -> list[Any]:
        """A copy of the members, of those whose ``name`` the regular expression ``scope`` matches at its start if one is given."""
        members = self.lists.get(name, [])
        if scope is None:
            return list(members)
        pattern = re.compile(scope)
        return [m for m in members if hasattr(m, "name") and pattern.match(m.name)]

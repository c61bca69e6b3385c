"""Cells of recurrent networks: one step in time, from an input and a state to an output and a new state (TensorFlow 1's ``tf.nn.rnn_cell``)."""

from __future__ import annotations

from pslab.lazy import facade

_MODULES = {
    "pslab.layers.cells": "BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple",
    "pslab.layers.cell": "RNNCell",
    "pslab.layers.cell_wrappers": "DropoutWrapper MultiRNNCell",
}

__getattr__, __dir__, __all__ = facade(__name__, _MODULES)

"""The ops of a graph. Importing this package registers them, and attaches Python's operators to tensors."""

from pslab.graph.ops import (  # noqa: F401
    activations,
    arrays,
    broadcasting,
    clip,
    compare,
    convolution,
    gathering,
    joining,
    losses,
    math,
    matmul,
    nn,
    numerics,
    operators,
    random,
    reduce,
    shapes,
    slicing,
    sources,
    state,
)

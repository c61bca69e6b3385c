"""Variables by name: made where there is none, shared where the variable scope says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pslab.graph.collections import GraphKeys
from pslab.graph.dtypes import DType
from pslab.graph.variables import Variable
from pslab.layers.arguments import refuse
from pslab.layers.variable_scope import get_variable_scope, variable_scope


def get_variable(
    name: str,
    shape: Any = None,
    dtype: DType | Any = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    caching_device: Any = None,
    partitioner: Callable[..., Sequence[int]] | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Any = None,
) -> Any:
    """Make a variable of the current variable scope, or find the one of that name (TensorFlow 1's ``tf.get_variable``).

    Args:
        name: follows the scope's; the name scopes around do not matter.
        shape: must be known of a new variable, unless ``initializer`` is a value.
        dtype: element type; the scope's by default, which is float32 at the root.
        initializer: a function from a shape and ``dtype=`` to a tensor, or a value. By default the scope's; where that has none,
            ``glorot_uniform_initializer`` of floats and zeros of others.
        regularizer: a function from the variable to a loss that joins ``REGULARIZATION_LOSSES``, or to None.
        trainable: whether optimizers train it by default; True unless said otherwise.
        collections: graph collections to join; the global variables by default.
        caching_device: changes nothing.
        partitioner: a function from a shape and a dtype to a number of parts per axis; the result is then a `PartitionedVariable`.
        validate_shape: False, if values of other shapes may be assigned later.
        use_resource: changes nothing.
        custom_getter: a function that is called in place of this one's own, which it gets as its first argument.
        constraint: must be None.

    Raises:
        GraphError: it exists and is not to be shared; it is to be shared and does not exist, or has another shape or dtype; or the arguments
            do not tell its shape.
    """
    refuse(constraint=constraint)
    scope = get_variable_scope()
    if custom_getter is not None:
        with variable_scope(scope, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
            return get_variable(name, shape, dtype, initializer, regularizer, trainable, collections, None, partitioner, validate_shape)
    return scope.get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        partitioner=partitioner,
        validate_shape=validate_shape,
    )


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: DType | Any = None,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = False,
    collections: Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """`get_variable` of a variable that belongs to one task, and is not trained. It takes the same arguments."""
    joined = [*(collections or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, joined, **options)


def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None) -> Variable:
    """A variable that belongs to one task, and is not trained (``tf.contrib.framework.local_variable``)."""
    return Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=validate_shape, name=name)


def no_regularizer(_: Any) -> None:
    """For ``regularizer=``: none, whatever the scope's is."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.ops import arrays, joining, shapes, sources, static


def test_values_that_the_graph_tells(graph):
    x = sources.placeholder("int32", [])
    assert static.constant_value(sources.constant([1, 2])).tolist() == [1, 2]
    assert static.constant_value(arrays.cast(sources.constant([1.9]), "int32")).tolist() == [1]
    assert static.constant_value(sources.identity(sources.constant(3))) == 3
    assert static.constant_value(joining.stack([sources.constant(1), sources.constant(2)])).tolist() == [1, 2]
    assert static.constant_value(joining.stack([sources.constant(1), x])) is None
    assert static.constant_value(x) is None


def test_shapes_that_the_graph_tells(graph):
    x = sources.placeholder("float32", [None, 3])
    shape, n = shapes.shape(x), sources.placeholder("int32", [])
    assert static.constant_shape(sources.constant([2, 3])) == (2, 3)
    assert static.constant_shape(shape) == [None, 3]
    assert static.constant_shape(convert_to_tensor([n, 4])) == [None, 4]
    assert static.constant_shape(joining.concat([shape, [5]], 0)) == [None, 3, 5]
    assert static.constant_shape(sources.placeholder("int32", [2])) == [None, None]
    assert static.constant_shape(sources.placeholder("int32")).ndims is None


@pytest.mark.parametrize("shape", [(2, 3), [2, 3], np.array([2, 3]), [np.int64(2), 3]])
def test_a_known_shape_becomes_an_attribute_of_plain_ints(graph, shape):
    inputs, attribute = static.shape_argument(shape)
    assert inputs == []
    assert attribute == (2, 3)
    assert all(type(d) is int for d in attribute)


def test_integers(graph):
    assert static.integer(np.int64(3), "n") == 3
    assert static.integer(sources.constant(3), "n") == 3
    for bad in (1.5, sources.placeholder("int32", []), [1, 2], None):
        with pytest.raises(ShapeError, match="n must be an integer"):
            static.integer(bad, "n")

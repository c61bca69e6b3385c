"""The global step: one per graph, found by its collection."""

from __future__ import annotations

import pytest

from pslab.errors import GraphError
from pslab.graph.collections import GraphKeys
from pslab.graph.graph import Graph
from pslab.graph.variables import Variable
from pslab.optim.global_step import create_global_step, get_global_step, get_or_create_global_step, global_step
from pslab.runtime.task import Task
from pslab.testing.one_task import run


def test_is_an_untrained_int64_scalar_in_its_collections():
    with Graph().as_default() as graph, graph.name_scope("scope"):
        assert get_global_step() is None
        step = create_global_step()
    assert step.name == "global_step:0"
    assert (step.dtype.name, step.shape.as_list(), step.trainable) == ("int64", [], False)
    assert graph.get_collection(GraphKeys.GLOBAL_STEP) == graph.get_collection(GraphKeys.GLOBAL_VARIABLES) == [step]
    assert get_global_step(graph) is step
    task = Task("localhost:0")
    run(task, step.initializer)
    assert run(task, step) == 0


def test_is_made_once():
    graph = Graph()
    step = get_or_create_global_step(graph)
    assert step.graph is graph
    assert get_or_create_global_step(graph) is step
    with pytest.raises(GraphError, match="already: global_step:0"):
        create_global_step(graph)


def test_several_are_an_error():
    graph = Graph()
    with graph.as_default():
        for name in ("a", "b"):
            Variable(0, collections=[GraphKeys.GLOBAL_STEP], name=name)
    with pytest.raises(GraphError, match="2 global steps: a:0, b:0"):
        get_global_step(graph)


def test_is_read_by_a_session():
    class Session:
        def run(self, fetch):
            return {"step": 7}[fetch]

    assert global_step(Session(), "step") == 7

"""Mailboxes: first in, first out, never more than they hold; and their ops on a task."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import ResourceExhaustedError
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import placeholder
from pslab.graph.registry import NOT_YET
from pslab.runtime.task import Task
from pslab.sync.mailbox import Mailbox
from pslab.sync.mailbox_ops import MAILBOXES, mailbox_put, mailbox_take
from pslab.testing.one_task import run


@given(st.integers(1, 5), st.lists(st.one_of(st.just("take"), st.integers()), max_size=40))
def test_what_is_taken_is_what_was_put_in_the_order_it_was_put(capacity: int, events: list[str | int]) -> None:
    mailbox, expected = Mailbox(capacity), list[int]()
    for event in events:
        if isinstance(event, int) and len(expected) < capacity:
            mailbox.put(event)
            expected.append(event)
        elif isinstance(event, int):
            with pytest.raises(ResourceExhaustedError, match=f"at most {capacity} items"):
                mailbox.put(event)
        else:
            assert mailbox.take() == (expected.pop(0) if expected else NOT_YET)
        assert mailbox.pending() == len(expected)


def test_a_taker_waits_for_what_another_graph_puts() -> None:
    task = Task("localhost:0")
    with Graph().as_default():
        x, y = placeholder("float32", [2]), placeholder("int64", [])
        put, taken = mailbox_put("m", [x, y], 2), mailbox_take("m", [x, y], 2)
    assert [t.shape.as_list() for t in taken] == [[2], []]
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(run, task, *taken)
        run(task, put, feeds={x: [1.0, 2.0], y: 3})
        first, second = waiting.result(timeout=10)
    np.testing.assert_array_equal(first, [1.0, 2.0])
    assert second == 3


def test_what_lies_in_a_mailbox_that_is_dropped_is_never_taken() -> None:
    task = Task("localhost:0")
    with Graph().as_default():
        x = placeholder("float32", [])
        put, taken = mailbox_put("old/m", [x], 1), mailbox_take("old/m", [x], 1)
    run(task, put, feeds={x: 1.0})
    assert [mailbox.pending() for mailbox in task.drop_resources(MAILBOXES + "old/")] == [1]
    run(task, put, feeds={x: 2.0})
    assert run(task, *taken) == 2.0

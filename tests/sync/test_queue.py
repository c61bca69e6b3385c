"""The token queue, against a model."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pslab.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from pslab.graph.registry import NOT_YET
from pslab.sync.queue import TokenQueue


def test_a_negative_count_is_refused():
    queue = TokenQueue()
    with pytest.raises(InvalidArgumentError, match="-1"):
        queue.enqueue_many(1, -1)
    assert queue.pending() == 0


def test_closing_ends_the_wait():
    queue = TokenQueue()
    queue.enqueue_many(7, 1)
    assert queue.dequeue() == 7
    assert queue.dequeue() is NOT_YET
    queue.close()
    with pytest.raises(OutOfRangeError, match="closed"):
        queue.dequeue()
    with pytest.raises(CancelledError, match="closed"):
        queue.enqueue_many(8, 1)


class AgainstAModel(RuleBasedStateMachine):
    """The model: a list and a flag."""

    def __init__(self):
        super().__init__()
        self.queue = TokenQueue()
        self.tokens, self.closed = [], False

    @rule(token=st.integers(0, 5), count=st.integers(0, 3))
    def enqueue(self, token, count):
        if self.closed:
            with pytest.raises(CancelledError):
                self.queue.enqueue_many(token, count)
        else:
            self.queue.enqueue_many(token, count)
            self.tokens += [token] * count

    @rule()
    def dequeue(self):
        if self.tokens:
            assert self.queue.dequeue() == self.tokens.pop(0)
        elif self.closed:
            with pytest.raises(OutOfRangeError):
                self.queue.dequeue()
        else:
            assert self.queue.dequeue() is NOT_YET

    @rule()
    def close(self):
        self.queue.close()
        self.closed = True

    @invariant()
    def counts_agree(self):
        assert self.queue.pending() == len(self.tokens)


TestAgainstAModel = AgainstAModel.TestCase

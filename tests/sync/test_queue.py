"""The token queue, against a model."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pslab.errors import InvalidArgumentError
from pslab.graph.registry import NOT_YET
from pslab.sync.queue import TokenQueue


def test_a_negative_count_is_refused():
    queue = TokenQueue()
    with pytest.raises(InvalidArgumentError, match="-1"):
        queue.enqueue_many(1, -1)
    assert queue.pending() == 0


class AgainstAModel(RuleBasedStateMachine):
    """The model: a list."""

    def __init__(self):
        super().__init__()
        self.queue = TokenQueue()
        self.tokens = []

    @rule(token=st.integers(0, 5), count=st.integers(0, 3))
    def enqueue(self, token, count):
        self.queue.enqueue_many(token, count)
        self.tokens += [token] * count

    @rule()
    def dequeue(self):
        if self.tokens:
            assert self.queue.dequeue() == self.tokens.pop(0)
        else:
            assert self.queue.dequeue() is NOT_YET

    @invariant()
    def counts_agree(self):
        assert self.queue.pending() == len(self.tokens)


TestAgainstAModel = AgainstAModel.TestCase

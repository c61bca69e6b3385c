"""The rules of queues against a model that is a list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pslab.errors import CancelledError, OutOfRangeError
from pslab.graph.registry import NOT_YET
from pslab.queues.rules import ByPriority, FirstInFirstOut, Queue, Shuffled


class FirstInFirstOutQueue(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.queue = Queue("q", FirstInFirstOut(), 5)
        self.inside: list[int] = []
        self.count = 0
        self.waited = False

    @rule(many=st.integers(1, 4))
    def put(self, many: int) -> None:
        elements = [(self.count + i,) for i in range(many)]
        try:
            done = self.queue.enqueue_many(elements)
        except CancelledError:
            assert self.queue.closed
            return
        if done is NOT_YET:
            assert len(self.inside) + many > 5
        else:
            assert len(self.inside) + many <= 5 or self.waited
            self.inside += [e[0] for e in elements]
            self.count += many

    @rule(many=st.integers(0, 7))
    def take(self, many: int) -> None:
        try:
            got = self.queue.dequeue_many(many)
        except OutOfRangeError:
            assert self.queue.closed and len(self.inside) < many
            return
        if got is NOT_YET:
            assert len(self.inside) < many and not self.queue.closed
            self.waited = True
        else:
            assert [e[0] for e in got] == self.inside[:many]
            del self.inside[:many]

    @precondition(lambda self: self.count > 12)
    @rule()
    def close(self) -> None:
        self.queue.close()

    @invariant()
    def as_many_are_in_it(self) -> None:
        assert self.queue.size() == len(self.inside)


TestFirstInFirstOut = FirstInFirstOutQueue.TestCase


@given(st.lists(st.integers(-5, 5)))
def test_by_priority_is_a_stable_sort(priorities: list[int]) -> None:
    queue = Queue("q", ByPriority(), -1)
    queue.enqueue_many([(p, i) for i, p in enumerate(priorities)])
    queue.close()
    assert queue.dequeue_many(len(priorities)) == sorted(((p, i) for i, p in enumerate(priorities)), key=lambda e: e[0])


@given(st.integers(0, 30), st.integers(0, 5))
def test_a_shuffled_queue_gives_each_element_once_and_keeps_the_least_back(count: int, least: int) -> None:
    queue = Queue("q", Shuffled(0), -1, least)
    queue.enqueue_many([(i,) for i in range(count)])
    if count > least:
        got = queue.dequeue_many(count - least)
    else:
        got = []
        assert queue.dequeue_many(1) is NOT_YET
    queue.close()
    assert sorted([*got, *queue.dequeue_many(count - len(got))]) == [(i,) for i in range(count)]


def test_what_can_never_fit_goes_into_an_empty_queue_and_past_those_kept_back() -> None:
    queue = Queue("q", FirstInFirstOut(), 2)
    assert queue.enqueue_many([(i,) for i in range(5)]) is None
    assert queue.enqueue_many([(9,)]) is NOT_YET
    kept = Queue("q", Shuffled(0), 6, 4)
    kept.enqueue_many([(i,) for i in range(4)])
    assert kept.enqueue_many([(i,) for i in range(5)]) is None


def test_who_puts_in_many_does_not_wait_for_room_while_another_waits_for_more() -> None:
    """Else both would wait for ever: one element is in the queue, and the next four come with five at once."""
    queue = Queue("q", FirstInFirstOut(), 2)
    queue.enqueue_many([(0,)])
    assert queue.dequeue_many(4) is NOT_YET
    assert queue.enqueue_many([(i,) for i in range(1, 6)]) is None
    assert queue.dequeue_many(4) == [(i,) for i in range(4)]
    assert queue.enqueue_many([(9,)]) is NOT_YET

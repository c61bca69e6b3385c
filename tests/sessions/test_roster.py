"""The roster as a rule, and as ops that let others wait."""

from __future__ import annotations

import threading

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import pslab as tf
from pslab.sessions.roster import Roster, RosterOps
from tests.waiting import until


class Members(RuleBasedStateMachine):
    """Whatever happens in whatever order: others begin when the chief has prepared the model, or when there is none and it has values."""

    def __init__(self) -> None:
        super().__init__()
        self.roster = Roster()
        self.members: set[str] = set()
        self.chief: str | None = None
        self.is_prepared = False

    @rule(member=st.sampled_from("abc"), chief=st.booleans())
    def arrive(self, member: str, chief: bool) -> None:
        self.roster.arrive(member, chief)
        self.members.add(member)
        if chief:
            self.chief, self.is_prepared = member, False

    @rule()
    def prepared(self) -> None:
        if self.chief is not None:
            self.roster.prepared()
            self.is_prepared = True

    @rule(member=st.sampled_from("abc"))
    def leave(self, member: str) -> None:
        self.members.discard(member)
        if self.chief == member:
            self.chief = None
        assert self.roster.leave(member) == len(self.members)

    @invariant()
    def others_begin_when_they_may(self) -> None:
        for has_values in (False, True):
            assert self.roster.may_begin(has_values) == (self.is_prepared if self.chief else has_values)


TestMembers = Members.TestCase
TestMembers.settings = settings(max_examples=60, stateful_step_count=20)


def test_one_who_waits_is_woken_when_the_model_is_prepared_and_not_before(tasks) -> None:
    cluster = tasks(1, 2)
    done = threading.Event()

    def other() -> None:
        with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v")
            ops = RosterOps(v, [v], "other")
            with tf.Session(cluster.workers[1].target) as sess:
                sess.run(ops.arrive)
                sess.run(ops.wait)
                done.set()

    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v")
        ops = RosterOps(v, [v], "chief")
        with tf.Session(cluster.workers[0].target) as sess:
            sess.run(ops.arrive_as_chief)
            thread = threading.Thread(target=other)
            thread.start()
            sess.run(v.initializer)  # initialised is not prepared
            assert not done.wait(0.3)
            sess.run(ops.prepared)
            thread.join(10)
            assert done.is_set()
            assert sess.run(ops.leave) == 1


def test_with_the_chief_gone_values_are_enough(tasks) -> None:
    cluster = tasks(1, 1)
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0, name="v")
        ops = RosterOps(v, [v], "me")
    with tf.Session(cluster.workers[0].target) as sess:
        sess.run(ops.arrive)
        waiting = threading.Thread(target=sess.run, args=(ops.wait,))
        waiting.start()
        sess.run(v.initializer)
        until(lambda: not waiting.is_alive(), "the roster was not looked at again")

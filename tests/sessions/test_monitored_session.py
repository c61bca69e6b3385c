"""Sessions with hooks: the order of calls, ends, and recoveries."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab.errors import InvalidArgumentError, UnavailableError, UsageError


class Diary(tf.train.SessionRunHook):
    """Writes down what is called, and asks for a tensor of its own."""

    def __init__(self, name: str, wish: object = None) -> None:
        self.name, self.wish = name, wish
        self.entries: list[str] = []
        self.results: list[object] = []

    def begin(self) -> None:
        self.entries.append("begin")

    def after_create_session(self, session, coord) -> None:
        assert session.graph.finalized
        self.entries.append("created")

    def before_run(self, run_context) -> tf.train.SessionRunArgs | None:
        self.entries.append("before")
        return None if self.wish is None else tf.train.SessionRunArgs(self.wish)

    def after_run(self, run_context, run_values) -> None:
        self.entries.append("after")
        self.results.append(run_values.results)

    def end(self, session) -> None:
        self.entries.append("end")


def test_hooks_are_called_around_each_run() -> None:
    x = tf.constant(2)
    first, second = Diary("first", {"sum": x + 1}), Diary("second")
    product = x * 3
    with tf.train.MonitoredSession(hooks=[first, second]) as sess:
        assert sess.run([x, {"y": product}]) == [2, {"y": 6}]
    assert first.entries == second.entries == ["begin", "created", "before", "after", "end"]
    assert first.results == [{"sum": 3}] and second.results == [None]


def test_an_error_in_the_block_is_raised_and_ends_without_end() -> None:
    diary = Diary("diary")
    with pytest.raises(ZeroDivisionError), tf.train.MonitoredSession(hooks=[diary]):
        raise ZeroDivisionError
    assert diary.entries == ["begin", "created"]


def test_an_op_that_fails_is_raised() -> None:
    bad = tf.check_numerics(tf.log(tf.constant(-1.0)), "logarithm")
    with pytest.raises(InvalidArgumentError, match="logarithm"), tf.train.MonitoredSession() as sess:
        sess.run(bad)


def test_the_end_of_the_input_ends_in_order() -> None:
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [tf.no_op()]))  # closes it when told to stop
    one, close = queue.enqueue(7), queue.close()
    take, diary, got = queue.dequeue(), Diary("diary"), []
    with tf.train.SingularMonitoredSession(hooks=[diary]) as sess:
        sess.raw_session().run(one)
        sess.raw_session().run(close)
        while not sess.should_stop():
            got.append(sess.run(take))
    assert got == [7]
    assert diary.entries[-1] == "end"


def test_after_the_end_there_are_no_runs() -> None:
    step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=1)]) as sess:
        sess.run(step)
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            sess.run(step)
    with pytest.raises(RuntimeError, match="Attempted to use a closed session"):
        sess.run(step)


def test_two_who_feed_one_tensor_are_told() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    hook = tf.train.FeedFnHook(lambda: {x: 1.0})
    with tf.train.MonitoredSession(hooks=[hook]) as sess, pytest.raises(RuntimeError, match=r"fed by two.*x:0"):
        sess.run(x, {x: 2.0})


def test_a_step_function_runs_below_the_hooks() -> None:
    x, diary = tf.constant(1), Diary("diary")
    y = x + 1

    def step_fn(context) -> int:
        assert context.session.run(x) == 1
        return context.run_with_hooks(y)

    def last(context) -> None:
        context.request_stop()

    with tf.train.MonitoredSession(hooks=[diary]) as sess:
        assert sess.run_step_fn(step_fn) == 2
        assert diary.entries.count("before") == 1
        assert sess.run_step_fn(last) is None
        assert sess.should_stop()


def test_hooks_are_hooks() -> None:
    with pytest.raises(UsageError, match="hooks should be SessionRunHooks, found 'hook'"):
        tf.train.MonitoredSession(hooks=["hook"])


class Once:
    """Makes a session, of which the first is lost at its second run."""

    def __init__(self) -> None:
        self.scaffold = tf.train.Scaffold()
        self.made = 0

    def create_session(self) -> tf.Session:
        self.scaffold.finalize()
        self.made += 1
        sess = tf.Session(graph=tf.get_default_graph())
        sess.run(self.scaffold.init_op)
        if self.made == 1:
            runs, whole = [], sess.run

            def run(*args, **kwargs):
                runs.append(args)
                if len(runs) == 2:
                    raise UnavailableError("ps:0 is gone")
                return whole(*args, **kwargs)

            sess.run = run
        return sess

    def begun(self, session) -> None:
        pass

    def ended(self, session) -> None:
        pass


def test_a_lost_task_leads_to_another_session_and_the_run_is_made_there() -> None:
    count = tf.assign_add(tf.Variable(0), 1)
    creator, diary = Once(), Diary("diary")
    with tf.train.MonitoredSession(creator, hooks=[diary]) as sess:
        assert [sess.run(count), sess.run(count)] == [1, 1]  # the second in a model made anew
    assert creator.made == 2
    assert diary.entries == ["begin", "created", "before", "after", "before", "created", "before", "after", "end"]


def test_a_task_that_a_thread_finds_lost_is_no_end() -> None:
    count = tf.assign_add(tf.Variable(0), 1)
    with tf.train.MonitoredSession() as sess:
        first = sess.raw_session()
        sess._coord.request_stop(UnavailableError("ps:0 is gone"))
        assert not sess.should_stop()
        assert sess.raw_session() is not first
        assert sess.run(count) == 1
    sess = tf.train.MonitoredSession()
    sess._coord.request_stop(ValueError("of a thread"))
    assert sess.should_stop()
    with pytest.raises(ValueError, match="of a thread"):
        sess.close()


def test_a_graph_is_final_only_while_it_is_run() -> None:
    with tf.train.MonitoredSession() as sess:
        assert sess.graph.finalized
    assert not tf.get_default_graph().finalized

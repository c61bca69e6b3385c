"""How a session comes to a model that is ready."""

from __future__ import annotations

from pathlib import Path

import pytest

import pslab as tf
from pslab.errors import DeadlineExceededError, UnavailableError


def test_it_restores_rather_than_initialises(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    saver, init, change = tf.train.Saver(), tf.global_variables_initializer(), v.assign(7.0)
    manager = tf.train.SessionManager()
    with manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=str(tmp_path)) as sess:
        assert sess.run(v) == 1.0
        sess.run(change)
        saver.save(sess, str(tmp_path / "model"))
    with manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=str(tmp_path)) as sess:
        assert sess.run(v) == 7.0
    with manager.prepare_session("", saver=saver, checkpoint_filename_with_path=str(tmp_path / "model")) as sess:
        assert sess.run(v) == 7.0


def test_a_session_is_recovered_or_not_ready(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess, ready = manager.recover_session("", saver=saver, checkpoint_dir=str(tmp_path))
    assert not ready
    sess.run(v.initializer)
    saver.save(sess, str(tmp_path / "model"))
    sess, ready = manager.recover_session("", saver=saver, checkpoint_dir=str(tmp_path))
    assert ready and sess.run(v) == 1.0


def test_without_anything_to_prepare_with_it_says_so() -> None:
    tf.Variable(1.0)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        tf.train.SessionManager().prepare_session("")


def test_a_ready_op_of_the_programs_own_is_looked_at_until_the_deadline() -> None:
    never = tf.constant(["something"])
    manager = tf.train.SessionManager(ready_op=never, recovery_wait_secs=0.05)
    with pytest.raises(DeadlineExceededError, match=r"not ready after waiting 0\.2 secs: not initialized: something"):
        manager.wait_for_session("", max_wait_secs=0.2)


def test_what_the_chief_did_not_initialise_is_named(caplog: pytest.LogCaptureFixture) -> None:
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        chief = tf.train.MonitoredTrainingSession(server.target)
    with tf.Graph().as_default(), caplog.at_level("INFO", "pslab.waiting"):
        tf.train.get_or_create_global_step()
        tf.Variable(1.0, name="other")
        with pytest.raises(DeadlineExceededError, match="not initialized: other"):
            tf.train.MonitoredTrainingSession(server.target, is_chief=False, max_wait_secs=1)
    chief.close()
    server.close()
    assert [r.getMessage() for r in caplog.records if r.name == "pslab.waiting"] == [
        "waiting for what the chief (task 0) has not initialized: other (each worker must build the same graph)"
    ]


def test_nobody_at_the_target_is_told() -> None:
    tf.Variable(1.0)
    with pytest.raises(UnavailableError, match=r"cannot reach 127\.0\.0\.1:9"):
        tf.train.SessionManager().prepare_session("grpc://127.0.0.1:9", init_op=tf.global_variables_initializer())

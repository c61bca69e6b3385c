from __future__ import annotations

import pytest

from pslab.graph.graph import Graph


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


@pytest.fixture
def run():
    """The value of something, in a session in which all variables have just been given their initial values."""
    import pslab as tf

    def run(fetches, feed_dict=None):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(fetches, feed_dict)

    return run

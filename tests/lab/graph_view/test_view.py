"""The widget: one text that a browser takes, and drawing that Node tests."""

from __future__ import annotations

import pslab as tf


def test_a_view_hears_what_is_asked_and_all_views_of_a_lab_are_told_on_one_line() -> None:
    lab = tf.Lab()
    one, other = lab.graph_view(), lab.graph_view()
    assert one.line is other.line
    one._hear(one, {"ask": "unfold"}, [])
    one._hear(one, {"ask": "of another version"}, [])
    assert repr(one) == "pslab graph"
    one.close()
    other.close()

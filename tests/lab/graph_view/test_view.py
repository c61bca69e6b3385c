"""The widget: one text that a browser takes, and drawing that Node tests."""

from __future__ import annotations

import pslab as tf
from pslab.lab.graph_view.view import GraphStation


def test_a_view_hears_what_is_asked_and_all_views_of_a_lab_are_told_on_one_line() -> None:
    lab = tf.Lab()
    one, other = lab.graph_view(), lab.graph_view()
    assert one.line is other.line
    one._hear(one, {"ask": "unfold"}, [])
    one._hear(one, {"ask": "of another version"}, [])
    assert repr(one) == "pslab graph"
    one.close()
    other.close()


def test_a_picture_stays_the_same_until_the_graph_is_seen_otherwise() -> None:
    lab = tf.Lab()
    station = GraphStation(lab, lab._job_or_sketch)  # without a view, nobody else asks for news
    station._news()
    first = station.still()
    station.hear(None, None)
    message, _ = station._news()
    assert message["scene"] is first.scene, "a page that has just come is told everything"
    assert station.still() is first
    station.hear("unfold", None)
    station._news()
    assert len(station.still().scene["nodes"]) > len(first.scene["nodes"])

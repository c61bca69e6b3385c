"""Marks: where something was changed."""

from __future__ import annotations

from pslab.lab.panel.marks import KEPT, Mark, Marks


def test_a_change_is_marked_where_it_is_seen() -> None:
    marks = Marks()
    assert not marks.see(0, 1.0, {"update": "async", "workers": "2 workers"})
    assert not marks.see(5, 2.0, {"update": "async", "workers": "2 workers"})
    assert marks.see(9, 3.0, {"update": "sync", "workers": "4 workers"})
    assert marks.all() == [Mark(9, 3.0, "sync, 4 workers")]


def test_a_new_name_is_no_change() -> None:
    marks = Marks()
    marks.see(0, 1.0, {"update": "async", "parameter of async": "locks"})
    marks.see(4, 2.0, {"update": "ssp", "parameter of ssp": "staleness 3"})
    assert [mark.words for mark in marks.all()] == ["ssp"]


def test_what_has_no_words_is_not_marked() -> None:
    marks = Marks()
    marks.see(0, 1.0, {"rate": "rate 0.1"})
    assert not marks.see(4, 2.0, {"rate": ""})


def test_marks_after_a_return_are_forgotten_and_old_ones_go() -> None:
    marks = Marks()
    for step in range(2 * KEPT):
        marks.see(step, 0.0, {"rate": str(step)})
    assert len(marks.all()) == KEPT
    marks.cut(2 * KEPT - 2)
    assert marks.all()[-1].step == 2 * KEPT - 2

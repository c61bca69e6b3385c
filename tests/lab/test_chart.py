"""What the still figures share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from matplotlib import rcParams

from pslab.lab.chart import STYLE, styled
from tests.waiting import DEADLINE_S


def test_a_style_does_not_end_in_the_middle_of_a_figure_of_another_thread_nor_stay_for_good() -> None:
    before = dict(rcParams)
    begun, ended = Event(), Event()

    def draw() -> str:
        with styled():
            begun.set()
            assert ended.wait(DEADLINE_S)
            return str(rcParams["axes.titlelocation"])

    with ThreadPoolExecutor(1) as pool:
        with styled():
            other = pool.submit(draw)
            begun.wait(0.2)  # if nothing keeps it out, it is inside by then
        ended.set()
        assert other.result(DEADLINE_S) == STYLE["axes.titlelocation"] != before["axes.titlelocation"]
    assert dict(rcParams) == before

"""The widget: what it hears, and the picture that it leaves behind."""

from __future__ import annotations

from time import monotonic, sleep

import pytest
from IPython.core.interactiveshell import InteractiveShell

import pslab
from pslab.errors import UsageError
from pslab.lab.lab import Lab
from pslab.lab.magics import PslabMagics
from pslab.lab.parameter_view.view import ParameterView
from pslab.lab.parser import parse


@pytest.fixture(scope="module")
def lab():
    lab = Lab()
    lab.cluster.start(ps=1, workers=2, processes=False)
    lab.mode(update=pslab.Sync())
    yield lab
    lab.cluster.stop()


def wait_for(true) -> None:
    deadline = monotonic() + 30
    while not true():
        assert monotonic() < deadline
        sleep(0.02)


def test_views_of_a_lab_see_the_same_and_hear_what_is_chosen() -> None:
    lab = Lab()
    one = lab.parameter_view()
    other = lab.parameter_view("random", seed=3)
    assert one.line is other.line
    watch = lab._parameter_station.watch
    assert (watch.directions, watch.seed) == ("random", 3)
    one._hear(one, {"ask": "directions", "value": "pca"}, [])
    one._hear(one, {"ask": "directions", "value": "of another version"}, [])
    one._hear(one, {"ask": "trail", "value": "latest"}, [])
    assert (watch.directions, watch.trail) == ("pca", "latest")
    assert repr(one) == "pslab parameter view"
    assert one.still()._repr_html_() == "<div class='pslab-snapshot'></div>"
    one.close()
    other.close()


def test_directions_that_are_not_there_are_refused() -> None:
    with pytest.raises(UsageError, match="directions"):
        Lab().parameter_view("sideways")


def test_a_training_is_followed_by_itself_and_leaves_a_picture_when_it_rests(lab) -> None:
    view = lab.parameter_view()
    kept = []
    view.keep = kept.append
    watch = lab._parameter_station.watch
    lab.train(20, wait=True)
    wait_for(lambda: watch.surface is not None and watch.picture.trails["ps"][-1, 2] == 20)
    wait_for(lambda: kept)
    wait_for(lambda: "until step 20" in repr(kept[-1]))
    assert "data:image/png;base64," in kept[-1]._repr_html_()
    assert "%pslab trajectories --live opens a live one" in kept[-1]._repr_html_()
    view.close()


def test_the_verb_takes_live_with_directions_and_seed() -> None:
    options = parse("trajectories --live --directions random --seed 4")
    assert (options.live, options.directions, options.seed) == (True, "random", 4)
    assert not parse("trajectories").live


def test_the_verb_opens_a_view_and_a_file_for_it_is_refused() -> None:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")
    view = shell.run_line_magic("pslab", "trajectories --live --directions random --seed 4")
    lab = shell.user_ns["lab"]
    assert isinstance(view, ParameterView)
    assert (lab._parameter_station.watch.directions, lab._parameter_station.watch.seed) == ("random", 4)
    view.close()
    with pytest.raises(UsageError, match="a live view writes no picture"):
        PslabMagics(shell).pslab("trajectories --live picture.png")

"""Grids: every point exactly once, in order; what does not fit is refused before anything runs; what is gone on with must be the same."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.lab.described import Described
from pslab.lab.plan import Plan, plan
from pslab.lab.recipe import Recipe
from pslab.lab.setup import KEYS
from pslab.lab.until import Until
from pslab.train.strategy import Strategy
from pslab.train.updates import Async, Sync
from tests.lab.sweeps import DIGITS, NOW, TARGET, filled


def planned(grid, until=TARGET, seeds=1, seed=0, now=NOW):
    return plan(grid, now, DIGITS, until, seeds, seed)


numbers = st.lists(st.integers(1, 128), min_size=1, max_size=4, unique=True)


@given(numbers, st.permutations(["sgd", "adam", "momentum"]), st.integers(1, 4), st.integers(0, 9))
def test_every_combination_and_seed_comes_once_with_the_last_key_fastest(sizes, optimizers, seeds, seed) -> None:
    made, setups = planned({"batch_size": sizes, "optimizer": optimizers}, seeds=seeds, seed=seed)
    wanted = list(itertools.product(sizes, optimizers))
    assert [(s.batch_size, s.recipe.optimizer) for s in setups] == wanted
    assert [made.key(*run) for run in made.runs()] == [(*point, s) for s in range(seed, seed + seeds) for point in wanted]


@given(st.sets(st.integers(0, 11)))
def test_going_on_makes_what_is_missing_and_nothing_twice(made_before) -> None:
    whole = filled({"batch_size": [16, 32], "optimizer": ["sgd", "adam"]}, Until(steps=25))
    runs = list(whole.plan.runs())
    part = type(whole)(whole.plan, {run: whole.measured(*run) for i, run in enumerate(runs) if i in made_before})
    assert part.continued(whole.plan).missing == [run for i, run in enumerate(runs) if i not in made_before]


def test_a_setting_that_a_point_does_not_name_stays() -> None:
    made, setups = planned([{"batch_size": 16}, {"update": Sync()}, {"batch_size": 32, "hidden": [64, 32]}])
    assert made.keys == ("batch_size", "update", "hidden")
    assert [(s.batch_size, s.strategy.update, s.recipe.hidden) for s in setups] == [
        (16, Async(), (128,)),
        (64, Sync(), (128,)),
        (32, Async(), (64, 32)),
    ]
    assert [point["hidden"].label for point in made.points] == ["128", "128", "64-32"]


def test_values_may_be_an_array_or_a_range() -> None:
    made, _ = planned({"learning_rate": np.logspace(-2, 0, 3), "batch_size": range(8, 10)})
    assert [(point["learning_rate"].label, point["batch_size"].label) for point in made.points][::2] == [(0.01, 8), (0.1, 8), (1.0, 8)]
    assert json.loads(json.dumps(made.to_json()))["points"][0]["batch_size"]["detail"] == 8


def test_keys_are_the_fields_of_strategy_and_recipe_and_the_lab_s_numbers() -> None:
    strategy = {field.name for field in dataclasses.fields(Strategy)}
    recipe = {field.name for field in dataclasses.fields(Recipe)} - {"source", "seed"} | {"model"}
    assert strategy | recipe | {"ps", "workers", "batch_size", "reading"} <= set(KEYS)
    assert set(NOW.settings) == set(KEYS)


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({"batch_sise": [1]}, "no setting 'batch_sise'\n.*did you mean 'batch_size'"),
        ([{"seed": 1}], "no setting 'seed'"),
        ({"batch_size": []}, "nothing to run"),
        ({"batch_size": 16}, r"batch_size needs a list of values, found 16\n.*\{'batch_size': \[16\]\}"),
        ({"optimizer": "sgd"}, "optimizer needs a list"),
        ({}, "nothing to run"),
        ([], "nothing to run"),
        ([{}], "nothing to run"),
        (5, "a grid is a dict of lists, or a list of dicts"),
        ({"batch_size": [16, 16]}, "batch_size=16 comes twice"),
        ({"batch_size": [1000]}, "batch_size=1000: 2 workers with batches of 1000 need more than the 1438 examples"),
        ({"batch_size": [16.5]}, "batch_size=16.5: batch_size must be a whole number"),
        ({"batch_size": [True]}, "batch_size must be a whole number"),
        ({"commit_every": [0]}, "commit_every=0: commit_every must be a whole number from 1 on"),
        ({"commit_every": [2], "replication": ["in-graph"]}, "commit_every=2, replication=in-graph: in-graph replication commits the gradients"),
        ({"workers": [0]}, "workers=0: workers must be a whole number from 1 on"),
        ({"update": ["sync"]}, "update=sync: update must be one of pslab"),
        ({"update": [Sync(backup=2)]}, "leaves no gradient to wait for"),
        (
            {"update": [Sync(backup=1)], "replication": ["in-graph"]},
            "update=sync, 1 backup, replication=in-graph: in-graph replication has no sync, 1 backup",
        ),
        ({"optimizer": ["sdg"]}, "optimizer=sdg: "),
        ({"learning_rate": ["fast"]}, "learning_rate=fast: "),
        ({"learning_rate": [-0.1]}, "learning_rate=-0.1: "),
        ({"hidden": ["wide"]}, "hidden=wide: "),
        ({"reading": ["telepathy"]}, "reading=telepathy: "),
        ({"model": ["resnet"]}, "model=resnet: there is no model"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(grid, said) -> None:
    with pytest.raises(UsageError, match=said):
        planned(grid)


@pytest.mark.parametrize("wrong", [{"seeds": 0}, {"seeds": 1.5}, {"seed": -1}])
def test_seeds_are_whole_numbers(wrong) -> None:
    with pytest.raises(UsageError, match="must be a whole number"):
        planned({"batch_size": [16]}, **wrong)


def test_labels_tell_values_apart() -> None:
    made, _ = planned({"update": [Sync(), Sync(backup=1)], "hidden": [64, (64, 32), ()]}, now=dataclasses.replace(NOW, workers=3))
    assert [(p["update"].label, p["hidden"].label) for p in made.points][:4] == [
        ("sync", "64"),
        ("sync", "64-32"),
        ("sync", "none"),
        ("sync, 1 backup", "64"),
    ]


@pytest.mark.parametrize("value", [3, 0.5, "sgd", None, True, (1, 2), Sync(backup=2), Strategy("in-graph", Sync()), len])
def test_a_value_as_data_is_json_and_the_same_again(value) -> None:
    described = Described.of(value)
    assert Described(**json.loads(json.dumps(dataclasses.asdict(described)))) == described
    assert Described.of(Sync(backup=2)) != Described.of(Sync(backup=1))


def test_a_plan_is_json_and_the_same_again() -> None:
    made, _ = planned({"update": [Sync(), Async()], "learning_rate": [0.1, 0.2]}, seeds=3)
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert made.until == TARGET


GRID = {"batch_size": [16, 32]}


@pytest.mark.parametrize(
    ("grid", "change", "said"),
    [
        ({"optimizer": ["sgd"]}, {}, "is a sweep over batch_size, this is one over optimizer"),
        (GRID, {"now": dataclasses.replace(NOW, workers=3)}, "was run with workers=2, this is workers=3"),
        (GRID, {"until": Until(accuracy=0.9)}, "until=accuracy 0.95, steps 300, this is until=accuracy 0.9"),
        (GRID, {"now": dataclasses.replace(NOW, strategy=Strategy(update=Sync()))}, "update=async, this is update=sync"),
        ({"batch_size": [16]}, {}, "has the point batch_size=32, which this has not"),
        (GRID, {"seeds": 1}, "has the seed 1, which this has not"),
    ],
)
def test_another_experiment_is_not_gone_on_with(grid, change, said) -> None:
    begun = filled(GRID, seeds=2)
    with pytest.raises(UsageError, match=said):
        begun.continued(planned(grid, **{"seeds": 2, **change})[0])


def test_points_and_seeds_can_be_added() -> None:
    begun = filled(GRID, seeds=2)
    more = begun.continued(planned({"batch_size": [8, 16, 32]}, seeds=3)[0])
    assert [more.plan.key(*run) for run in more.missing] == [(8, 0), (8, 1), (8, 2), (16, 2), (32, 2)]
    assert more.table[more.table["batch_size"] == 32]["seconds"].tolist() == begun.table[begun.table["batch_size"] == 32]["seconds"].tolist()

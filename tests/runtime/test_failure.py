"""Errors on the wire keep their kind, text and place, and bring no code with them."""

import pytest

from pslab import errors
from pslab.graph.packing import pack
from pslab.runtime.failure import pack_error, unpack_error

KINDS = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.PslabError)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_of_the_tree_comes_back_as_itself(kind: type[errors.PslabError]) -> None:
    error = unpack_error(pack_error(kind("what was wrong", "what to do")))
    assert type(error) is kind
    assert str(error) == "what was wrong\n  hint: what to do"


def test_the_place_comes_along_and_is_told_once() -> None:
    sent = errors.InvalidArgumentError("NaN", op="a/b", device="/job:ps/task:0", origin="model.py:3: log(x)")
    error = unpack_error(pack_error(sent))
    assert isinstance(error, errors.InvalidArgumentError)
    assert (error.op, error.device, error.origin) == ("a/b", "/job:ps/task:0", "model.py:3: log(x)")
    assert str(error) == str(sent)
    assert str(error).count("model.py:3") == 1


def test_a_foreign_error_is_told_as_an_internal_one() -> None:
    error = unpack_error(pack_error(KeyError("x")))
    assert isinstance(error, errors.InternalError)
    assert "KeyError: 'x'" in str(error)


def test_a_name_that_is_no_error_makes_none() -> None:
    error = unpack_error(pack(("annotations", "text", "", None, None, None)))
    assert type(error) is errors.InternalError

"""What tests of the lab share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pslab


@pytest.fixture
def chinese() -> Iterator[None]:
    """Widgets speak Chinese, and English again afterwards."""
    pslab.set_language("zh")
    yield
    pslab.set_language("en")

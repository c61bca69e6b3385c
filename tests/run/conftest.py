"""What is printed is compared without colours, whatever an earlier test has left in the environment (a kernel sets ``FORCE_COLOR``)."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_forced_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

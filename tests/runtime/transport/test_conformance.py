"""Every kind of channel does what channels do."""

from __future__ import annotations

import pytest

from pslab.testing.transports import ChannelConformance
from tests.runtime.transport.conftest import TRANSPORTS


@pytest.mark.parametrize("pair", TRANSPORTS, indirect=True)
class TestChannels(ChannelConformance):
    pass

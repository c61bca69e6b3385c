"""Every kind of channel does what channels do, on links of every shape."""

from __future__ import annotations

import pytest

from pslab.runtime.transport import Network
from pslab.testing.shaping import ShapingConformance
from pslab.testing.transports import ChannelConformance
from tests.runtime.transport.conftest import TRANSPORTS


@pytest.mark.parametrize("pair", TRANSPORTS, indirect=True)
class TestChannels(ChannelConformance):
    pass


@pytest.mark.parametrize("shaped", ["in-process", "unix"], indirect=True)
class TestShapedChannels(ChannelConformance):
    """Bandwidth, latency and jitter change when a message arrives, and nothing else."""

    @pytest.fixture
    def pair(self, shaped):
        channels, ports = shaped
        for port in ports:
            port.shape(Network(bandwidth=4e9, latency=3e-5, jitter=3e-5))
        return channels


@pytest.mark.parametrize("shaped", TRANSPORTS, indirect=True)
class TestShaping(ShapingConformance):
    pass

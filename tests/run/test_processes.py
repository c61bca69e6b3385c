"""Ports for tasks."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pslab.errors import ResourceExhaustedError
from pslab.run import processes
from pslab.run.processes import free_addresses

HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")


def ports(addresses: list[str]) -> list[int]:
    return [int(address.rpartition(":")[2]) for address in addresses]


def test_each_task_gets_a_port_of_its_own() -> None:
    assert len(set(ports(free_addresses(50)))) == 50


@pytest.mark.skipif(not HANDED_OUT.exists(), reason="Linux tells which ports it hands out")
def test_a_connection_cannot_take_a_port_before_its_task_listens() -> None:
    first, last = map(int, HANDED_OUT.read_text().split())
    assert not set(ports(free_addresses(50))) & set(range(first, last + 1))


def test_a_port_in_use_is_passed_over_and_too_few_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    (taken, free) = ports(free_addresses(2))
    monkeypatch.setattr(processes, "_PORTS", (taken, free))
    with socket.create_server(("127.0.0.1", taken)):
        assert ports(free_addresses(1)) == [free]
        with pytest.raises(ResourceExhaustedError, match="2 tasks need a port each"):
            free_addresses(2)

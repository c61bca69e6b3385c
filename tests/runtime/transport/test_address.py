"""Addresses: written and read again, and what else can be read."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.runtime.transport import Address
from pslab.runtime.transport.address import this_machine

HOSTS = st.sampled_from(["127.0.0.1", "localhost", "node-3.example.org", "::1", "fe80::1"])


@given(host=HOSTS, port=st.integers(0, 65535), unix=st.none() | st.text(min_size=1).map("/tmp/".__add__), machine=st.text())
def test_what_was_written_is_read(host: str, port: int, unix: str | None, machine: str) -> None:
    address = Address(host, port, unix, machine)
    assert Address.parse(address.to_string()) == address


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:2222", Address("127.0.0.1", 2222)),
        ("grpc://localhost:2222", Address("localhost", 2222)),
        ("pslab://node:1", Address("node", 1)),
        ("[::1]:2222", Address("::1", 2222)),
    ],
)
def test_the_ways_to_write_an_address(text: str, expected: Address) -> None:
    assert Address.parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "localhost", "localhost:", ":2222", "localhost:http", "localhost:65536", "localhost:-1", "http://localhost:80", "[::1", "a b"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        Address.parse(text)


@given(text=st.text() | st.text("[]:/?#@%pslab0123456789."))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    with suppress(UsageError):
        address = Address.parse(text)
        assert Address.parse(address.to_string()) == address


def test_a_path_counts_on_its_own_machine_only() -> None:
    here = Address("127.0.0.1", 1, "/tmp/x", this_machine())
    assert here.unix_here == "/tmp/x"
    assert dataclasses.replace(here, machine="another").unix_here is None
    assert dataclasses.replace(here, unix=None).unix_here is None


def test_every_process_of_this_machine_agrees_on_its_name() -> None:
    program = "from pslab.runtime.transport.address import this_machine; print(this_machine())"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env).stdout.strip() == this_machine()

"""What links are like, in words and numbers."""

from __future__ import annotations

import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.runtime.transport import Duplex, Link, Network
from pslab.runtime.transport.network import parse_bandwidth, parse_time

numbers = st.integers(1, 10**6)
prefixes = st.sampled_from([("", 1), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)])
spaces = st.sampled_from(["", " ", "  "])


@given(numbers, spaces, prefixes, st.sampled_from([("bit", 8), ("bit/s", 8), ("bps", 8), ("B", 1), ("B/s", 1)]))
def test_a_bandwidth_in_words_is_bytes_per_second(number, space, prefix, unit) -> None:
    assert parse_bandwidth(f"{number}{space}{prefix[0]}{unit[0]}") == pytest.approx(number * prefix[1] / unit[1])


@given(numbers, spaces, st.sampled_from([("s", 1), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)]))
def test_a_time_in_words_is_seconds(number, space, unit) -> None:
    assert parse_time(f"{number}{space}{unit[0]}") == pytest.approx(number * unit[1])


@given(st.floats(1e-3, 1e15))
def test_numbers_are_as_they_are(value) -> None:
    assert parse_bandwidth(value) == parse_time(value) == value


@given(st.text(max_size=12))
def test_any_words_are_a_number_or_refused(text) -> None:
    for parse in (parse_bandwidth, parse_time):
        with suppress(UsageError):
            assert parse(text) >= 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Network(bandwidth=0), "more than 0 bytes per second, found 0"),
        (lambda: parse_bandwidth("0Mbit"), "more than 0 bytes per second, found 0"),
        (lambda: Network(latency=-1), "a latency must be 0 s or more, found -1"),
        (lambda: Link(jitter=float("nan")), "a jitter must be 0 s or more, found nan"),
        (lambda: Network(duplex="quarter"), "duplex must be full or half, found 'quarter'"),
        (lambda: Network().with_link(("ps:0", "ps:0"), Link()), "found ps:0 twice"),
    ],
)
def test_what_no_link_is_like_is_refused(make, said) -> None:
    with pytest.raises(UsageError, match=said):
        make()


def test_a_link_is_as_the_network_but_for_what_is_its_own() -> None:
    network = Network(1e6, 0.01, 0.002).with_link(("worker:1", "ps:0"), Link(latency=0.5)).with_link(("ps:0", "worker:0"), Link(bandwidth=10.0))
    assert network.between("ps:0", "worker:1") == network.between("worker:1", "ps:0") == Link(None, 0.5, 0.002)
    assert network.between("worker:0", "ps:0") == Link(10.0, 0.01, 0.002)
    assert network.between("worker:2", "ps:0") == Link(None, 0.01, 0.002)
    assert network.with_link(("ps:0", "worker:1"), Link()).with_link(("ps:0", "worker:0"), Link()) == Network(1e6, 0.01, 0.002)


def test_a_network_travels_and_tells_itself_from_others() -> None:
    network = Network(1e6, duplex=Duplex.HALF).with_link(("worker:1", "ps:0"), Link(latency=0.5))
    again = pickle.loads(pickle.dumps(network))
    assert (again, again.token) == (network, network.token)
    assert network.token != Network(1e6).token
    assert network.shaped and not Network().shaped and not Network(duplex="half").shaped


def test_a_network_says_what_it_is_like() -> None:
    network = Network(parse_bandwidth("100Mbit"), 1e-3, 2e-4).with_link(("worker:1", "ps:0"), Link(bandwidth=parse_bandwidth("1.5Gbit")))
    assert str(network) == "100 Mbit/s, latency 1 ms, jitter 200 µs full duplex; ps:0 – worker:1: 1.5 Gbit/s"
    assert str(Network()) == "links as fast as they go"

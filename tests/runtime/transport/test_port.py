"""A task's port: whom it is shared by."""

from __future__ import annotations

from time import monotonic

import pytest

from pslab.runtime.transport import Kind, Link, Message, Network, Port, inprocess_pair
from pslab.runtime.transport.message import STAMP
from pslab.runtime.transport.port import Path
from pslab.testing.shaping import BANDWIDTH, message, takes_at_least
from pslab.testing.transports import DEADLINE_S, Background


def star(network: Network, leaves: int):
    """A ps with a channel to each of some workers, all shaped alike."""
    ps, workers = Port("ps:0"), [Port(f"worker:{i}") for i in range(leaves)]
    for port in (ps, *workers):
        port.shape(network)
    return [inprocess_pair((f"worker:{i}", "ps:0"), ports=(port, ps)) for i, port in enumerate(workers)]


def test_senders_into_one_port_queue_there_and_are_not_held_up_themselves() -> None:
    channels = star(Network(BANDWIDTH), 3)
    with takes_at_least(3 * 0.05):
        sending = [Background(lambda c=worker: c.send(message(0.05))) for worker, _ in channels]
        for _, ps in channels:
            ps.recv(DEADLINE_S)
    for background in sending:
        background.result()


def test_a_sender_to_many_shares_its_port_among_them() -> None:
    channels = star(Network(BANDWIDTH), 3)
    with takes_at_least(3 * 0.05):
        sending = [Background(lambda c=ps: c.send(message(0.05))) for _, ps in channels]
        for background in sending:
            background.result()


def test_links_between_others_are_as_they_were() -> None:
    network = Network().with_link(("worker:0", "ps:0"), Link(latency=300.0))
    (slow, slow_ps), (quick, quick_ps) = star(network, 2)
    slow.send(Message(Kind.STEP, step=1))
    quick.send(Message(Kind.STEP, step=2))
    assert quick_ps.recv(DEADLINE_S).step == 2
    waiting = Background(slow_ps.recv)
    assert waiting.runs_for(0.05)
    slow_ps.close()


def path(network: Network) -> Path:
    port = Port("worker:0")
    port.shape(network)
    found = port.line("ps:0").path
    assert found is not None
    return found


def test_a_message_read_late_arrived_when_it_came() -> None:
    """A worker that reads one ps's answer first does not pay for the other's twice."""
    here = path(Network(BANDWIDTH))
    stamp = here.depart(4000).stamp
    later = Message(STAMP, plan=stamp.step + 10**9, step=stamp.step + 10**9 + 10**6, cut=stamp.cut, fields=stamp.fields)
    assert here.arrive(later, 4000) == later.step
    assert here.arrive(stamp, 4000) == stamp.step


def test_the_clock_of_another_machine_is_not_believed() -> None:
    here = path(Network(BANDWIDTH, latency=0.5))
    stamp, _ = here.depart(4000)
    day = 86_400 * 10**9
    sent, _ = stamp.fields
    other = Message(STAMP, plan=stamp.plan + day, step=stamp.step + day, cut=stamp.cut, fields=(sent + day, 1))
    due = here.arrive(other, 4000) * 1e-9
    assert due - sent * 1e-9 >= 0.5
    assert due <= monotonic() + 0.5 + 0.001 + 1e-6


def test_jitter_is_the_same_each_time_has_its_mean_and_differs_by_link() -> None:
    def delays(peer: str) -> list[float]:
        port = Port("worker:0")
        port.shape(Network(jitter=0.01))
        found = port.line(peer).path
        assert found is not None
        return [(stamp.plan - stamp.fields[0]) * 1e-9 for stamp in (found.depart(100).stamp for _ in range(2000))]

    first = delays("ps:0")
    assert first == pytest.approx(delays("ps:0"))
    assert first != pytest.approx(delays("ps:1"))
    assert min(first) >= 0
    assert sum(first) / len(first) == pytest.approx(0.01, rel=0.1)


def test_a_line_that_takes_no_time_is_not_shaped() -> None:
    port = Port("worker:0")
    assert port.line("ps:0").path is None
    port.shape(Network(1e6))
    assert port.line("ps:0").path is not None
    port.shape(Network(duplex="half"))
    assert port.line("ps:0").path is None

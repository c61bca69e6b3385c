"""Simulated ports and cores, against what is known on paper."""

from __future__ import annotations

import pytest

from pslab.runtime.transport import Link, Network
from pslab.simulate import closed_forms
from pslab.simulate.events import Events, Mail
from pslab.simulate.machines import NS, Machines

BETA, ALPHA, SIZE = 1e6, 0.01, 1e5


def test_a_message_takes_alpha_and_size_over_beta_and_holds_its_sender_up_for_the_latter() -> None:
    machines = Machines(Events(), Network(BETA, ALPHA))
    end, due = machines.send("worker:0", "ps:0", SIZE)
    assert end / NS == pytest.approx(SIZE / BETA)
    assert due / NS == pytest.approx(closed_forms.message(SIZE, ALPHA, BETA))


def test_messages_into_one_port_queue_there() -> None:
    machines = Machines(Events(), Network(BETA, ALPHA))
    dues = [machines.send(f"worker:{i}", "ps:0", SIZE)[1] / NS for i in range(3)]
    assert dues == pytest.approx([ALPHA + (i + 1) * SIZE / BETA for i in range(3)])


@pytest.mark.parametrize(("duplex", "times"), [("full", 1), ("half", 2)])
def test_half_duplex_shares_a_port_among_both_directions(duplex: str, times: int) -> None:
    machines = Machines(Events(), Network(BETA, duplex=duplex))
    machines.send("worker:0", "ps:0", SIZE)
    _, due = machines.send("ps:0", "worker:1", SIZE)
    assert due / NS == pytest.approx(times * SIZE / BETA)


def test_jitter_comes_on_top_and_has_its_mean() -> None:
    machines = Machines(Events(), Network(latency=ALPHA, jitter=0.002))
    late = [machines.send("worker:0", "ps:0", SIZE)[1] / NS - ALPHA for _ in range(2000)]
    assert min(late) >= 0
    assert sum(late) / len(late) == pytest.approx(0.002, rel=0.1)


def test_a_cable_of_its_own_takes_nothing_of_the_ports() -> None:
    machines = Machines(Events(), Network(BETA).with_link(("worker:0", "ps:0"), Link(bandwidth=10 * BETA)))
    assert machines.send("worker:0", "ps:0", SIZE)[1] / NS == pytest.approx(SIZE / BETA / 10)
    assert machines.send("worker:1", "ps:0", SIZE)[1] / NS == pytest.approx(SIZE / BETA)


@pytest.mark.parametrize(("workers", "cores"), [(1, 2), (2, 2), (4, 2), (6, 3), (8, 2)])
def test_workers_share_cores(workers: int, cores: int) -> None:
    machines = Machines(Events(), Network(), cores)
    assert max(machines.compute(0.5) for _ in range(workers)) / NS == pytest.approx(closed_forms.computing(0.5, workers, cores))


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_a_ring_takes_what_its_closed_form_says(workers: int) -> None:
    events, mail = Events(), Mail()
    machines = Machines(events, Network(BETA, ALPHA))
    ended = []

    def worker(me: int):
        for round in range(2 * (workers - 1)):
            right = (me + 1) % workers
            end, due = machines.send(f"worker:{me}", f"worker:{right}", SIZE / workers)
            mail.post((right, round), due)
            yield end
            yield from mail.take((me, round))
        ended.append(events.now)

    for me in range(workers):
        events.begin(worker(me))
    assert events.run(lambda: len(ended) == workers)
    assert max(ended) / NS == pytest.approx(closed_forms.ring_all_reduce(SIZE, workers, ALPHA, BETA))


def test_processes_that_wait_for_each_other_end_the_run() -> None:
    events, mail = Events(), Mail()
    events.begin(mail.take("never"))
    assert not events.run(lambda: False)

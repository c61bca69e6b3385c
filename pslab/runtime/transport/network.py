"""What links are like: their bandwidth, their latency, their jitter. A value that every task is given, and keeps to."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from pslab.errors import UsageError

Pair = tuple[str, str]
"""Two tasks, in alphabetical order."""


class Duplex(StrEnum):
    """Whether both directions go at once."""

    FULL = "full"
    """Each direction has the whole bandwidth."""
    HALF = "half"
    """Both directions share one bandwidth, as over the air."""


@dataclass(frozen=True)
class Link:
    """What is special about the link between two tasks; what is None is as the network has it.

    Attributes:
        bandwidth: bytes per second. A link with a bandwidth of its own is a cable of its own: what it carries takes nothing of the two tasks' ports.
        latency: seconds.
        jitter: seconds, as `Network.jitter`.
    """

    bandwidth: float | None = None
    latency: float | None = None
    jitter: float | None = None

    def __post_init__(self) -> None:
        _check(self.bandwidth, self.latency, self.jitter)


@dataclass(frozen=True)
class Network:
    """The shape of all links between the tasks.

    Each task has a *port*. A message of S bytes keeps the sender's port busy for S / bandwidth, and the receiver's for as long; where nothing is in its
    way, both at the same time (cut-through), so it arrives S / bandwidth + latency after it began to leave: Hockney's α–β model (1994, "The communication
    challenge for MPP"). Messages to one port queue there (incast).

    Attributes:
        bandwidth: bytes per second of a port in each direction, or of both together where it is half duplex; None for as fast as it goes.
        latency: seconds from the leaving of a byte to its arrival. It holds no sender up.
        jitter: mean in seconds of what comes on top of a message's latency: exponentially distributed, from a seeded sequence per link and direction.
            Messages of one channel never overtake each other.
        duplex: whether a port sends and receives at the same time.
        links: what is special about single links.
        seed: of the jitter.

    Raises:
        UsageError: a number is out of range.
    """

    bandwidth: float | None = None
    latency: float = 0.0
    jitter: float = 0.0
    duplex: Duplex = Duplex.FULL
    links: tuple[tuple[Pair, Link], ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.bandwidth, self.latency, self.jitter)
        object.__setattr__(self, "duplex", _duplex(self.duplex))

    @property
    def shaped(self) -> bool:
        """Whether any link is other than as fast as it goes."""
        return self != Network(duplex=self.duplex, seed=self.seed)

    @property
    def token(self) -> int:
        """A number that tells this network from others: 32 bits."""
        return zlib.crc32(repr(self).encode())

    def between(self, one: str, other: str) -> Link:
        """What the link of two tasks is like, with nothing left open but its bandwidth: None where it goes by the tasks' ports."""
        own = dict(self.links).get(pair(one, other), Link())
        return Link(own.bandwidth, self.latency if own.latency is None else own.latency, self.jitter if own.jitter is None else own.jitter)

    def with_link(self, between: Iterable[str], link: Link) -> Network:
        """The same with one link changed; it is as all others if ``link`` says nothing."""
        links = dict(self.links)
        links[pair(*between)] = link
        return replace(self, links=tuple(sorted((p, which) for p, which in links.items() if which != Link())))

    def __str__(self) -> str:
        if not self.shaped:
            return "links as fast as they go"
        duplex = f" {self.duplex} duplex" if self.bandwidth is not None else ""
        said = [say_link(self.bandwidth, self.latency, self.jitter) + duplex]
        said += [f"{one} – {other}: {say_link(link.bandwidth, link.latency, link.jitter)}" for (one, other), link in self.links]
        return "; ".join(said)


def pair(one: str, other: str) -> Pair:
    """Two tasks in the order that a `Network` keeps them in.

    Raises:
        UsageError: they are the same.
    """
    if one == other:
        raise UsageError(f"a link is between two tasks, found {one} twice")
    return (one, other) if one < other else (other, one)


def say_link(bandwidth: float | None, latency: float | None, jitter: float | None) -> str:
    """What a link is like, for people."""
    said = [] if bandwidth is None else [f"{_round(bandwidth * 8, 'bit/s', ('', 'k', 'M', 'G', 'T'))}"]
    said += [f"latency {_say_time(latency)}"] if latency else []
    said += [f"jitter {_say_time(jitter)}"] if jitter else []
    return ", ".join(said) or "as fast as it goes"


def _round(value: float, unit: str, prefixes: tuple[str, ...]) -> str:
    power = min(max(0, int(math.log10(value) // 3)), len(prefixes) - 1) if 0 < value < math.inf else 0
    return f"{value / 1000**power:g} {prefixes[power]}{unit}"


def _say_time(seconds: float) -> str:
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:g} µs"


_NUMBER = r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*"
_BANDWIDTH = re.compile(_NUMBER + r"([kMGT]?)(bit|bps|bit/s|B|B/s)\s*", re.IGNORECASE)
_TIME = re.compile(_NUMBER + r"(s|ms|us|µs|ns)\s*", re.IGNORECASE)
_PREFIX = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def parse_bandwidth(value: float | str) -> float:
    """Bytes per second: from a number of them, or from words such as ``"100Mbit"``, ``"1 Gbit/s"``, ``"12.5MB/s"``.

    Raises:
        UsageError: it is none, or not more than 0.
    """
    if isinstance(value, str):
        found = _BANDWIDTH.fullmatch(value)
        if found is None:
            raise UsageError(f"{value!r} is no bandwidth", "such as 100Mbit, 1Gbit or 12MB/s")
        number, prefix, unit = found.groups()
        value = float(number) * _PREFIX[prefix.lower()] / (8 if unit.lower().startswith(("bit", "bps")) else 1)
    _check(value, None, None)
    return float(value)


def parse_time(value: float | str) -> float:
    """Seconds: from a number of them, or from words such as ``"1ms"``, ``"200us"``, ``"0.5 s"``.

    Raises:
        UsageError: it is none, or less than 0.
    """
    if isinstance(value, str):
        found = _TIME.fullmatch(value)
        if found is None:
            raise UsageError(f"{value!r} is no length of time", "such as 1ms, 200us or 0.5s")
        number, unit = found.groups()
        value = float(number) * _SECONDS[unit.lower()]
    _check(None, value, None)
    return float(value)


def _duplex(value: str) -> Duplex:
    try:
        return Duplex(value)
    except ValueError:
        raise UsageError(f"duplex must be {' or '.join(Duplex)}, found {value!r}") from None


def _check(bandwidth: float | None, latency: float | None, jitter: float | None) -> None:
    if bandwidth is not None and not bandwidth > 0:
        raise UsageError(f"a bandwidth must be more than 0 bytes per second, found {bandwidth:g}", "None, or unlink, makes links as fast as they go")
    for name, value in (("latency", latency), ("jitter", jitter)):
        if value is not None and not 0 <= value < math.inf:
            raise UsageError(f"a {name} must be 0 s or more, found {value:g}")

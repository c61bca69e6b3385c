"""What every channel must do, whatever it runs over: a suite of tests to inherit from."""
# ruff: noqa: D102 (the name of a test says what it is about)

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from pslab.errors import CancelledError, DeadlineExceededError, InternalError, InvalidArgumentError, PslabError, UnavailableError
from pslab.runtime.transport import Channel, Kind, Message

DEADLINE_S = 30.0
DTYPES = (
    "<f4",
    "<f8",
    ">f8",
    "<f2",
    "<c8",
    "<c16",
    "|b1",
    "|i1",
    "<i2",
    "<i4",
    "<i8",
    "|u1",
    ">u2",
    "<u8",
    "<M8[us]",
    "<m8[25s]",
    "<U3",
    "|S5",
    "<f16",
)
INT64 = st.integers(-(2**63), 2**63 - 1)
Pair = tuple[Channel, Channel]


class Background:
    """A call in a thread of its own, whose outcome can be waited for.

    Args:
        call: what to call.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._value: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as error:
            self._error = error

    def runs_for(self, seconds: float) -> bool:
        """Whether the call has not come to an end that many seconds from now."""
        self._thread.join(seconds)
        return self._thread.is_alive()

    def result(self) -> Any:
        """What the call returned; raises what it raised."""
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive(), f"it was not done in {DEADLINE_S} s"
        if self._error is not None:
            raise self._error
        return self._value


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for ``condition`` to hold, `DEADLINE_S` seconds at most."""
    deadline, pause = monotonic() + DEADLINE_S, threading.Event()
    while not condition():
        assert monotonic() < deadline, f"it did not come to be in {DEADLINE_S} s"
        pause.wait(0.005)


def pass_on(pair: Pair, message: Message) -> Message:
    """Send ``message`` from the first channel, and return what the second receives."""
    sending = Background(lambda: pair[0].send(message))
    received = pair[1].recv(DEADLINE_S)
    assert sending.result() == received.size
    return received


def assert_same(found: Any, expected: Any) -> None:
    """Whether two arrays agree in dtype, shape and every bit."""
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tolist() == expected.tolist() if found.dtype.hasobject else found.tobytes() == expected.tobytes()


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Arrays of every dtype that can be sent: without axes, empty, of one element, in any order of memory."""
    array = draw(npst.arrays(draw(st.sampled_from(DTYPES)), npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
    match draw(st.sampled_from(("as it is", "transposed", "reversed", "sliced"))):
        case "transposed":
            return array.T
        case "reversed":
            return np.flip(array)
        case "sliced" if array.ndim:
            return array[..., ::2]
    return array


strings = st.lists(st.text() | st.binary(), max_size=6).map(lambda found: np.array([*found, None], object)[:-1])

every_example = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


class ChannelConformance:
    """The tests. A subclass has a fixture ``pair`` that gives two channels, each the other's far end."""

    @every_example
    @given(sent=st.lists(arrays() | strings, max_size=5))
    def test_arrays_arrive_as_they_were(self, pair: Pair, sent: list[np.ndarray[Any, Any]]) -> None:
        received = pass_on(pair, Message(Kind.TENSORS, arrays=tuple(sent)))
        assert len(received.arrays) == len(sent)
        for found, expected in zip(received.arrays, sent, strict=True):
            assert_same(found, expected)

    @every_example
    @given(
        kind=st.sampled_from(Kind),
        plan=INT64,
        step=INT64,
        cut=st.integers(0, 2**32 - 1),
        fields=st.lists(INT64, max_size=16).map(tuple),
        body=st.binary(max_size=300),
    )
    def test_numbers_and_body_arrive(self, pair: Pair, kind: Kind, plan: int, step: int, cut: int, fields: tuple[int, ...], body: bytes) -> None:
        received = pass_on(pair, Message(kind, plan, step, cut, fields, body))
        assert received == Message(kind, plan, step, cut, fields, body, size=received.size)

    @pytest.mark.parametrize("value", [np.float32(1.5), 2.5, 7, True, [[1, 2], [3, 4]]])
    def test_scalars_and_lists_arrive_as_arrays(self, pair: Pair, value: Any) -> None:
        assert_same(pass_on(pair, Message(Kind.STEP, arrays=(value,))).arrays[0], value)

    @pytest.mark.parametrize("size", [0, 1, 100, 65_000, 65_536, 70_000, 1_000_000])
    def test_bodies_of_every_length_arrive(self, pair: Pair, size: int) -> None:
        body = np.random.default_rng(size).bytes(size)
        for _ in range(3):  # what is read ahead must not mix with what follows
            assert pass_on(pair, Message(Kind.REGISTER, body=body)).body == body

    def test_a_big_message_arrives(self, pair: Pair) -> None:
        big = np.random.default_rng(0).integers(0, 2**63, size=(8, 1 << 20))
        small = np.arange(3)
        received = pass_on(pair, Message(Kind.TENSORS, arrays=(big, small)))
        assert_same(received.arrays[0], big)
        assert_same(received.arrays[1], small)

    def test_a_message_of_many_arrays_arrives(self, pair: Pair) -> None:
        sent = tuple(np.full(i % 700, i) for i in range(3000))
        received = pass_on(pair, Message(Kind.TENSORS, arrays=sent))
        for found, expected in zip(received.arrays, sent, strict=True):
            assert_same(found, expected)

    def test_messages_keep_their_order_both_ways(self, pair: Pair) -> None:
        one, other = pair
        for step in range(50):
            one.send(Message(Kind.STEP, step=step, arrays=(np.full(step, step),)))
            other.send(Message(Kind.DONE, step=-step))
        for step in range(50):
            assert other.recv(DEADLINE_S).step == step
            assert one.recv(DEADLINE_S).step == -step

    def test_both_sides_count_the_same_bytes(self, pair: Pair) -> None:
        one, other = pair
        messages = (Message(Kind.STEP), Message(Kind.DONE, fields=(1, 2), body=b"abc"), Message(Kind.TENSORS, arrays=(np.ones((3, 5)), np.array(1))))
        sent = [one.send(message) for message in messages]
        assert sent == [other.recv(DEADLINE_S).size for _ in messages]
        assert one.bytes_sent == other.bytes_received == sum(sent)
        assert one.bytes_received == other.bytes_sent == 0
        assert sent[2] >= sent[0] + 3 * 5 * 8 + 8

    @pytest.mark.parametrize("shape", [(), (8,), (2, 3)])
    def test_what_was_sent_may_be_changed_afterwards(self, pair: Pair, shape: tuple[int, ...]) -> None:
        array = np.ones(shape)
        pair[0].send(Message(Kind.TENSORS, arrays=(array,)))
        array[...] = -1
        assert_same(pair[1].recv(DEADLINE_S).arrays[0], np.ones(shape))

    def test_what_was_received_belongs_to_the_receiver(self, pair: Pair) -> None:
        array = np.zeros(4)
        pair[0].send(Message(Kind.TENSORS, arrays=(array, array)))
        pair[0].send(Message(Kind.TENSORS, arrays=(array,)))
        first, second = pair[1].recv(DEADLINE_S).arrays
        first += 1
        (later,) = pair[1].recv(DEADLINE_S).arrays
        assert (first.tolist(), second.tolist(), later.tolist(), array.tolist()) == ([1] * 4, [0] * 4, [0] * 4, [0] * 4)

    @pytest.mark.parametrize("timeout", [0.0, 0.02, -1.0])
    def test_a_timeout_says_so_and_harms_nothing(self, pair: Pair, timeout: float) -> None:
        one, other = pair
        with pytest.raises(DeadlineExceededError, match=other.peer):
            other.recv(timeout)
        assert other.alive()
        one.send(Message(Kind.STEP, step=5))
        assert other.recv(DEADLINE_S).step == 5

    def test_without_a_timeout_recv_waits(self, pair: Pair) -> None:
        receiving = Background(pair[1].recv)
        assert receiving.runs_for(0.05)
        pair[0].send(Message(Kind.STEP, step=7))
        assert receiving.result().step == 7

    def test_what_came_already_needs_no_time(self, pair: Pair) -> None:
        for step in range(3):
            pair[0].send(Message(Kind.STEP, step=step))
        assert pair[1].recv(DEADLINE_S).step == 0  # the others may have been read ahead with it
        assert [pair[1].recv(DEADLINE_S).step for _ in range(2)] == [1, 2]
        with pytest.raises(DeadlineExceededError):
            pair[1].recv(0)

    @pytest.mark.parametrize("timeout", [None, DEADLINE_S])
    def test_closing_wakes_both_ends(self, pair: Pair, timeout: float | None) -> None:
        one, other = pair
        here, there = Background(lambda: one.recv(timeout)), Background(lambda: other.recv(timeout))
        assert here.runs_for(0.05)
        one.close()
        with pytest.raises(CancelledError):
            here.result()
        with pytest.raises(UnavailableError, match=other.peer):
            there.result()

    def test_a_closed_channel_says_so(self, pair: Pair) -> None:
        one, other = pair
        assert one.alive() and other.alive()
        one.close()
        one.close()
        assert not one.alive()
        wait_until(lambda: not other.alive())
        for use in (lambda: one.send(Message(Kind.STEP)), one.recv, lambda: one.recv(0)):
            with pytest.raises(CancelledError):
                use()
        for _ in range(2):
            with pytest.raises(UnavailableError):
                other.recv(DEADLINE_S)

    def test_sending_to_who_has_closed_fails(self, pair: Pair) -> None:
        one, other = pair
        other.close()
        wait_until(lambda: not one.alive())

        def send_on() -> None:
            for _ in range(1000):  # the first may still find room in a buffer
                one.send(Message(Kind.STEP, arrays=(np.zeros(10_000),)))

        with pytest.raises(UnavailableError, match=one.peer):
            send_on()

    def test_what_was_sent_before_closing_arrives(self, pair: Pair) -> None:
        pair[0].send(Message(Kind.DONE, step=1))
        pair[0].close()
        assert pair[1].recv(DEADLINE_S).step == 1
        with pytest.raises(UnavailableError):
            pair[1].recv(DEADLINE_S)

    @pytest.mark.parametrize(
        ("message", "error"),
        [
            (Message(Kind.TENSORS, arrays=(np.array([{}], object),)), InvalidArgumentError),
            (Message(Kind.TENSORS, arrays=(np.zeros(2, [("a", "i4")]),)), InvalidArgumentError),
            (Message(Kind.TENSORS, arrays=(np.zeros(2, "V3"),)), InvalidArgumentError),
            (Message(Kind.DONE, fields=(0,) * 17), InternalError),
            (Message(Kind.DONE, fields=(2**63,)), InternalError),
            (Message(Kind.DONE, step=2**63), InternalError),
        ],
    )
    def test_what_cannot_be_sent_is_refused_before_anything_is_sent(self, pair: Pair, message: Message, error: type[PslabError]) -> None:
        with pytest.raises(error):
            pair[0].send(message)
        assert pair[0].bytes_sent == 0
        assert pass_on(pair, Message(Kind.STEP, step=3)).step == 3

    def test_any_thread_may_ask_whether_it_is_alive(self, pair: Pair) -> None:
        receiving = Background(pair[1].recv)
        asking = [Background(lambda: all(pair[1].alive() for _ in range(300))) for _ in range(4)]
        assert all(a.result() for a in asking)
        pair[0].send(Message(Kind.STEP))
        assert receiving.result().kind == Kind.STEP

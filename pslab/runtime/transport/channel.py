"""What a channel is, whatever it runs over."""

from __future__ import annotations

from typing import Protocol

from pslab.runtime.transport.message import Message


class Channel(Protocol):
    """A two-way stream of messages between two tasks. One thread at a time uses it; any may close it.

    Attributes:
        peer: who is at the other end.
        bytes_sent: bytes sent until now.
        bytes_received: bytes received until now.
    """

    peer: str
    bytes_sent: int
    bytes_received: int

    def send(self, message: Message) -> int:
        """Send a message; returns its bytes on the wire. It may block until the peer takes it. The arrays may be written to afterwards.

        Raises:
            UnavailableError: the peer is gone.
            CancelledError: the channel was closed on this side.
            InvalidArgumentError: an array of what cannot be sent. Nothing was sent.
            ResourceExhaustedError: the message is too big. Nothing was sent.
        """

    def recv(self, timeout: float | None = None) -> Message:
        """Wait for a message. A timeout strikes between messages only, never within one.

        Args:
            timeout: seconds; None waits for ever.

        Raises:
            DeadlineExceededError: nothing began to come in time.
            UnavailableError: the peer is gone.
            CancelledError: the channel was closed on this side.
            DataLossError: what came is not a message; the channel is closed.
            ResourceExhaustedError: there is no memory for it; the channel is closed.
        """

    def alive(self) -> bool:
        """Whether the peer has not closed its end."""

    def close(self) -> None:
        """Close both directions; whoever waits at either end is told."""

"""What a `distributed.Security` means for each of the connections of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Encryption:
    """Arguments for connections that are secured as a `distributed.Security` says, or not at all.

    Attributes:
        security: a `distributed.Security`, or None.
    """

    security: Any

    @property
    def protocol(self) -> str:
        """Scheme of the addresses."""
        return "tcp" if self.listening.get("ssl_context") is None else "tls"

    @property
    def listening(self) -> dict[str, Any]:
        """Arguments for listening on Dask's RPC."""
        return self.security.get_listen_args("worker") if self.security else {}

    @property
    def connecting(self) -> dict[str, Any]:
        """Arguments for connecting to Dask's RPC."""
        return self.security.get_connection_args("worker") if self.security else {}

    @property
    def contexts(self) -> tuple[Any, Any] | None:
        """TLS contexts of the data plane (for listening, for connecting), or None for plain sockets."""
        return None if self.protocol == "tcp" else (self.listening["ssl_context"], self.connecting["ssl_context"])

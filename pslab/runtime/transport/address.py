"""Where a task's server listens."""

from __future__ import annotations

import functools
import hashlib
import os
import socket
from dataclasses import dataclass
from urllib.parse import parse_qs, urlencode, urlsplit

from pslab.errors import UsageError


@dataclass(frozen=True)
class Address:
    """Where a server listens, for peers on other machines and on this one.

    Attributes:
        host: host name or IP address.
        port: TCP port.
        unix: path of its Unix-domain socket, or None.
        machine: which machine (and container) the path is on.
    """

    host: str
    port: int
    unix: str | None = None
    machine: str = ""

    @property
    def unix_here(self) -> str | None:
        """The path of the Unix-domain socket, if it is on this machine."""
        return self.unix if self.unix and self.machine == this_machine() else None

    def to_string(self) -> str:
        """``pslab://host:port?unix=…&machine=…``; `parse` reads it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = urlencode({k: v for k, v in (("unix", self.unix), ("machine", self.machine)) if v})
        return f"pslab://{host}:{self.port}" + (f"?{query}" if query else "")

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address: what `to_string` wrote, or ``host:port``, or ``grpc://host:port`` as TensorFlow's programs write it.

        Raises:
            UsageError: it is none of these.
        """
        try:
            parts = urlsplit(text if "://" in text else f"pslab://{text}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host or port is None or parts.scheme not in ("pslab", "grpc"):
            raise UsageError(f"{text!r} is not the address of a task", "write host:port, such as 127.0.0.1:2222")
        query = parse_qs(parts.query)
        return cls(host, port, query.get("unix", [None])[0], query.get("machine", [""])[0])


@functools.cache
def this_machine() -> str:
    """A name for this machine and this container: peers with the same one see the same files and Unix-domain sockets."""
    marks = [socket.gethostname()]
    for path in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id"):
        if os.path.exists(path):
            with open(path) as file:
                marks.append(file.read().strip())
            break
    for namespace in ("mnt", "net"):
        link = f"/proc/self/ns/{namespace}"
        if os.path.exists(link):
            marks.append(os.readlink(link))
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()[:16]

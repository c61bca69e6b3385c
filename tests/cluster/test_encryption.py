"""Connections secured as a `distributed.Security` says."""

from __future__ import annotations

import pytest

from pslab.cluster import Cluster
from pslab.cluster.encryption import Encryption
from pslab.testing.certificates import tls_contexts
from tests.cluster.processes import SERVICE


@pytest.fixture
def security(tmp_path):
    from distributed import Security

    tls_contexts(tmp_path)
    files = {"cert": str(tmp_path / "certificate.pem"), "key": str(tmp_path / "key.pem")}
    roles = {f"tls_{role}_{kind}": file for role in ("client", "scheduler", "worker") for kind, file in files.items()}
    return Security(tls_ca_file=files["cert"], require_encryption=True, **roles)


@pytest.mark.parametrize("processes", [True, False])
def test_all_connections_are_secured(security, processes) -> None:
    with Cluster(1, 1, processes=processes, security=security, service=SERVICE) as cluster:
        assert cluster.status().scheduler.startswith("tls://" if processes else "")
        assert cluster.call_all("encrypts") == dict.fromkeys(cluster.tasks, True)
        assert cluster.call("worker:0", "find", task="ps:0")


def test_without_security_connections_are_plain() -> None:
    plain = Encryption(None)
    assert (plain.protocol, plain.listening, plain.connecting, plain.contexts) == ("tcp", {}, {}, None)


def test_a_security_without_certificates_is_plain() -> None:
    from distributed import Security

    assert Encryption(Security()).protocol == "tcp"
    assert Encryption(Security()).contexts is None

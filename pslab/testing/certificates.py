"""A certificate for 127.0.0.1, for tests of secured channels."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def tls_contexts(directory: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts (for listening, for connecting) that trust each other; the test is skipped where no certificate can be made.

    Args:
        directory: where to put the certificate and its key.
    """
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl to make a certificate with")
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=pslab tests"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    listening = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    listening.load_cert_chain(certificate, key)
    return listening, ssl.create_default_context(cafile=str(certificate))

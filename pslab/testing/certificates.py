"""A certificate for 127.0.0.1, for tests of secured channels."""

from __future__ import annotations

import datetime
import ipaddress
import shutil
import ssl
import subprocess
from importlib import import_module
from pathlib import Path

import pytest


def tls_contexts(directory: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts (for listening, for connecting) that trust each other; the test is skipped where no certificate can be made.

    Args:
        directory: where to put the certificate and its key.
    """
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    try:
        _by_cryptography(certificate, key)
    except ImportError:
        _by_openssl(certificate, key)
    listening = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    listening.load_cert_chain(certificate, key)
    return listening, ssl.create_default_context(cafile=str(certificate))


def _by_cryptography(certificate: Path, key: Path) -> None:
    x509 = import_module("cryptography.x509")
    hashes, serialization, ec = (import_module(f"cryptography.hazmat.primitives.{name}") for name in ("hashes", "serialization", "asymmetric.ec"))
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "pslab tests")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(
        name, name, private.public_key(), x509.random_serial_number(), now - datetime.timedelta(days=1), now + datetime.timedelta(days=1)
    )
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate.write_bytes(builder.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    key.write_bytes(private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def _by_openssl(certificate: Path, key: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("neither cryptography nor openssl to make a certificate with")
    command = [
        openssl,
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=pslab tests",
    ]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)

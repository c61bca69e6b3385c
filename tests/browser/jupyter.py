"""A real JupyterLab and a real Chromium, for tests."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_S = 60


@contextmanager
def jupyterlab(directory: Path) -> Iterator[str]:
    """JupyterLab on ``directory``; yields the address that a browser opens it by."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={token}", f"--notebook-dir={directory}"),
        "--LabApp.news_url=",
    ]
    settings = directory / ".settings"
    _settle(settings)
    own = {"JUPYTER_CONFIG_DIR": directory / ".config", "JUPYTER_DATA_DIR": directory / ".data", "JUPYTERLAB_SETTINGS_DIR": settings}
    environment = {**os.environ, **{name: str(path) for name, path in own.items()}}
    with (directory / "jupyter.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, directory / "jupyter.log")
            yield f"http://127.0.0.1:{port}/lab/tree/{{}}?token={token}"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()


def _settle(settings: Path) -> None:
    """JupyterLab renders cells when they come into view, and asks about news; tests read all cells, and are asked nothing."""
    for name, text in (("notebook-extension/tracker", '{"windowingMode": "none"}'), ("apputils-extension/notification", '{"fetchNews": "false"}')):
        path = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(text)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + START_S
    while True:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            assert monotonic() < deadline, log.read_text()
            signal.sigtimedwait([], 0.1)


@contextmanager
def chromium() -> Iterator[Any]:
    """A page of a headless Chromium, 1280 × 900."""
    from playwright.sync_api import sync_playwright

    assert shutil.which(CHROMIUM), "Debian's chromium is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser.new_page(viewport={"width": 1280, "height": 900})
        finally:
            browser.close()

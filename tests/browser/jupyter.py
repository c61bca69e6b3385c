"""A real JupyterLab, Notebook or Voilà, and a real Chromium, for tests."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
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
    token = secrets.token_hex(8)
    words = ["jupyterlab", "--allow-root", f"--IdentityProvider.token={token}", f"--notebook-dir={directory}", "--LabApp.news_url="]
    with _served(directory, words, f"api/status?token={token}") as root:
        yield f"{root}lab/tree/{{}}?token={token}"


@contextmanager
def notebook7(directory: Path) -> Iterator[str]:
    """Jupyter Notebook on ``directory``; yields the address that a browser opens a notebook by."""
    token = secrets.token_hex(8)
    words = ["notebook", "--allow-root", f"--IdentityProvider.token={token}", f"--notebook-dir={directory}"]
    with _served(directory, words, f"api/status?token={token}") as root:
        yield f"{root}notebooks/{{}}?token={token}"


@contextmanager
def voila(directory: Path) -> Iterator[str]:
    """Voilà on ``directory``; yields the address that a browser opens a notebook by."""
    with _served(directory, ["voila", str(directory)], "voila/static/voila.js") as root:
        yield f"{root}voila/render/{{}}"


@contextmanager
def _served(directory: Path, words: Sequence[str], ready: str) -> Iterator[str]:
    """A module of Python that serves ``directory``; yields its root, once the address ``ready`` below it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    module, *options = words
    command = [sys.executable, "-m", module, *options, "--no-browser", f"--port={port}", "--ServerApp.port_retries=0"]
    settings = directory / ".settings"
    _settle(settings)
    own = {"JUPYTER_CONFIG_DIR": directory / ".config", "JUPYTER_DATA_DIR": directory / ".data", "JUPYTERLAB_SETTINGS_DIR": settings}
    environment = {**os.environ, **{name: str(path) for name, path in own.items()}}
    with (directory / "jupyter.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            _wait_for(f"http://127.0.0.1:{port}/{ready}", server, directory / "jupyter.log")
            yield f"http://127.0.0.1:{port}/"
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
            yield browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        finally:
            browser.close()

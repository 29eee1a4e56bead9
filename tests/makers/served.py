"""`iocast serve` in a process of its own, and a browser to look at it, for the tests of what people see there."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Address(str):
    """Where a server listens, and the address that lets a browser change runs."""

    for_changes = ""


@contextlib.contextmanager
def served(directory: Path, *options: str) -> Iterator[Address]:
    """The address of a server for this directory."""
    command = [sys.executable, "-m", "iocast", "serve", str(directory), "--port", "0", *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr
    try:
        address = ""
        while not address.startswith("http"):
            address = server.stderr.readline().strip()
            assert address, "the server ended"
        found = Address(address)
        told = server.stderr.readline()
        found.for_changes = told.split()[-1] if "?token=" in told else address
        yield found
    finally:
        server.terminate()
        server.wait(10)
        server.stderr.close()


@contextlib.contextmanager
def browser_page(width: int = 1200, height: int = 800) -> Iterator[object]:
    """A page of a headless browser; the test fails when anything went wrong in it."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here (Debian package chromium)")
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        yield page
        browser.close()
    assert wrong == []

"""File systems and devices for the tests that make real I/O; whatever is made is taken away again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from makers.loop_machine import LoopMachine
from makers.rootly import Mount, command, need

SAID = pytest.StashKey[list[str]]()


@pytest.fixture
def say(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Says a line after all tests: figures that belong into a table of the docs."""
    return pytestconfig.stash.setdefault(SAID, []).append


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What was said."""
    for line in config.stash.get(SAID, []):
        terminalreporter.write_line(line)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mount]:
    """Mounts something on a directory of that name in the test's own."""
    places: list[Path] = []

    def mount(name: str, *options: object) -> Path:
        need("mount", "umount")
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        command("mount", *options, place)
        places.append(place)
        return place

    yield mount
    for place in reversed(places):
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def attach() -> Iterator[Callable[..., str]]:
    """Attaches a loop device to a file or device, with the given options of losetup."""
    devices: list[str] = []

    def make(file: str | Path, *options: str) -> str:
        need("losetup")
        devices.append(command("losetup", "--find", "--show", *options, file))
        return devices[-1]

    yield make
    for device in reversed(devices):
        subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[LoopMachine]:
    """Stacks of loop devices, undone in turn at the end, of a failing test too."""
    with ExitStack() as stack:
        yield LoopMachine(tmp_path, stack)


@pytest.fixture
def loop_device(tmp_path: Path) -> Iterator[Callable[[int], str]]:
    """Makes a loop device of so many bytes of random data."""
    devices: list[str] = []

    def make(size_bytes: int) -> str:
        need("losetup")
        image = tmp_path / f"image{len(devices)}"
        image.write_bytes(os.urandom(size_bytes))
        device = command("losetup", "--find", "--show", image)
        devices.append(device)
        return device

    yield make
    for device in devices:
        subprocess.run(["losetup", "--detach", device], check=True)

"""What the tests of observing share: a machine on paper, and a real loop device with ext4 on it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.machine_tree import MachineTree


@pytest.fixture
def machine(tmp_path: Path) -> MachineTree:
    """An empty machine."""
    return MachineTree(tmp_path)


@pytest.fixture(scope="session")
def loop_mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Path]]:
    """Device path, image file and mount point of a 64 MiB ext4 on a loop device; all are taken away again."""
    tools = ("losetup", "mkfs.ext4", "mount", "umount")
    if os.geteuid() != 0 or not all(shutil.which(tool, path=_PATH) for tool in tools):
        pytest.skip("a loop device needs root, losetup, mkfs.ext4 and mount")
    folder = tmp_path_factory.mktemp("loop device")
    image, point = folder / "disk image.img", folder / "mount point"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    try:
        device = _run("losetup", "--find", "--show", str(image)).strip()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no loop device to be had: {error.stderr}")
    try:
        _run("mkfs.ext4", "-q", "-E", "nodiscard", device)
        _run("mount", device, str(point))
        try:
            yield device, image, point
        finally:
            _run("umount", str(point))
    finally:
        _run("losetup", "--detach", device)
        image.unlink()


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _run(*command: str) -> str:
    environment = {**os.environ, "PATH": _PATH}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

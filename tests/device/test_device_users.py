"""Devices in use in ways that do not show at their own node: each is named, and nothing is written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job
from makers.disk_images import MIB, blank, gpt, tool
from makers.other_processes import other_process
from makers.rootly import Mount, command, need

from iocast.observe.target import overwriting, process_files
from iocast.observe.target.device_stack import describe
from iocast.sessions.target_finding import find_target

pytestmark = pytest.mark.device
Attach = Callable[..., str]
WAYS = {
    "open": "import os, sys; f = os.open(sys.argv[1], os.O_RDONLY)",
    "inherited": "import os, sys; f = os.open(sys.argv[1], os.O_RDONLY); os.set_inheritable(f, True); "
    "os.execv(sys.executable, [sys.executable, '-c', 'print(flush=True); input()'])",
    # mmap(2) by hand: the module of that name keeps a descriptor.
    "mapped": "import ctypes as c, os, sys; f = os.open(sys.argv[1], os.O_RDONLY); call = c.CDLL(None).mmap; "
    "call.restype = c.c_void_p; call.argtypes = c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long; "
    "call(None, 4096, 1, 1, f, 0); os.close(f)",
}


@pytest.fixture
def holder() -> Iterator[Callable[[str, str], int]]:
    """A process that uses a device in one of the ways, until the end of the test."""
    with ExitStack() as stack:
        yield lambda way, device: stack.enter_context(other_process(WAYS[way], device))


def refused(folder: Path, image: Path, device: str) -> str:
    """What is said although the device was named; not one byte of the image has changed."""
    identity = describe(device).identity
    assert identity is not None
    before = hashlib.sha256(image.read_bytes()).digest()
    done = iocast("run", small_job(folder), device, "--destroy", identity.name, cwd=folder)
    assert done.returncode == 2, done.stdout
    assert hashlib.sha256(image.read_bytes()).digest() == before
    return " ".join(done.stderr.split())


def partition(device: str) -> str:
    path = f"{device}p1"
    if not os.path.exists(path):
        need("addpart")
        command("addpart", device, 1, MIB // 512, 32 * MIB // 512)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_process_uses_a_partition_while_the_disk_is_named(
    tmp_path: Path, attach: Attach, holder: Callable[[str, str], int], way: str
) -> None:
    image = tmp_path / "image"
    gpt(image)
    device = attach(image)
    pid = holder(way, partition(device))
    said = refused(tmp_path, image, device)
    what = "mapped into its memory" if way == "mapped" else "open"
    assert f"process {pid} (" in said
    assert f"has {device[5:]}p1 {what}" in said


@pytest.mark.parametrize("way", WAYS)
def test_a_process_uses_the_disk_while_a_partition_is_named(
    tmp_path: Path, attach: Attach, holder: Callable[[str, str], int], way: str
) -> None:
    image = tmp_path / "image"
    gpt(image)
    device = attach(image)
    part = partition(device)
    pid = holder(way, device)
    said = refused(tmp_path, image, part)
    assert f"process {pid} (" in said
    assert f"has {device[5:]} " in said


def test_a_node_outside_the_device_directory(tmp_path: Path, attach: Attach, holder: Callable[[str, str], int]) -> None:
    image, node = tmp_path / "image", tmp_path / "elsewhere"
    blank(image)
    device = attach(image)
    os.mknod(node, 0o600 | 0o060000, os.stat(device).st_rdev)
    pid = holder("open", str(node))
    assert f"process {pid} (" in refused(tmp_path, image, device)


def test_a_loop_by_a_node_outside_the_device_directory(tmp_path: Path, attach: Attach) -> None:
    image, node = tmp_path / "image", tmp_path / "elsewhere"
    blank(image)
    device = attach(image)
    os.mknod(node, 0o600 | 0o060000, os.stat(device).st_rdev)
    upper = attach(node)
    assert f"{upper[5:]} is built on {device[5:]}" in refused(tmp_path, image, device)


@pytest.mark.parametrize("by", ["hard link", "bind mount"])
def test_two_loops_on_one_file_by_different_names(tmp_path: Path, mounted: Mount, attach: Attach, by: str) -> None:
    image = tmp_path / "images" / "image"
    image.parent.mkdir()
    tool("mkfs.ext4", "-q")(image)
    if by == "hard link":
        other = tmp_path / "another name"
        os.link(image, other)
    else:
        other = mounted("bound", "--bind", image.parent) / image.name
    device, upper = attach(image), attach(other)
    mounted("here", device)
    assert f"it is the file behind {device[5:]}" in refused(tmp_path, image, upper)


def test_files_of_the_same_name_are_not_the_same(tmp_path: Path, attach: Attach) -> None:
    one, other = tmp_path / "a", tmp_path / "b"
    blank(one)
    blank(other)
    attach(other)
    device = attach(one)
    identity = describe(device).identity
    assert identity is not None
    done = iocast("run", small_job(tmp_path), device, "--destroy", identity.name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_could_not_be_looked_at_is_said(tmp_path: Path, attach: Attach, monkeypatch: pytest.MonkeyPatch) -> None:
    image = tmp_path / "image"
    blank(image)
    device = attach(image)
    target = find_target(device)
    everybody = len([name for name in os.listdir("/proc") if name.isdigit()])

    def hidden(*_: object) -> Iterator[str]:
        raise PermissionError

    monkeypatch.setattr(process_files.os, "listdir", hidden)
    said = overwriting.unseen_users(target)
    count = int(said.removeprefix("The open files of ").partition(" ")[0])
    assert 0.5 * everybody <= count <= 1.5 * everybody
    assert device in said

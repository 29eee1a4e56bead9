"""Devices in use in ways that do not show at their own node: each is named, and nothing is written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from makers.command_line import in_own_process as iocast  # who has a device open is the subject
from makers.command_line import small_job
from makers.disk_images import MIB, blank, gpt, tool
from makers.loop_machine import ELSEWHERE, HOLDS, MOUNTS, LoopMachine
from makers.machine_tree import MachineTree
from makers.other_processes import other_process
from makers.rootly import Mount, command, need

from iocast.observe.target import overwriting, process_files
from iocast.observe.target.claims import claims
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
    "a thread with descriptors of its own": "import ctypes, os, sys, threading; held = threading.Event()\n"
    "def hold():\n"
    "    ctypes.CDLL(None).unshare(0x400); os.open(sys.argv[1], os.O_RDONLY); held.set(); threading.Event().wait()\n"
    "threading.Thread(target=hold, daemon=True).start(); held.wait()",
    "its first thread has ended": "import ctypes, os, sys, threading\n"
    "def hold():\n"
    "    os.open(sys.argv[1], os.O_RDONLY); print(flush=True); input(); os._exit(0)\n"
    "threading.Thread(target=hold).start(); ctypes.CDLL(None).pthread_exit(None)",
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


Kind = Callable[[LoopMachine], tuple[str, str]]  # the device that is named, and what is said
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    """One more of them."""
    KINDS[function.__name__] = function
    return function


@kind
def a_member_of_a_btrfs_that_is_mounted_by_the_other(at: LoopMachine) -> tuple[str, str]:
    need("mkfs.btrfs")
    files = [at.folder / "image", at.folder / "second"]
    for file in files:
        blank(file, 160 * MIB)
    devices = [at.attach(file) for file in files]
    command("mkfs.btrfs", "-q", *devices)
    command("btrfs", "device", "scan", *devices)
    at.mount(devices[0])
    return devices[1], f"{devices[1][5:]} is part of a mounted btrfs"


@kind
def mounted_where_we_cannot_see_it(at: LoopMachine) -> tuple[str, str]:
    need("unshare")
    tool("mkfs.ext4", "-q")(at.image)
    device = at.attach(at.image)
    (at.folder / "hidden").mkdir()
    at.process(MOUNTS, device, at.folder / "hidden", before=ELSEWHERE)
    return device, f"{device[5:]} is mounted on {at.folder}/hidden in the mount namespace of process"


@kind
def swap_on_a_partition(at: LoopMachine) -> tuple[str, str]:
    need("mkswap", "swapon")
    gpt(at.image)
    device = at.attach(at.image)
    command("mkswap", at.partition(device))
    command("swapon", at.partition(device))
    at.undo("swapoff", at.partition(device))
    return device, f"{device[5:]}p1 is used as swap"


@kind
def the_journal_of_a_file_system_that_is_mounted(at: LoopMachine) -> tuple[str, str]:
    tool("mke2fs", "-q", "-F", "-b", "4096", "-O", "journal_dev")(at.image)
    device = at.attach(at.image)
    blank(at.folder / "data")
    data = at.attach(at.folder / "data")
    command("mkfs.ext4", "-q", "-b", "4096", "-J", f"device={device}", data)
    at.mount(data)
    return device, "another program or the kernel holds it exclusively"


@kind
def a_loop_on_it_is_mounted(at: LoopMachine) -> tuple[str, str]:
    tool("mkfs.ext4", "-q")(at.image)
    device = at.attach(at.image)
    upper = at.attach(device)
    place = at.mount(upper)
    return device, f"{upper[5:]} is mounted on {place}"


@kind
def two_loops_one_above_the_other_on_its_partition(at: LoopMachine) -> tuple[str, str]:
    gpt(at.image)
    device = at.attach(at.image)
    lower = at.attach(at.partition(device))
    upper = at.attach(lower)
    return device, f"{upper[5:]} is built on {lower[5:]}"


@kind
def a_process_writes_the_file_behind_it(at: LoopMachine) -> tuple[str, str]:
    device = at.blank()
    pid = at.process(HOLDS, at.image)
    return device, f"of the file behind {device[5:]}, {at.image}: process {pid} ("


@kind
def the_file_behind_it_is_mapped(at: LoopMachine) -> tuple[str, str]:
    device = at.blank()
    at.process(HOLDS + "call(None, 4096, 3, 1, f, 0); os.close(f)", at.image)
    return device, "has it mapped into its memory"


@kind
def the_file_behind_it_is_locked_by_another_name(at: LoopMachine) -> tuple[str, str]:
    device = at.blank()
    os.link(at.image, at.folder / "second")
    at.process("import fcntl, sys; f = open(sys.argv[1], 'rb'); fcntl.flock(f, fcntl.LOCK_EX)", at.folder / "second")
    return device, "holds a lock on it"


@kind
def the_file_behind_its_disk_is_written_while_a_partition_is_named(at: LoopMachine) -> tuple[str, str]:
    gpt(at.image)
    device = at.attach(at.image)
    pid = at.process(HOLDS, at.image)
    return at.partition(device), f"process {pid} ("


@kind
def a_process_of_another_process_namespace_has_it_open(at: LoopMachine) -> tuple[str, str]:
    need("unshare")
    device = at.blank()
    at.process(HOLDS, device, before=("unshare", "--pid", "--fork", "--mount-proc"))
    return device, f"has {device[5:]} open"


@kind
def mounted_read_only_on_a_partition(at: LoopMachine) -> tuple[str, str]:
    gpt(at.image)
    device = at.attach(at.image)
    command("mkfs.ext4", "-q", at.partition(device))
    place = at.mount("-o", "ro", at.partition(device))
    return at.partition(device), f"{device[5:]}p1 is mounted on {place}"


def test_there_are_12_kinds_beside_the_ways_above() -> None:
    assert len(KINDS) == 12


@pytest.mark.parametrize("name", KINDS)
def test_it_is_refused_and_not_written(loops: LoopMachine, name: str) -> None:
    device, said = KINDS[name](loops)
    identity = describe(device).identity
    assert identity is not None
    command("sync", "--file-system", loops.image)
    before = hashlib.sha256(loops.image.read_bytes()).digest()
    done = iocast("run", small_job(loops.folder), device, "--destroy", identity.name, cwd=loops.folder)
    assert done.returncode == 2, done.stdout
    assert said in " ".join(done.stderr.split())
    assert "even with --destroy" in " ".join(done.stderr.split())
    assert not (loops.folder / "iocast-runs").exists()
    assert hashlib.sha256(loops.image.read_bytes()).digest() == before


def test_what_the_kernel_serves_to_other_machines(tmp_path: Path) -> None:
    tree = MachineTree(tmp_path)
    tree.disk("pci0000:00/block/sda", "8:0")
    os.makedirs(tmp_path / "dev")
    entry = tmp_path / "sys/kernel/config/nvmet/subsystems/nqn/namespaces/1/device_path"
    entry.parent.mkdir(parents=True)
    entry.write_text("/dev/sda\n")
    assert claims(8, 0, tmp_path) == ("sda is exported as NVMe storage",)

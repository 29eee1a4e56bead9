"""Twelve more kinds of use of a device, beside those of test_device_users: each is refused although it was named."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job
from makers.disk_images import MIB, blank, gpt, tool
from makers.loop_machine import ELSEWHERE, HOLDS, MOUNTS, LoopMachine
from makers.machine_tree import MachineTree
from makers.rootly import command, need

from iocast.observe.target.claims import claims
from iocast.observe.target.device_stack import describe

pytestmark = pytest.mark.device
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


def test_with_those_of_test_device_users_there_are_24() -> None:
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

"""Users of what a device stands on: lower loops, their images, disks of partitions; each is refused and not written."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import in_own_process as iocast  # who has a device open is the subject
from makers.command_line import small_job
from makers.disk_images import MIB, blank, tool
from makers.loop_machine import ELSEWHERE, HOLDS, MOUNTS, LoopMachine
from makers.rootly import command, need

from iocast.observe.target.device_stack import describe

pytestmark = pytest.mark.device
Stack = Callable[[LoopMachine], tuple[str, str]]  # the device that is named, and what is said
STACKS: dict[str, Stack] = {}
READS = "import os, sys; f = os.open(sys.argv[1], os.O_RDONLY)"
LOCKS = "import fcntl, sys; f = open(sys.argv[1], 'rb'); fcntl.flock(f, fcntl.LOCK_EX)"


def stack(function: Stack) -> Stack:
    """One more of them."""
    STACKS[function.__name__] = function
    return function


def pile(at: LoopMachine, height: int, *options: object) -> list[str]:
    """Loop devices one on the other, the lowest first; that one stands on the image."""
    devices = [at.blank()]
    while len(devices) < height:
        devices.append(at.attach(devices[-1], *options))
    return devices


@stack
def a_process_has_the_lower_loop_open(at: LoopMachine) -> tuple[str, str]:
    lower, upper = pile(at, 2)
    pid = at.process(READS, lower)
    return upper, f"process {pid} (python) has {lower[5:]} (below {upper[5:]}) open"


@stack
def a_process_has_the_lower_loop_mapped(at: LoopMachine) -> tuple[str, str]:
    lower, upper = pile(at, 2)
    at.process(HOLDS + "call(None, 4096, 3, 1, f, 0); os.close(f)", lower)
    return upper, f"has {lower[5:]} (below {upper[5:]}) mapped into its memory"


@stack
def a_process_writes_the_image_of_the_lower_loop(at: LoopMachine) -> tuple[str, str]:
    lower, upper = pile(at, 2)
    pid = at.process(HOLDS, at.image)
    return upper, f"of the file behind {lower[5:]}, {at.image}: process {pid} ("


@stack
def the_image_of_the_lower_loop_is_only_locked(at: LoopMachine) -> tuple[str, str]:
    _, upper = pile(at, 2)
    at.process(LOCKS, at.image)
    return upper, "holds a lock on it"


@stack
def the_image_of_the_lowest_of_three_is_mapped(at: LoopMachine) -> tuple[str, str]:
    *_, upper = pile(at, 3)
    at.process(HOLDS + "call(None, 4096, 3, 1, f, 0); os.close(f)", at.image)
    return upper, "has it mapped into its memory"


@stack
def the_lowest_of_four_is_open(at: LoopMachine) -> tuple[str, str]:
    lowest, second, _, upper = pile(at, 4)
    at.process(READS, lowest)
    return upper, f"has {lowest[5:]} (below {second[5:]}) open"


@stack
def another_process_is_opening_the_middle_one_exclusively(at: LoopMachine) -> tuple[str, str]:
    _, middle, upper = pile(at, 3)
    at.process("import os, sys; f = os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)", middle)
    return upper, f"has {middle[5:]} (below {upper[5:]}) open"


@stack
def the_lower_loop_is_mounted(at: LoopMachine) -> tuple[str, str]:
    tool("mkfs.ext4", "-q")(at.image)
    lower = at.attach(at.image)
    upper = at.attach(lower)
    place = at.mount(lower)
    return upper, f"below {upper[5:]}: {lower[5:]} is mounted on {place}"


@stack
def the_lower_loop_is_mounted_in_another_mount_namespace(at: LoopMachine) -> tuple[str, str]:
    need("unshare")
    tool("mkfs.ext4", "-q")(at.image)
    lower = at.attach(at.image)
    upper = at.attach(lower)
    (at.folder / "hidden").mkdir()
    pid = at.process(MOUNTS, lower, at.folder / "hidden", before=ELSEWHERE)
    return upper, f"{lower[5:]} is mounted on {at.folder}/hidden in the mount namespace of process {pid} (python)"


@stack
def the_lower_loop_is_mounted_where_no_process_is(at: LoopMachine) -> tuple[str, str]:
    """A namespace that only a mount of itself keeps: /proc names it nowhere, the kernel holds the device."""
    need("unshare")
    tool("mkfs.ext4", "-q")(at.image)
    lower = at.attach(at.image)
    upper = at.attach(lower)
    (at.folder / "hidden").mkdir()
    kept = at.folder / "namespaces"
    kept.mkdir()
    command("mount", "--bind", kept, kept)
    at.undo("umount", kept)
    command("mount", "--make-private", kept)
    (kept / "namespace").touch()
    at.undo("umount", kept / "namespace")
    command("unshare", f"--mount={kept}/namespace", "mount", lower, at.folder / "hidden")
    return upper, f"another program or the kernel holds {lower[5:]}, on which it stands, exclusively"


@stack
def the_lower_loop_is_swap(at: LoopMachine) -> tuple[str, str]:
    need("mkswap", "swapon")
    lower, upper = pile(at, 2)
    command("mkswap", lower)
    command("swapon", lower)
    at.undo("swapoff", lower)
    return upper, f"below {upper[5:]}: {lower[5:]} is used as swap"


@stack
def the_lower_loop_is_the_journal_of_a_mounted_file_system(at: LoopMachine) -> tuple[str, str]:
    tool("mke2fs", "-q", "-F", "-b", "4096", "-O", "journal_dev")(at.image)
    lower = at.attach(at.image)
    upper = at.attach(lower)
    blank(at.folder / "data")
    data = at.attach(at.folder / "data")
    command("mkfs.ext4", "-q", "-b", "4096", "-J", f"device={lower}", data)
    at.mount(data)
    return upper, f"another program or the kernel holds {lower[5:]}, on which it stands, exclusively"


@stack
def the_lower_loop_is_part_of_a_mounted_btrfs(at: LoopMachine) -> tuple[str, str]:
    need("mkfs.btrfs")
    files = [at.image, at.folder / "second"]
    for file in files:
        blank(file, 160 * MIB)
    members = [at.attach(file) for file in files]
    upper = at.attach(members[1])
    command("mkfs.btrfs", "-q", *members)
    command("btrfs", "device", "scan", *members)
    at.mount(members[0])
    return upper, f"below {upper[5:]}: {members[1][5:]} is part of a mounted btrfs"


@stack
def another_loop_on_the_same_lower_loop(at: LoopMachine) -> tuple[str, str]:
    lower, upper = pile(at, 2)
    other = at.attach(lower)
    return upper, f"below {upper[5:]}: {other[5:]} is built on {lower[5:]}"


@stack
def another_loop_on_other_bytes_of_the_lowest_image(at: LoopMachine) -> tuple[str, str]:
    lower, _, upper = pile(at, 3)
    other = at.attach(at.image, "--offset", MIB, "--sizelimit", MIB)
    return upper, f"of the file behind {lower[5:]}, {at.image}: it is the file behind {other[5:]}"


@stack
def another_loop_on_a_hard_link_of_the_image_is_mounted(at: LoopMachine) -> tuple[str, str]:
    tool("mkfs.ext4", "-q")(at.image)
    os.link(at.image, at.folder / "link")
    lower, other = at.attach(at.image), at.attach(at.folder / "link")
    upper = at.attach(lower)
    place = at.mount(other)
    return upper, f"of the file behind {lower[5:]}, {at.image}: {other[5:]} is mounted on {place}"


@stack
def the_image_is_open_by_a_bind_mount_in_another_mount_namespace(at: LoopMachine) -> tuple[str, str]:
    need("unshare")
    _, upper = pile(at, 2)
    (at.folder / "bound").mkdir()
    program = MOUNTS + "; import os; f = os.open(sys.argv[3] + '/image', os.O_RDWR)"
    pid = at.process(program, "--bind", at.folder, at.folder / "bound", before=ELSEWHERE)
    return upper, f"process {pid} (python) has it open for writing"


@stack
def the_image_is_open_by_a_name_that_has_gone(at: LoopMachine) -> tuple[str, str]:
    _, upper = pile(at, 2)
    os.link(at.image, at.folder / "link")
    pid = at.process(HOLDS + "os.unlink(sys.argv[1])", at.folder / "link")
    return upper, f"process {pid} (python) has it open for writing"


@stack
def the_image_is_on_an_overlay_and_open_below_it(at: LoopMachine) -> tuple[str, str]:
    merged, under = at.overlay()
    at.image = merged / "image"
    _, upper = pile(at, 2)
    pid = at.process(HOLDS, under / "image")
    return upper, f"process {pid} (python) has it open for writing"


@stack
def the_image_is_open_by_an_overlay_of_another_mount_namespace(at: LoopMachine) -> tuple[str, str]:
    need("unshare")
    lower, under, inside, merged = (at.folder / each for each in ("lower", "upper", "inside", "merged"))
    for each in (lower, under, inside, merged):
        each.mkdir()
    at.image = under / "image"
    _, upper = pile(at, 2)
    program = MOUNTS + "; import os; f = os.open(sys.argv[6] + '/image', os.O_RDWR)"
    options = f"lowerdir={lower},upperdir={under},workdir={inside}"
    pid = at.process(program, "-t", "overlay", "overlay", "-o", options, merged, before=ELSEWHERE)
    return upper, f"process {pid} (python) has it open for writing"


@stack
def direct_loops_on_an_image_that_is_written(at: LoopMachine) -> tuple[str, str]:
    blank(at.image)
    lower = at.attach(at.image, "--direct-io=on")
    upper = at.attach(lower, "--direct-io=on")
    pid = at.process(HOLDS, at.image)
    return upper, f"process {pid} (python) has it open for writing"


@stack
def the_lower_loop_was_made_read_only(at: LoopMachine) -> tuple[str, str]:
    lower, upper = pile(at, 2)
    command("blockdev", "--setro", lower)
    at.undo("blockdev", "--setrw", lower)  # the kernel keeps it over a detach
    return upper, f"{lower[5:]}, on which {upper} stands, is read-only"


@stack
def a_loop_on_the_disk_of_the_partition(at: LoopMachine) -> tuple[str, str]:
    disk = at.blank()
    part = at.partition(disk)
    other = at.attach(disk)
    return part, f"below {part[5:]}: {other[5:]} is built on {disk[5:]}"


@stack
def the_disk_of_a_partition_below_a_loop_is_open(at: LoopMachine) -> tuple[str, str]:
    disk = at.blank()
    part = at.partition(disk)
    upper = at.attach(part)
    at.process(READS, disk)
    return upper, f"has {disk[5:]} (below {part[5:]}) open"


@stack
def a_partition_below_a_loop_is_mounted_in_another_mount_namespace(at: LoopMachine) -> tuple[str, str]:
    need("unshare")
    part = at.partition(at.blank())
    command("mkfs.ext4", "-q", part)
    upper = at.attach(part)
    (at.folder / "hidden").mkdir()
    at.process(MOUNTS, part, at.folder / "hidden", before=ELSEWHERE)
    return upper, f"{part[5:]} is mounted on {at.folder}/hidden in the mount namespace of process"


@stack
def the_image_below_a_partition_of_the_upper_loop_is_locked(at: LoopMachine) -> tuple[str, str]:
    _, upper = pile(at, 2)
    at.process(LOCKS, at.image)
    return at.partition(upper), "holds a lock on it"


@stack
def the_lower_loop_was_attached_by_a_node_that_has_gone(at: LoopMachine) -> tuple[str, str]:
    lower, node = at.blank(), at.folder / "node"
    os.mknod(node, 0o600 | 0o060000, os.stat(lower).st_rdev)
    upper = at.attach(node)
    node.unlink()
    at.process(READS, lower)
    return upper, f"has {lower[5:]} (below {upper[5:]}) open"


@stack
def a_loop_on_it_was_attached_by_a_node_that_has_gone(at: LoopMachine) -> tuple[str, str]:
    lower, node = at.blank(), at.folder / "node"
    os.mknod(node, 0o600 | 0o060000, os.stat(lower).st_rdev)
    upper = at.attach(node)
    node.unlink()
    return lower, f"{upper[5:]} is built on {lower[5:]}"


@stack
def the_image_has_a_name_longer_than_the_kernel_shows(at: LoopMachine) -> tuple[str, str]:
    """Its path is above 4,095 bytes: the kernel shows no name of the file, which is no sign of a free device."""
    blank(at.image)
    home = os.getcwd()
    try:
        os.chdir(at.folder)
        for _ in range(20):
            os.mkdir("d" * 250)
            os.chdir("d" * 250)
        os.link(at.image, "image")
        lower = at.attach("image")
    finally:
        os.chdir(home)
    upper = at.attach(lower)
    at.process(HOLDS, at.image)
    return upper, "has it open for writing"


def digest(image: Path) -> bytes:
    command("sync", "--file-system", image)
    return hashlib.sha256(image.read_bytes()).digest()


def name_of(device: str) -> str:
    identity = describe(device).identity
    assert identity is not None
    return identity.name


@pytest.mark.parametrize("name", STACKS)
def test_it_is_refused_and_not_written(loops: LoopMachine, name: str) -> None:
    device, said = STACKS[name](loops)
    before, written_before = digest(loops.image), loops.written_ios(device)
    words = ("--destroy", name_of(device)) if name_of(device) else ()
    done = iocast("run", small_job(loops.folder), device, *words, cwd=loops.folder)
    assert done.returncode == 2, done.stdout
    assert loops.written_ios(device) == written_before
    if "mounted" not in name and "swap" not in name:  # where the kernel writes whenever it likes
        assert digest(loops.image) == before
    assert not (loops.folder / "iocast-runs").exists()
    assert said in " ".join(done.stderr.split())


def written(at: LoopMachine, device: str) -> None:
    """The device is free: it is written to when it is named."""
    before = at.written_ios(device)
    done = iocast("run", small_job(at.folder), device, "--destroy", name_of(device), cwd=at.folder)
    assert done.returncode == 0, done.stderr
    assert at.written_ios(device) > before


def test_stacks_that_nobody_else_uses_are_written_to(loops: LoopMachine) -> None:
    *_, upper = pile(loops, 3)
    written(loops, upper)


def test_neighbours_on_the_same_disk_or_file_system_are_not_in_the_way(loops: LoopMachine) -> None:
    """Another partition is mounted, and a process writes another file beside the image."""
    disk = loops.blank(128 * MIB)
    part, other = loops.partition(disk, 1), loops.partition(disk, 2)
    command("mkfs.ext4", "-q", other)
    loops.mount(other)
    blank(loops.folder / "another", MIB)
    loops.process(HOLDS, loops.folder / "another")
    written(loops, loops.attach(part))


def test_nobody_can_mount_what_is_below_while_it_is_written(loops: LoopMachine) -> None:
    """The lower loop is held exclusively during the run."""
    from iocast.observe.target.overwriting import held
    from iocast.sessions.target_finding import find_target

    tool("mkfs.ext4", "-q")(loops.image)
    lower = loops.attach(loops.image)
    upper = loops.attach(lower)
    with held(find_target(upper, name_of(upper)), ["writes"]):
        assert not free(lower)
    assert free(lower)


def free(device: str) -> bool:
    """Whether it can be opened exclusively, as who mounts it does."""
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True

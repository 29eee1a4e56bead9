"""The identity of a loop device is that of one file: not of a later one with its name or inode, nor of one unknown."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from makers.command_line import in_own_process as iocast  # who has a device open is the subject
from makers.command_line import small_job
from makers.disk_images import MIB, blank
from makers.loop_machine import ELSEWHERE, LoopMachine
from makers.rootly import command, need

from iocast.model.target import Identity
from iocast.observe.target.device_stack import describe

pytestmark = pytest.mark.device
GENERATION, BIRTH = r":g[1-9]\d*", r":b\d+\.\d{9}"
KEPT = {  # how the file system is made and mounted -> what it keeps of a file
    "ext4": GENERATION + BIRTH,
    "ext4 with small inodes": GENERATION,
    "xfs": GENERATION + BIRTH,
    "btrfs": GENERATION + BIRTH,
    "tmpfs": BIRTH,
    "overlay": BIRTH,
}


def file_system(at: LoopMachine, kind: str) -> Path:
    """A new file system of that kind, mounted."""
    if kind in ("tmpfs", "ramfs"):
        return at.mount("-t", kind, kind)
    if kind == "overlay":
        return at.overlay()[0]
    image = at.folder / "file-system"
    name, *options = {"ext4 with small inodes": ("ext4", "-I", "128")}.get(kind, (kind,))
    need(f"mkfs.{name}")
    blank(image, 320 * MIB)
    command(f"mkfs.{name}", "-q", *options, image)
    return at.mount(at.attach(image))


def identity_of(device: str) -> Identity:
    identity = describe(device).identity
    assert identity is not None
    return identity


def refused(at: LoopMachine, device: str, destroy: str = "") -> str:
    """What is said; nothing is written."""
    before = at.written_ios(device)
    words = ("--destroy", destroy) if destroy else ()
    done = iocast("run", small_job(at.folder), device, *words, cwd=at.folder)
    assert done.returncode == 2, done.stdout
    assert at.written_ios(device) == before
    return " ".join(done.stderr.split())


def test_a_line_of_the_history_does_not_destroy_another_image_with_the_same_inode(loops: LoopMachine) -> None:
    place = file_system(loops, "ext4")
    blank(place / "first", MIB)
    device = command("losetup", "--find", "--show", place / "first")
    name, inode = identity_of(device).name, os.stat(place / "first").st_ino
    command("losetup", "--detach", device)
    os.unlink(place / "first")
    blank(place / "second", MIB)
    assert os.stat(place / "second").st_ino == inode
    device = loops.attach(place / "second")
    said = refused(loops, device, name)
    assert f"--destroy {name} is not the identity of {device}, which is {identity_of(device).name}" in said


@pytest.mark.parametrize("kind", KEPT)
def test_what_the_file_system_keeps_is_in_the_name_and_that_name_is_enough(loops: LoopMachine, kind: str) -> None:
    image = file_system(loops, kind) / "image"
    blank(image, MIB)
    device = loops.attach(image)
    status = os.stat(image)
    number = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"
    assert re.fullmatch(f"loop:{number}{KEPT[kind]}", identity_of(device).name)
    before = loops.written_ios(device)
    job = small_job(loops.folder, direct=False)
    done = iocast("run", job, device, "--destroy", identity_of(device).name, cwd=loops.folder)
    assert done.returncode == 0, done.stderr
    assert loops.written_ios(device) > before


def test_a_file_system_that_keeps_neither(loops: LoopMachine) -> None:
    image = file_system(loops, "ramfs") / "image"
    blank(image, MIB)
    device, status = loops.attach(image), os.stat(image)
    why = f"the file behind it, {image}, lies on a file system that keeps neither generation nor birth time of an inode"
    assert why in refused(loops, device)
    old = f"loop:{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"
    said = refused(loops, device, old)
    assert f"--destroy {old} is not the identity of {device}, which has none: {why}" in said
    assert "put it on ext4, XFS, btrfs or tmpfs" in said


@pytest.mark.parametrize("verb", ["run", "ab", "matrix"])
def test_a_name_in_the_old_form_is_refused_with_the_reason(loops: LoopMachine, verb: str) -> None:
    device, status = loops.blank(MIB), os.stat(loops.image)
    old = f"loop:{os.major(status.st_dev)}:{os.minor(status.st_dev)}:{status.st_ino}"
    words = {
        "run": ("run", small_job(loops.folder), device),
        "ab": ("ab", small_job(loops.folder), device, "sim:nvme", "--rounds", "1"),
        "matrix": ("matrix", "--run", "advanced", "--matrix", "point", "--num-small", "1", "--num-large", "0",
                   "--write", "50", device),
    }[verb]  # fmt: skip
    before = loops.written_ios(device)
    done = iocast(*words, "--destroy", old, cwd=loops.folder)
    assert done.returncode == 2
    assert loops.written_ios(device) == before
    said = " ".join(done.stderr.split())
    assert f"--destroy {old} " in said
    assert "lacks the generation and birth time of the file, so it may name a later file with the same inode" in said


@pytest.mark.parametrize("span", ["", "+4096", "+4096..1048576"])
def test_a_loop_on_a_loop_is_named_by_the_lowest_file(loops: LoopMachine, span: str) -> None:
    lower = loops.blank()
    offset, _, limit = span.removeprefix("+").partition("..")
    options = [*(["--offset", offset] if offset else []), *(["--sizelimit", limit] if limit else [])]
    upper = loops.attach(lower, *options)
    assert identity_of(upper).name == f"loop:{identity_of(lower).name}{span or '+0'}"
    lower_span = loops.attach(loops.image, *options)
    assert identity_of(lower_span).name == f"{identity_of(lower).name}{span}"


def test_a_loop_on_a_partition_is_named_by_that_partition(loops: LoopMachine) -> None:
    part = loops.partition(loops.blank())
    assert identity_of(part).name.endswith(f"-part1@{MIB}+{32 * MIB}")
    assert identity_of(loops.attach(part)).name == f"loop:{identity_of(part).name}+0"


def test_a_partition_made_anew_is_not_destroyed_by_the_name_of_the_earlier_one(loops: LoopMachine) -> None:
    """`--destroy …-part1` from the shell's history, after the disk was partitioned anew."""
    disk = loops.blank()
    part = loops.partition(disk)
    earlier = identity_of(part).name
    command("delpart", disk, "1")
    loops.undo("delpart", disk, "1")  # a loop device keeps its partitions for whoever attaches it next
    command("addpart", disk, "1", "8192", "16384")
    before = loops.written_ios(disk)
    said = refused(loops, part, earlier)
    assert f"--destroy {earlier} is not the identity of {part}" in said
    by_number = earlier.partition("@")[0]
    said = refused(loops, part, by_number)
    assert "it lacks the start and size of the partition, so it may name a later one with the same number" in said
    assert loops.written_ios(disk) == before


def test_a_loop_on_a_device_without_identity_has_none(loops: LoopMachine) -> None:
    if not os.path.exists("/dev/zram0") or Path("/sys/block/zram0/disksize").read_text().strip() != "0":
        pytest.skip("needs an unused zram0")
    Path("/sys/block/zram0/disksize").write_text(str(MIB))
    loops.stack.callback(Path("/sys/block/zram0/reset").write_text, "1")
    device = loops.attach("/dev/zram0")
    said = refused(loops, device)
    assert "zram0, on which it stands, has no identity: it has neither a serial number nor a UUID" in said


def test_an_image_that_was_deleted(loops: LoopMachine) -> None:
    device = loops.blank(MIB)
    name = identity_of(device).name
    loops.image.unlink()
    why = (
        f"the file behind it, {loops.image} (deleted), was deleted: attach the loop device again by a name that exists"
    )
    assert why in refused(loops, device)
    assert why in refused(loops, device, name)


def test_another_file_has_the_name_of_the_image(loops: LoopMachine) -> None:
    """As after a deleted one whose name with the kernel's suffix is taken on purpose."""
    device = loops.blank(MIB)
    name = identity_of(device).name
    loops.image.unlink()
    blank(loops.folder / "image (deleted)", MIB)
    said = refused(loops, device, name)
    assert f"the file behind it, {loops.image} (deleted), is no longer the one of that name" in said


def test_an_image_with_an_odd_name(loops: LoopMachine) -> None:
    for number, odd in enumerate((b"a\nb", b"a\xff\xfe", b"image (deleted)", b" a ", b"a\\040b")):
        image = Path(os.fsdecode(os.fsencode(loops.folder) + b"/" + odd))
        blank(image, MIB)
        device = loops.attach(image)
        assert f":{os.stat(image).st_ino}:g" in identity_of(device).name, number


def test_an_image_that_only_another_mount_namespace_sees(loops: LoopMachine) -> None:
    need("unshare")
    (loops.folder / "hidden").mkdir()
    program = (
        "import subprocess, sys; place, device = sys.argv[1:]; image = place + '/image'; "
        "run = lambda *words: subprocess.run(words, check=True); run('mount', '-t', 'tmpfs', 'tmpfs', place); "
        "run('truncate', '-s', '1M', image); run('losetup', device, image)"
    )
    device = command("losetup", "--find")
    loops.undo("losetup", "--detach", device)
    loops.process(program, loops.folder / "hidden", device, before=ELSEWHERE)
    said = refused(loops, device)
    assert f"the file behind it, {loops.folder}/hidden/image, is not visible here" in said


def test_a_partition_of_an_unnamed_loop_is_not_named_by_its_contents(loops: LoopMachine) -> None:
    """Copies of an image have the PARTUUIDs of the first."""
    disk = loops.blank()
    part = loops.partition(disk)
    assert identity_of(part).name.startswith(f"{identity_of(disk).name}-part1@")
    loops.image.unlink()
    assert identity_of(part).marks == ()

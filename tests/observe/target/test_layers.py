"""The stack of block devices: LVM on RAID on partitions, multipath, crypt, loop, btrfs, and what has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.machine_tree import MachineTree

from iocast.model.target import Layer
from iocast.observe.target.device_stack import describe
from iocast.observe.target.layers import Stack, active_scheduler, read_layer


def lvm_on_raid(machine: MachineTree) -> None:
    """dm-0 (LVM) on md127 (RAID 1) on sda1 and sdb1."""
    parts = []
    for index, letter in enumerate("ab"):
        place = f"pci0/host{index}/target/0:0/block/sd{letter}"
        machine.disk(place, f"8:{16 * index}", sectors=4096, queue__nr_requests=str(64 + index))
        parts.append(machine.partition(f"{place}/sd{letter}1", f"8:{16 * index + 1}", 1))
    raid = machine.disk("virtual/block/md127", "9:127", sectors=1000, md__level="raid1", md__metadata="1.2")
    volume = machine.disk("virtual/block/dm-0", "253:0", sectors=900, dm__uuid="LVM-AbCd", dm__name="vg0-data")
    machine.stack(raid, *parts)
    machine.stack(volume, raid)
    machine.mount("253:0", "/mnt/db", "xfs", "/dev/mapper/vg0-data")


def shape(layers: tuple[Layer, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(layer.name, layer.kind, layer.lower) for layer in layers]


def test_lvm_on_raid_on_partitions(machine: MachineTree) -> None:
    lvm_on_raid(machine)
    target = describe("/mnt/db", machine.root)
    assert shape(target.layers) == [
        ("dm-0", "lvm", ("md127",)),
        ("md127", "raid1", ("sda1", "sdb1")),
        ("sda1", "partition", ("sda",)),
        ("sdb1", "partition", ("sdb",)),
        ("sda", "disk", ()),
        ("sdb", "disk", ()),
    ]
    assert (target.filesystem, target.mount_point, target.mount_source) == (
        "xfs",
        "/mnt/db",
        "/dev/mapper/vg0-data",
    )
    assert target.notes == ()
    assert [layer.size_bytes for layer in target.layers] == [460800, 512000, 524288, 524288, 2097152, 2097152]


def test_a_partition_has_the_queue_of_its_disk(machine: MachineTree) -> None:
    lvm_on_raid(machine)
    by_name = {layer.name: layer for layer in describe("/mnt/db", machine.root).layers}
    part = by_name["sdb1"]
    assert (part.queue_depth, part.max_io_bytes, part.max_segments) == (65, 1280 * 1024, 127)
    assert (part.logical_block_bytes, part.physical_block_bytes, part.rotational) == (512, 4096, False)
    assert (part.scheduler, part.write_cache, part.major, part.minor) == ("none", "write back", 8, 17)
    assert by_name["sda1"].queue_depth == 64


def test_the_firmware_of_a_drive(machine: MachineTree) -> None:
    """NVMe and SCSI each have a file for it; a partition has none of its own."""
    nvme = machine.disk("pci0/nvme/nvme0/nvme0n1", "259:0", device__firmware_rev="GDC5602Q")
    scsi = machine.disk("pci0/host0/block/sda", "8:0", device__rev="RP04")
    part = machine.partition("pci0/host0/block/sda/sda1", "8:1", 1)
    silent = machine.disk("virtual/block/vda", "254:0")
    assert [read_layer(each).firmware for each in (nvme, scsi, part, silent)] == ["GDC5602Q", "RP04", None, None]


def test_multipath(machine: MachineTree) -> None:
    paths = [machine.disk(f"pci0/host{i}/block/sd{c}", f"8:{i}") for i, c in enumerate("cd")]
    whole = machine.disk("virtual/block/dm-1", "253:1", dm__uuid="mpath-36001405abc", dm__name="mpatha")
    part = machine.disk("virtual/block/dm-2", "253:2", dm__uuid="part1-mpath-36001405abc")
    crypt = machine.disk("virtual/block/dm-3", "253:3", dm__uuid="CRYPT-LUKS2-ff-secret")
    machine.stack(whole, *paths)
    machine.stack(part, whole)
    machine.stack(crypt, part)
    stack = Stack(machine.root)
    stack.add_device(253, 3)
    assert shape(stack.layers()) == [
        ("dm-3", "crypt", ("dm-2",)),
        ("dm-2", "partition", ("dm-1",)),
        ("dm-1", "multipath", ("sdc", "sdd")),
        ("sdc", "disk", ()),
        ("sdd", "disk", ()),
    ]
    assert [layer.wwn for layer in stack.layers()][2] == "36001405abc"


def test_a_shared_disk_comes_once_and_below_all_that_stand_on_it(machine: MachineTree) -> None:
    disk = machine.disk("pci0/block/sda", "8:0")
    part = machine.partition("pci0/block/sda/sda1", "8:1", 1)
    raid = machine.disk("virtual/block/md0", "9:0", md__level="raid0")
    top = machine.disk("virtual/block/dm-0", "253:0", dm__uuid="LVM-x")
    machine.stack(raid, part)
    machine.stack(top, disk, raid)
    stack = Stack(machine.root)
    stack.add_device(253, 0)
    assert [layer.name for layer in stack.layers()] == ["dm-0", "md0", "sda1", "sda"]


def test_loop_goes_on_below_its_file(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.mount("8:0", "/")
    machine.write("var/img/disk one.img", "")
    loop = machine.disk("virtual/block/loop0", "7:0", loop__backing_file="/var/img/disk one.img")
    machine.partition("virtual/block/loop0/loop0p1", "259:9", 1)
    machine.mount("259:9", "/mnt/a\\040b")
    target = describe("/mnt/a b", machine.root)
    assert shape(target.layers) == [
        ("loop0p1", "partition", ("loop0",)),
        ("loop0", "loop", ("sda",)),
        ("sda", "disk", ()),
    ]
    assert read_layer(loop).kind == "loop"


def test_a_circle_is_cut_and_told(machine: MachineTree) -> None:
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file="/mnt/self/disk.img")
    machine.mount("7:0", "/mnt/self")
    machine.write("mnt/self/disk.img", "")
    target = describe("/mnt/self", machine.root)
    assert [layer.name for layer in target.layers] == ["loop0"]
    assert any("is stacked on itself" in note for note in target.notes)


@pytest.mark.parametrize(("file", "says"), [("/gone.img (deleted)", "deleted"), ("/elsewhere.img", "not visible")])
def test_a_loop_without_its_file(machine: MachineTree, file: str, says: str) -> None:
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file=file)
    machine.mount("7:0", "/mnt/x")
    target = describe("/mnt/x", machine.root)
    assert [layer.name for layer in target.layers] == ["loop0"]
    assert says in target.notes[0]


def test_btrfs_shows_all_its_devices_the_mounted_one_first(machine: MachineTree) -> None:
    names = ("sda", "sdb", "sdc")
    disks = [machine.disk(f"pci0/block/{name}", f"8:{16 * i}") for i, name in enumerate(names)]
    other = machine.disk("pci0/block/sdz", "8:240")
    for disk in disks:
        machine.link(f"sys/fs/btrfs/1111-2222/devices/{disk.name}", disk)
    machine.link(f"sys/fs/btrfs/0000-0000/devices/{other.name}", other)
    machine.mount("0:45", "/mnt/b", "btrfs", "/dev/sdb", root="/subvol")
    target = describe("/mnt/b", machine.root)
    assert [layer.name for layer in target.layers] == ["sdb", "sda", "sdc"]


def test_overlay_shows_what_is_below_its_upper_directory(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.mount("8:0", "/")
    machine.write("up/per/x", "")
    machine.mount("0:50", "/merged", "overlay", "overlay", more="rw,lowerdir=/a,upperdir=/up/per,workdir=/w")
    target = describe("/merged", machine.root)
    assert [layer.name for layer in target.layers] == ["sda"]
    assert "writes go to /up/per" in target.notes[0]


@pytest.mark.parametrize(
    ("filesystem", "source", "more", "says"),
    [
        ("tmpfs", "tmpfs", "rw", "the figures are those of memory"),
        ("nfs4", "server:/export", "rw,vers=4.2", "server:/export is remote"),
        ("nfs", "server:/dev/sda", "rw", "is remote"),
        ("zfs", "tank/db", "rw", "zpool status tank"),
        ("fuse.sshfs", "host:/x", "rw", "a user-space process serves host:/x"),
        ("overlay", "overlay", "ro,lowerdir=/a", "without an upper directory"),
        ("overlay", "overlay", "rw,upperdir=/not/here", "not visible"),
        ("oddfs", "odd", "rw", "oddfs (odd) has no block device"),
    ],
)
def test_no_block_device_is_said_with_its_reason(
    machine: MachineTree, filesystem: str, source: str, more: str, says: str
) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.mount("0:60", "/mnt/x", filesystem, source, more=more)
    target = describe("/mnt/x", machine.root)
    assert target.layers == ()
    assert target.device is None
    assert says in target.notes[0]


def test_bcachefs_names_all_its_devices(machine: MachineTree) -> None:
    for index, name in enumerate(("sda", "sdb")):
        machine.disk(f"pci0/block/{name}", f"8:{index}")
    machine.mount("0:61", "/mnt/x", "bcachefs", "/dev/sda:/dev/sdb")
    assert [layer.name for layer in describe("/mnt/x", machine.root).layers] == ["sda", "sdb"]


def test_zram_with_a_place_to_write_back_to(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.disk("virtual/block/zram0", "252:0", backing_dev="/dev/sda")
    machine.disk("virtual/block/zram1", "252:1", backing_dev="none")
    stack = Stack(machine.root)
    stack.add_device(252, 0)
    assert shape(stack.layers()) == [("zram0", "zram", ("sda",)), ("sda", "disk", ())]
    stack = Stack(machine.root)
    stack.add_device(252, 1)
    assert shape(stack.layers()) == [("zram1", "zram", ())]


def test_a_device_that_sysfs_hides_is_noted(machine: MachineTree) -> None:
    machine.mount("8:99", "/mnt/x")
    target = describe("/mnt/x", machine.root)
    assert target.layers == ()
    assert "8:99" in target.notes[0]


def test_what_sysfs_does_not_say_stays_unknown(tmp_path: Path) -> None:
    bare = tmp_path / "cciss!c0d0"
    bare.mkdir()
    layer = read_layer(bare)
    assert (layer.name, layer.size_bytes, layer.rotational, layer.scheduler) == (
        "cciss/c0d0",
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "active"),
    [
        ("none [mq-deadline] kyber bfq", "mq-deadline"),
        ("[none] bfq", "none"),
        ("none", "none"),
        (None, None),
    ],
)
def test_the_active_scheduler(text: str | None, active: str | None) -> None:
    assert active_scheduler(text) == active


@pytest.mark.parametrize(
    ("file", "text", "start_bytes"),
    [("start", "63\n", 32_256), ("loop/offset", "32256\n", 32_256), ("size", "8\n", None)],
)
def test_where_a_device_starts(file: str, text: str, start_bytes: int | None, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert read_layer(tmp_path).start_bytes == start_bytes

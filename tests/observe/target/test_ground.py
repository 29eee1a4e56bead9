"""What devices stand on, on paper: loops, partitions, volumes and arrays, and who else uses what is below."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.machine_tree import MachineTree

from iocast.observe.target.ground import Ground, ground_claims, ground_file_users, ground_of


def ground(machine: MachineTree, number: str) -> Ground:
    major, _, minor = number.partition(":")
    standing = ground_of(int(major), int(minor), machine.root)
    assert standing is not None
    return standing


def users(machine: MachineTree, number: str) -> list[str]:
    return ground_claims(ground(machine, number), machine.root)


@pytest.fixture
def disk(machine: MachineTree) -> Path:
    """A disk of two partitions."""
    machine.partition("pci0/block/sda/sda1", "8:1", 1)
    machine.partition("pci0/block/sda/sda2", "8:2", 2)
    return machine.disk("pci0/block/sda", "8:0")


def loop(machine: MachineTree, number: int, file: str) -> Path:
    return machine.disk(f"virtual/block/loop{number}", f"7:{number}", loop__backing_file=file)


def test_a_loop_on_a_loop_stands_on_both_files_and_devices(machine: MachineTree) -> None:
    machine.write("srv/image", "x")
    machine.write("dev/loop0", "")
    lowest, upper = loop(machine, 0, "/srv/image"), loop(machine, 1, "/dev/loop0")
    standing = ground(machine, "7:1")
    assert [(each.device, each.above, each.by, each.shared) for each in standing.lower] == [
        (lowest, upper, "loop", False)
    ]
    assert standing.exclusive == [lowest]
    assert [each.path for each in standing.files] == ["/srv/image"]
    assert users(machine, "7:1") == []
    machine.mount("7:0", "/mnt/x")
    assert users(machine, "7:1") == ["below loop1: loop0 is mounted on /mnt/x"]


def test_two_loops_on_one_file_know_of_each_other(machine: MachineTree) -> None:
    for number in range(3):
        file = "/srv/other" if number == 2 else "/srv/image"
        machine.write(file[1:], "x")
        loop(machine, number, file)
    assert ground_file_users(ground(machine, "7:0"), machine.root) == [
        "of the file behind loop0, /srv/image: it is the file behind loop1"
    ]
    assert ground_file_users(ground(machine, "7:2"), machine.root) == []


def test_a_file_that_cannot_be_reached_may_be_used(machine: MachineTree) -> None:
    loop(machine, 0, "/srv/gone")
    assert ground_file_users(ground(machine, "7:0"), machine.root) == [
        "of the file behind loop0, /srv/gone: its users cannot be looked for, because it cannot be reached"
    ]


@pytest.mark.parametrize(
    ("start", "used"), [(40_960, True), (2_048, True), (122_047, True), (122_048, False), (0, False)]
)
def test_a_partition_that_has_the_same_bytes_is_no_neighbour(
    machine: MachineTree, disk: Path, start: int, used: bool
) -> None:
    """As on a stick that was made from an image: the second partition lies inside of the first."""
    for number, first, sectors in ((1, 2_048, 120_000), (2, start, 1_024)):
        machine.write(f"sys/devices/pci0/block/sda/sda{number}/start", str(first))
        machine.write(f"sys/devices/pci0/block/sda/sda{number}/size", str(sectors))
    machine.mount("8:2", "/boot/efi")
    ground = ground_of(8, 1, machine.root)
    assert ground is not None
    assert ground_claims(ground, machine.root) == (["below sda1: sda2 is mounted on /boot/efi"] if used else [])


def test_other_partitions_are_neighbours_and_a_loop_on_the_disk_is_not(machine: MachineTree, disk: Path) -> None:
    machine.mount("8:2", "/srv")
    assert users(machine, "8:1") == []
    machine.write("dev/sda", "")
    loop(machine, 0, "/dev/sda")
    assert users(machine, "8:1") == ["below sda1: loop0 is built on sda"]


def test_volumes_of_one_manager_are_neighbours_and_tables_made_by_hand_are_not(
    machine: MachineTree, disk: Path
) -> None:
    part = disk / "sda2"
    for number, uuid in enumerate(("LVM-vg-one", "LVM-vg-other")):
        machine.stack(machine.disk(f"virtual/block/dm-{number}", f"253:{number}", dm__uuid=uuid), part)
    machine.mount("253:1", "/srv")
    assert users(machine, "253:0") == []
    assert ground(machine, "253:0").exclusive == [], "the kernel holds the members of a volume for it"
    machine.stack(machine.disk("virtual/block/dm-2", "253:2", dm__uuid="by-hand"), part)
    assert users(machine, "253:0") == ["below dm-0: dm-2 is built on sda2"]
    assert users(machine, "253:2") == [
        "below dm-2: dm-0 is built on sda2",
        "below dm-2: dm-1 is built on sda2",
        "below dm-2: dm-1 is mounted on /srv",
    ]


def test_a_loop_on_a_member_of_an_array(machine: MachineTree, disk: Path) -> None:
    array = machine.disk("virtual/block/md0", "9:0", md__uuid="1-2", md__level="raid1")
    machine.stack(array, disk / "sda1", disk / "sda2")
    assert users(machine, "9:0") == []
    machine.write("dev/sda2", "")
    loop(machine, 0, "/dev/sda2")
    assert users(machine, "9:0") == ["below md0: loop0 is built on sda2"]


def test_below_a_volume_on_a_loop_its_file_is_asked(machine: MachineTree) -> None:
    machine.write("srv/image", "x")
    first = loop(machine, 0, "/srv/image")
    machine.stack(machine.disk("virtual/block/dm-0", "253:0", dm__uuid="LVM-vg-one"), first)
    loop(machine, 1, "/srv/image")
    assert [each.shared for each in ground(machine, "253:0").lower] == [True]
    assert ground_file_users(ground(machine, "253:0"), machine.root) == [
        "of the file behind loop0, /srv/image: it is the file behind loop1"
    ]

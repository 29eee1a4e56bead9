"""Who uses a device already: mounts, swap, holders, btrfs, through partitions and devices built on them."""

from __future__ import annotations

from makers.machine_tree import MachineTree

from iocast.observe.target.claims import claims, mounted_on


def test_a_free_disk_is_claimed_by_nobody(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.disk("pci0/block/sdb", "8:16")
    machine.mount("8:16", "/mnt/other")
    assert claims(8, 0, machine.root) == ()
    assert mounted_on(8, 0, machine.root) is None


def test_mount_swap_and_volume_on_partitions_are_found_from_the_disk(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    parts = [machine.partition(f"pci0/block/sda/sda{i}", f"8:{i}", i) for i in (1, 2, 3)]
    volume = machine.disk("virtual/block/dm-0", "253:0", dm__uuid="LVM-x")
    machine.stack(volume, parts[2])
    machine.mount("8:1", "/boot")
    machine.mount("253:0", "/mnt/my\\040db")
    machine.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2")
    assert claims(8, 0, machine.root) == (
        "sda1 is mounted on /boot",
        "sda2 is used as swap",
        "dm-0 is built on sda3",
        "dm-0 is mounted on /mnt/my db",
    )
    assert claims(8, 1, machine.root) == ("sda1 is mounted on /boot",)
    mount = mounted_on(8, 1, machine.root)
    assert mount is not None
    assert mount.mount_point == "/boot"


def test_every_member_of_a_btrfs_is_taken(machine: MachineTree) -> None:
    disks = [machine.disk(f"pci0/block/sd{c}", f"8:{i}") for i, c in enumerate("ab")]
    for disk in disks:
        machine.link(f"sys/fs/btrfs/1111/devices/{disk.name}", disk)
    machine.mount("0:40", "/mnt/b", "btrfs", "/dev/sda")
    assert claims(8, 0, machine.root) == ("sda is mounted on /mnt/b", "sda is part of a mounted btrfs")
    assert claims(8, 1, machine.root) == ("sdb is part of a mounted btrfs",)


def test_a_loop_on_a_partition_is_built_on_its_disk(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.partition("pci0/block/sda/sda1", "8:1", 1)
    machine.write("dev/sda1", "")
    machine.disk("virtual/block/loop0", "7:0", loop__backing_file="/dev/sda1")
    machine.mount("7:0", "/mnt/loop")
    said = ("loop0 is built on sda1", "loop0 is mounted on /mnt/loop")
    assert claims(8, 0, machine.root) == said
    assert claims(8, 1, machine.root) == said


def test_mounts_of_other_mount_namespaces(machine: MachineTree) -> None:
    machine.disk("pci0/block/sda", "8:0")
    machine.write("proc/7/comm", "database")
    machine.write("proc/7/mountinfo", "30 1 8:0 / /srv/db rw - ext4 /dev/sda rw")
    for process, namespace in (("self", 1), ("7", 2)):
        machine.link(f"proc/{process}/ns/mnt", machine.root / f"mnt:[{namespace}]")
    assert claims(8, 0, machine.root) == ("sda is mounted on /srv/db in the mount namespace of process 7 (database)",)
    machine.mount("8:0", "/srv/here")
    assert claims(8, 0, machine.root) == ("sda is mounted on /srv/here",)

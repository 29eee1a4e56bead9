"""The identity of devices on paper: which mark comes first, partitions, and devices that nothing tells apart."""

from __future__ import annotations

from makers.machine_tree import MachineTree

from iocast.observe.target.identity import identity_of


def test_the_world_wide_name_comes_before_the_serial_number(machine: MachineTree) -> None:
    disk = machine.disk(
        "pci0/host0/target0/block/sda",
        "8:0",
        device__wwid="t10.ATA     Maker  Disk   S1",
        device__vpd_pg80=b"\0\x80\0\x06S 1234",
        diskseq="9",
    )
    machine.link("dev/disk/by-id/ata-Maker_Disk_S1", disk)
    identity = identity_of(8, 0, machine.root)
    assert identity.marks == (
        "wwn:t10.ATA_Maker_Disk_S1",
        "serial:S_1234",
        "id:ata-Maker_Disk_S1",
        "place:pci0/host0/target0",
    )
    assert (identity.name, identity.number) == ("wwn:t10.ATA_Maker_Disk_S1", "8:0")
    assert (identity.size_bytes, identity.arrival) == (2048 * 512, 9)


def test_a_partition_is_named_by_its_disk_its_number_and_its_place(machine: MachineTree) -> None:
    machine.disk("pci0/nvme/block/nvme0n1", "259:0", wwid="eui.0025", diskseq="3")
    part = machine.partition("pci0/nvme/block/nvme0n1/nvme0n1p2", "259:2", 2, sectors=100)
    (part / "start").write_text("2048\n")
    (part / "uevent").write_text("PARTN=2\nPARTUUID=abcd-02\n")
    identity = identity_of(259, 2, machine.root)
    assert identity.marks == tuple(
        f"{mark}@1048576+51200" for mark in ("wwn:eui.0025-part2", "partuuid:abcd-02", "place:pci0/nvme-part2")
    )
    assert (identity.size_bytes, identity.start_bytes, identity.arrival) == (51_200, 1 << 20, 3)


def test_volumes_and_arrays_have_uuids(machine: MachineTree) -> None:
    machine.disk("virtual/block/dm-0", "253:0", dm__uuid="LVM-abc", dm__name="vg-db")
    machine.disk("virtual/block/md0", "9:0", md__uuid="1-2-3", md__level="raid1")
    assert identity_of(253, 0, machine.root).name == "dm:LVM-abc"
    assert identity_of(9, 0, machine.root).name == "md:1-2-3"


def test_a_disk_without_numbers_is_named_by_its_place(machine: MachineTree) -> None:
    machine.disk("pci0000:00/0000:00:02.0/virtio1/block/vda", "254:0")
    assert identity_of(254, 0, machine.root).name == "place:pci0000:00/0000:00:02.0/virtio1"


def test_a_virtual_device_without_numbers_has_no_name(machine: MachineTree) -> None:
    machine.disk("virtual/block/zram0", "253:1")
    machine.disk("virtual/block/dm-1", "253:2", dm__name="db")
    assert identity_of(253, 1, machine.root).name == ""
    assert identity_of(253, 2, machine.root).name == ""


def test_a_device_that_sysfs_does_not_show_has_no_identity(machine: MachineTree) -> None:
    identity = identity_of(8, 0, machine.root)
    assert (identity.marks, identity.size_bytes) == ((), 0)


def test_what_somebody_called_a_device_is_no_identity(machine: MachineTree) -> None:
    """A name of device-mapper leads to whatever has it later; so does the UUID of a volume without header."""
    plain = machine.disk("virtual/block/dm-3", "253:3", dm__name="scratch", dm__uuid="CRYPT-PLAIN-scratch")
    links = machine.root / "dev/disk/by-id"
    links.mkdir(parents=True, exist_ok=True)
    for name in ("dm-name-scratch", "md-name-host:0", "lvm-pv-uuid-abc"):
        (links / name).symlink_to(plain)
    assert identity_of(253, 3, machine.root).marks == ()

"""Link ceilings: PCIe generations, SATA, SAS, Fibre Channel, NVMe over networks, from sysfs trees."""

from __future__ import annotations

import pytest
from makers.machine_tree import MachineTree

from iocast.observe.target.layers import read_layer
from iocast.observe.target.links import link_of, pcie_link


@pytest.mark.parametrize(
    ("speed", "width", "text", "bytes_per_s"),
    [
        ("2.5 GT/s PCIe", "1", "PCIe 2.5 GT/s 1x1", 250_000_000),
        ("5.0 GT/s PCIe", "4", "PCIe 5.0 GT/s 4x1", 2_000_000_000),
        ("8.0 GT/s PCIe", "4", "PCIe 8.0 GT/s 4x1", 3_938_461_538),
        ("16.0 GT/s PCIe", "4", "PCIe 16.0 GT/s 4x1", 7_876_923_076),
        ("32.0 GT/s PCIe", "4", "PCIe 32.0 GT/s 4x1", 15_753_846_153),
        ("64.0 GT/s PCIe", "4", "PCIe 64.0 GT/s 4x1", 30_250_000_000),
        ("8 GT/s", "8", "PCIe 8.0 GT/s 8x1", 7_876_923_076),  # kernels before 5.4
    ],
)
def test_pcie(speed: str, width: str, text: str, bytes_per_s: int) -> None:
    assert pcie_link(speed, width) == (text, bytes_per_s)


@pytest.mark.parametrize(("speed", "width"), [("Unknown", "4"), ("8.0 GT/s PCIe", "0"), ("", "")])
def test_pcie_that_the_kernel_does_not_know(speed: str, width: str) -> None:
    assert pcie_link(speed, width) == (None, None)


def test_nvme_takes_the_nearest_pci_device(machine: MachineTree) -> None:
    bridge, slot = "pci0000:00/0000:00:1d.0", "pci0000:00/0000:00:1d.0/0000:01:00.0"
    for place, speed, width in ((bridge, "32.0 GT/s PCIe", "16"), (slot, "16.0 GT/s PCIe", "4")):
        machine.write(f"sys/devices/{place}/current_link_speed", speed)
        machine.write(f"sys/devices/{place}/current_link_width", width)
    controller = f"sys/devices/{slot}/nvme/nvme0"
    for name, text in (
        ("transport", "pcie"),
        ("model", "FAST DISK 1TB   "),
        ("serial", "S1234   "),
        ("address", "0"),
    ):
        machine.write(f"{controller}/{name}", text)
    disk = machine.disk(f"{slot}/nvme/nvme0/nvme0n1", "259:0", wwid="eui.0025385b71b0")
    machine.link(f"{controller}/nvme0n1/device", machine.root / controller)
    layer = read_layer(disk)
    assert (layer.link, layer.link_bytes_per_s) == ("PCIe 16.0 GT/s 4x1", 7_876_923_076)
    assert (layer.model, layer.serial, layer.wwn) == ("FAST DISK 1TB", "S1234", "eui.0025385b71b0")


def test_nvme_with_native_multipath_goes_through_its_controller(machine: MachineTree) -> None:
    slot = "sys/devices/pci0000:00/0000:01:00.0"
    machine.write(f"{slot}/current_link_speed", "8.0 GT/s PCIe")
    machine.write(f"{slot}/current_link_width", "2")
    machine.write(f"{slot}/nvme/nvme3/transport", "pcie")
    subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys3"
    disk = machine.disk("virtual/nvme-subsystem/nvme-subsys3/nvme3n1", "259:1")
    machine.link(f"{subsystem}/nvme3", machine.root / slot / "nvme/nvme3")
    machine.link(f"{subsystem}/nvme3n1/device", machine.root / subsystem)
    assert link_of(disk) == ("PCIe 8.0 GT/s 2x1", 1_969_230_769)


def test_nvme_over_a_network_has_a_name_but_no_ceiling(machine: MachineTree) -> None:
    controller = "sys/devices/virtual/nvme-fabrics/ctl/nvme1"
    machine.write(f"{controller}/transport", "tcp")
    disk = machine.disk("virtual/nvme-fabrics/ctl/nvme1/nvme1n1", "259:2")
    machine.link(f"{controller}/nvme1n1/device", machine.root / controller)
    assert link_of(disk) == ("NVMe over TCP", None)


def test_sata(machine: MachineTree) -> None:
    port = "pci0000:00/0000:00:17.0/ata1"
    machine.write(f"sys/devices/{port}/link1/ata_link/link1/sata_spd", "6.0 Gbps")
    target = f"{port}/host0/target0:0:0/0:0:0:0"
    page = b"\x00\x80\x00\x08WD-12345"
    disk = machine.disk(f"{target}/block/sda", "8:0", queue__rotational="1")
    for name, content in (
        ("vendor", "ATA"),
        ("model", "WDC WD40"),
        ("wwid", "naa.50014"),
        ("vpd_pg80", page),
    ):
        machine.write(f"sys/devices/{target}/{name}", content)
    machine.link(f"sys/devices/{target}/block/sda/device", machine.root / f"sys/devices/{target}")
    layer = read_layer(disk)
    assert (layer.link, layer.link_bytes_per_s) == ("SATA 6.0 Gbps", 600_000_000)
    assert (layer.model, layer.serial, layer.wwn) == ("WDC WD40", "WD-12345", "naa.50014")
    assert layer.rotational is True


def test_sata_that_is_not_up(machine: MachineTree) -> None:
    machine.write("sys/devices/pci0/ata1/link1/ata_link/link1/sata_spd", "<unknown>")
    assert link_of(machine.disk("pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda", "8:0")) == (None, None)


def test_sas_wide_port(machine: MachineTree) -> None:
    port = "pci0/host1/port-1:0"
    for lane in (0, 1):
        machine.write(f"sys/devices/{port}/phy-1:{lane}/sas_phy/phy-1:{lane}/negotiated_linkrate", "12.0 Gbit")
    disk = machine.disk(f"{port}/end_device-1:0/target1:0:0/1:0:0:0/block/sdb", "8:16")
    assert link_of(disk) == ("SAS 12.0 Gbit x2", 2_400_000_000)


def test_fibre_channel_carries_what_its_name_says(machine: MachineTree) -> None:
    machine.write("sys/devices/pci0/host5/fc_host/host5/speed", "16 Gbit")
    disk = machine.disk("pci0/host5/rport-5:0-1/target5:0:0/5:0:0:0/block/sdc", "8:32")
    assert link_of(disk) == ("FC 16 Gbit", 1_600_000_000)


def test_a_virtual_disk_shows_no_link(machine: MachineTree) -> None:
    layer = read_layer(machine.disk("pci0/virtio1/block/vda", "254:0", serial="overlay"))
    assert (layer.link, layer.link_bytes_per_s, layer.serial) == (None, None, "overlay")

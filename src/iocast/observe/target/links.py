"""How a disk is attached, and the most bytes a second that its link (PCIe, SATA, SAS, FC) can carry."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from iocast.observe.target.sysfs import read_text

Link = tuple[str | None, int | None]
NO_LINK: Link = (None, None)


def link_of(directory: Path) -> Link:
    """The link of the disk whose (resolved) sysfs directory is given: as people say it, and bytes/s.

    Bytes are what is left after line coding (8b/10b, 128b/130b, flits), not after packet headers, so they are
    a ceiling that no I/O can pass. (None, None) where sysfs shows no link.
    """
    if directory.name.startswith("nvme"):
        return _nvme_link(directory)
    for parent in directory.parents:
        if re.fullmatch(r"ata\d+", parent.name):
            return _sata_link(parent)
        if re.fullmatch(r"port-\d+:\d+(:\d+)?", parent.name):
            return _sas_link(parent)
        # SATA ports have a SCSI host below them too, so a host that is no FC one does not end the search.
        if re.fullmatch(r"host\d+", parent.name) and (link := _fibre_link(parent)) != NO_LINK:
            return link
    return NO_LINK


def pcie_link(speed: str, width: str) -> Link:
    """From current_link_speed ("16.0 GT/s PCIe") and current_link_width ("4").

    >>> pcie_link("8.0 GT/s PCIe", "4")
    ('PCIe 8.0 GT/s x4', 3938461538)
    """
    match = re.match(r"([\d.]+) GT/s", speed)
    if match is None or not width.isdecimal() or not int(width):
        return NO_LINK
    transfers = float(match[1])
    lanes = int(width)
    # PCIe 1 and 2 code 8 bits as 10, 3 to 5 code 128 as 130; 6 sends flits of 256 bytes with 242 of load.
    coding = 8 / 10 if transfers <= 5 else 128 / 130 if transfers <= 32 else 242 / 256
    return f"PCIe {transfers:.1f} GT/s x{lanes}", int(transfers * 1e9 * lanes * coding / 8)


def _nvme_link(directory: Path) -> Link:
    for controller in _nvme_controllers(directory):
        transport = read_text(controller / "transport")
        if transport not in (None, "pcie"):
            return f"NVMe over {str(transport).upper()}", None
        for parent in controller.parents:
            speed, width = read_text(parent / "current_link_speed"), read_text(parent / "current_link_width")
            if speed is not None and width is not None:
                return pcie_link(speed, width)
    return NO_LINK


def _nvme_controllers(directory: Path) -> Iterator[Path]:
    """With native multipath a namespace hangs below a subsystem that only links to its controllers."""
    device = Path(os.path.realpath(directory / "device"))
    if not device.name.startswith("nvme-subsys"):
        yield device
        return
    for entry in sorted(device.glob("nvme*")):
        if re.fullmatch(r"nvme\d+", entry.name):
            yield Path(os.path.realpath(entry))


def _sata_link(port: Path) -> Link:
    for shown in sorted(port.glob("link*/ata_link/link*/sata_spd")):
        if match := re.match(r"([\d.]+) Gbps", read_text(shown) or ""):
            return f"SATA {match[1]} Gbps", int(float(match[1]) * 1e9 / 10)  # 8b/10b
    return NO_LINK


def _sas_link(port: Path) -> Link:
    shown = [read_text(path) or "" for path in port.glob("phy-*/sas_phy/phy-*/negotiated_linkrate")]
    rates = [float(match[1]) for text in shown if (match := re.match(r"([\d.]+) Gbit", text))]
    if not rates:
        return NO_LINK
    # A wide port carries on all its lanes; up to 12 Gbit SAS codes 8 bits as 10, then 128 as 150.
    coding = 8 / 10 if rates[0] <= 12 else 128 / 150
    return f"SAS {rates[0]:.1f} Gbit x{len(rates)}", int(sum(rates) * 1e9 * coding / 8)


def _fibre_link(host: Path) -> Link:
    match = re.match(r"(\d+) Gbit", read_text(host / "fc_host" / host.name / "speed") or "")
    # The standard names its speeds after what they carry: 16 Gbit carries 1600 MB/s each way.
    return (f"FC {match[1]} Gbit", int(match[1]) * 100_000_000) if match else NO_LINK

"""What is asked of `iocast size`, as people write it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.sessions.requests.option import option


def _amount(text: str, name: str) -> float:
    """A number of 0 or more: 30000, 30k. Raises SpecError."""
    from iocast.sessions.forecasting.model_inputs import rate

    return rate(name, text)


class SizeRequest(Struct, frozen=True, kw_only=True):
    """A need of storage, and the devices that may carry it; "" or None: not given."""

    capacity: Annotated[str, option("Data to hold, e.g. 2TB.", "SIZE")] = ""
    iops: Annotated[float | None, option("Reads and writes a second at peak.", "NUMBER", read=_amount)] = None
    mbps: Annotated[
        float | None, option("MB/s (1000 x 1000) at peak: scans, loads, backups.", "NUMBER", read=_amount)
    ] = None
    read: Annotated[str, option("Share of reads; default 70%.", "PERCENT")] = ""
    size: Annotated[str, option("I/O size; default 8k.", "SIZE")] = ""
    slo: Annotated[str, option("Response time: 5ms (p99), p95=5ms, mean=2ms.", "LIMIT")] = ""
    raid: Annotated[str, option("10, 5, 6, 1 or 0; default 10, of cloud volumes 0.", "LEVEL")] = ""
    group: Annotated[int | None, option("Devices of a parity group, 0: one of all.", "NUMBER"), Meta(ge=0)] = None
    device: Annotated[
        str,
        option(
            "hdd-15k, hdd-10k, hdd-7200, sata-ssd, nvme, gp2, gp3, io2, premium-ssd-v2, a device file (.toml), or a "
            "run folder, whose ladder is used; default: all of the library beside each other.",
            "DEVICE",
        ),
    ] = ""
    device_capacity: Annotated[str, option("What the device of a run folder holds.", "SIZE")] = ""
    growth: Annotated[str, option("Growth a year, e.g. 20%/year, with --years.", "PERCENT")] = ""
    years: Annotated[int | None, option("Years of growth.", "NUMBER"), Meta(ge=0, le=30)] = None
    utilisation: Annotated[str, option("At most; default 60% of disks, 70% of others.", "PERCENT")] = ""
    spares: Annotated[int, option("Spare devices.", "NUMBER", quiet=True), Meta(ge=0)] = 0
    price: Annotated[float | None, option("Price of one device, in any currency.", "AMOUNT"), Meta(ge=0)] = None

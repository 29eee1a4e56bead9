"""A storage device by its data sheet: what one holds, how long one I/O takes and how many it does; read from TOML."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from iocast import units
from iocast.archive.regular_file import LARGEST_SMALL, regular_bytes
from iocast.errors import SpecError
from iocast.forecast.laws.volumes import GIB, MIB, counted_ios, limits_of

LIBRARY = Path(__file__).with_name("device_library.toml")
DISK_BLOCK_BYTES = 8192
# [J] The share of a service time that is exponential; the rest is constant. 0.3: p99 is 2.1 times the mean and p99.9
# 2.8 times, as the data sheet of the SATA SSD in the library says of it; a disk's longest seek and whole rotation are
# about twice their means. What a cloud volume does is not published: exponential, p99 is 4.6 times the mean.
SPREAD: dict[str, float] = {"disk": 0.3, "ssd": 0.3, "volume": 1.0}
EXAMPLE = "see docs/guide/size.md for the fields of a device file"

Medium = Literal["disk", "ssd", "volume"]


class DeviceFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a device file, as they are written."""

    medium: Medium
    source: str
    checked: datetime.date
    about: str = ""
    capacity: str = ""
    block: str = ""
    read_latency: str = ""
    write_latency: str = ""
    read_iops: float = 0.0
    write_iops: float = 0.0
    read_rate: str = ""
    write_rate: str = ""
    rpm: float = 0.0
    seek: str = ""
    volume: str = ""
    price: float | None = None
    price_per_gib: float | None = None
    price_per_iops: float | None = None
    price_per_mib_per_s: float | None = None


class Prices(Struct, frozen=True, kw_only=True):
    """What a device, or a part of a volume, costs, in any currency; None: not given."""

    each: float | None = None
    per_gib: float | None = None
    per_iops: float | None = None
    per_mib_per_s: float | None = None


class Side(Struct, frozen=True, kw_only=True):
    """Reads, or writes, of a device."""

    latency_s: float  # of one I/O of `block_bytes`, alone
    iops: float  # of that size, at most
    bytes_per_s: float  # at most

    def demand_s(self, size_bytes: float, block_bytes: float) -> float:
        """The share of a second that one I/O of a size takes from the device: straight in bytes (models A7)."""
        longer = max(0.0, size_bytes - block_bytes) / self.bytes_per_s
        return max(1 / self.iops + longer, size_bytes / self.bytes_per_s)

    def service_s(self, size_bytes: float, block_bytes: float) -> float:
        """How long one I/O of a size takes when it is alone."""
        return self.latency_s + max(0.0, size_bytes - block_bytes) / self.bytes_per_s


class Pool(Struct, frozen=True, kw_only=True):
    """A device under one mix of I/Os: how long one takes alone, and how many a second it does at most."""

    mean_s: float  # of the mix
    slowest_s: float  # of its reads or its writes, whichever take longer
    iops: float
    spread: float  # the share of a service time that is exponential; the rest is constant

    @property
    def servers(self) -> int:
        """How many I/Os it serves side by side: 1 for a disk."""
        return max(1, int(self.iops * self.mean_s + 1e-6))


class StorageDevice(Struct, frozen=True, kw_only=True):
    """One device. `volume` names the limits of a cloud volume, whose size and IOPS are chosen, "" for others."""

    name: str
    medium: Medium
    about: str
    source: str
    checked: datetime.date
    capacity_bytes: float
    block_bytes: int
    reads: Side
    writes: Side
    volume: str = ""
    prices: Prices = Prices()

    def pool(self, read_fraction: float, size_bytes: int) -> Pool:
        """The device under reads and writes of one size, by the service demand law."""
        shares = ((read_fraction, self.reads), (1 - read_fraction, self.writes))
        if self.volume:
            counts = counted_ios(self.volume, size_bytes)
            most = min(self.reads.iops / counts, self.reads.bytes_per_s / size_bytes)
            return self.provisioned_pool(most)
        times = [(share, side.service_s(size_bytes, self.block_bytes)) for share, side in shares]
        return Pool(
            mean_s=sum(share * service_s for share, service_s in times),
            slowest_s=max(service_s for share, service_s in times if share > 0),
            iops=1 / sum(share * side.demand_s(size_bytes, self.block_bytes) for share, side in shares),
            spread=SPREAD[self.medium],
        )

    def provisioned_pool(self, iops: float) -> Pool:
        """A cloud volume that was given some IOPS."""
        latency_s = self.reads.latency_s
        return Pool(mean_s=latency_s, slowest_s=latency_s, iops=iops, spread=SPREAD[self.medium])


@functools.cache
def built_in_devices() -> dict[str, StorageDevice]:
    """The devices of the library by name."""
    files = msgspec.toml.decode(LIBRARY.read_bytes(), type=dict[str, DeviceFile])
    return {name: device_of(name, file) for name, file in files.items()}


def built_in(name: str) -> StorageDevice:
    """A device of the library. Raises SpecError."""
    known = built_in_devices()
    if name not in known:
        raise SpecError(
            f'device "{name}" is unknown', f"known: {', '.join(known)}; or give a device file (.toml) or a run folder"
        )
    return known[name]


def read_device(path: Path) -> StorageDevice:
    """A device file. Raises SpecError, which names the file and the field."""
    try:
        return device_of(path.stem, msgspec.toml.decode(regular_bytes(path, LARGEST_SMALL), type=DeviceFile))
    except OSError as error:
        raise SpecError(f"cannot read {path}: {error.strerror}", EXAMPLE) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SpecError(f"{path}: {_plainly(str(error))}", EXAMPLE) from error
    except SpecError as error:
        raise SpecError(f"{path}: {error.message}", error.hint or EXAMPLE) from error


def _plainly(error: str) -> str:
    """What is wrong with a file, as people say it."""
    return error.replace("Object contains unknown field", "unknown field").replace("Object missing required", "missing")


def device_of(name: str, file: DeviceFile) -> StorageDevice:
    """A device from its fields. Raises SpecError, which names the field."""
    prices = Prices(
        each=file.price,
        per_gib=file.price_per_gib,
        per_iops=file.price_per_iops,
        per_mib_per_s=file.price_per_mib_per_s,
    )
    for field in ("price", "price_per_gib", "price_per_iops", "price_per_mib_per_s"):
        if (getattr(file, field) or 0) < 0:
            raise SpecError(f"{field} is negative", "leave it out where there is no price")
    build = {"disk": _disk, "ssd": _ssd, "volume": _volume}[file.medium]
    capacity, block, reads, writes = build(file)
    return StorageDevice(
        name=name,
        medium=file.medium,
        about=file.about or name,
        source=file.source,
        checked=file.checked,
        capacity_bytes=capacity,
        block_bytes=block,
        reads=reads,
        writes=writes,
        volume=file.volume,
        prices=prices,
    )


def _disk(file: DeviceFile) -> tuple[float, int, Side, Side]:
    """A spinning disk serves one I/O at a time: seek, half a rotation, transfer."""
    _only(file, "disk", "rpm", "seek", "capacity", "read_rate", "write_rate")
    rate = _rate(file, "read_rate")
    fastest = _seconds(file, "seek") + 30 / _above_zero(file, "rpm") + DISK_BLOCK_BYTES / rate
    write_rate = _rate(file, "write_rate") if file.write_rate else rate
    reads = Side(latency_s=fastest, iops=1 / fastest, bytes_per_s=rate)
    slower = fastest + DISK_BLOCK_BYTES / write_rate - DISK_BLOCK_BYTES / rate
    writes = Side(latency_s=slower, iops=1 / slower, bytes_per_s=write_rate)
    return _bytes(file, "capacity"), DISK_BLOCK_BYTES, reads, writes


def _ssd(file: DeviceFile) -> tuple[float, int, Side, Side]:
    rated = ("read_latency", "write_latency", "read_iops", "write_iops", "read_rate", "write_rate")
    _only(file, "ssd", "capacity", "block", *rated)
    sides = [
        Side(
            latency_s=_seconds(file, f"{op}_latency"),
            iops=_above_zero(file, f"{op}_iops"),
            bytes_per_s=_rate(file, f"{op}_rate"),
        )
        for op in ("read", "write")
    ]
    return _bytes(file, "capacity"), int(_bytes(file, "block")), sides[0], sides[1]


def _volume(file: DeviceFile) -> tuple[float, int, Side, Side]:
    """A cloud volume: its limits are those of its kind, which stand in volume_limits.toml."""
    _only(file, "volume", "volume", "read_latency")
    limits = limits_of(file.volume)
    side = Side(
        latency_s=_seconds(file, "read_latency"),
        iops=float(limits.most_iops),
        bytes_per_s=limits.most_mib_per_s * MIB,
    )
    return float(limits.most_gib * GIB), limits.io_bytes, side, side


_PHYSICAL = ("capacity", "block", "read_latency", "write_latency", "read_iops", "write_iops", "read_rate")


def _only(file: DeviceFile, medium: str, *fields: str) -> None:
    """Refuses a field that this kind of device does not have: it would be believed and ignored."""
    for field in (*_PHYSICAL, "write_rate", "rpm", "seek", "volume"):
        if field not in fields and getattr(file, field):
            raise SpecError(f'"{field}" is not a field of medium = "{medium}"', f"its fields: {', '.join(fields)}")


def _given(file: DeviceFile, field: str) -> str:
    value = getattr(file, field)
    if not value:
        raise SpecError(f'medium = "{file.medium}" needs "{field}"', EXAMPLE)
    return str(value)


def _seconds(file: DeviceFile, field: str) -> float:
    return _positive(field, units.parse_duration(_given(file, field)) / 1e9)


def _bytes(file: DeviceFile, field: str) -> float:
    return _positive(field, float(units.parse_size(_given(file, field))))


def _rate(file: DeviceFile, field: str) -> float:
    return _positive(field, float(units.parse_bandwidth(_given(file, field))))


def _above_zero(file: DeviceFile, field: str) -> float:
    return _positive(field, float(_given(file, field)))


def _positive(field: str, value: float) -> float:
    if not value > 0:
        raise SpecError(f'"{field}" is not above 0', EXAMPLE)
    return value

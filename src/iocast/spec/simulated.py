"""Reads simulated targets, "sim:hdd" or "sim:nvme,servers=4,stall=1s/5s", into the device they describe."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.model.simulated import (
    ConstantLaw,
    DiskLaw,
    ExponentialLaw,
    LognormalLaw,
    ServiceLaw,
    SimulatedCache,
    SimulatedDevice,
    SimulatedErrors,
    SimulatedStall,
    UniformLaw,
)
from iocast.model.target import Target
from iocast.spec.problems import meant
from iocast.units import parse_bandwidth, parse_duration, parse_percent, parse_size

_TIB = 1 << 40
_US = 1_000
_MS = 1_000_000

# A 7200 rpm disk: the seek curve was fitted to three published SATA working sets (a 1.0075 ms, b 13.58 ms).
_TURN_7200_NS = 8_333_333

PRESETS: dict[str, tuple[str, SimulatedDevice]] = {
    "hdd": (
        "a 7200 rpm disk: one arm, 150 MB/s",
        SimulatedDevice(
            size_bytes=_TIB,
            service=DiskLaw(rpm=7200.0, seek_base_ns=1_007_500, seek_span_ns=13_580_000),
            servers=1,
            bandwidth_bytes_per_s=150_000_000,
            fsync_ns=_TURN_7200_NS,
        ),
    ),
    "sata-ssd": (
        "a SATA SSD: about 80 us a read, 8 at once, 550 MB/s",
        SimulatedDevice(
            size_bytes=_TIB,
            service=LognormalLaw(mean_ns=80 * _US, cv=0.3),
            write_service=LognormalLaw(mean_ns=60 * _US, cv=0.5),
            servers=8,
            bandwidth_bytes_per_s=550_000_000,
            fsync_ns=_MS,
        ),
    ),
    "nvme": (
        "an NVMe SSD with power-loss protection: about 80 us a read, 64 at once, 3.5 GB/s",
        SimulatedDevice(
            size_bytes=_TIB,
            service=LognormalLaw(mean_ns=80 * _US, cv=0.3),
            write_service=LognormalLaw(mean_ns=20 * _US, cv=0.3),
            servers=64,
            bandwidth_bytes_per_s=3_500_000_000,
            fsync_ns=20 * _US,
        ),
    ),
    "cached-array": (
        "an array of 24 disks behind a cache: 60 % of reads and all writes in 300 us, misses 5 ms, 800 MB/s",
        SimulatedDevice(
            size_bytes=10 * _TIB,
            service=ExponentialLaw(mean_ns=5 * _MS),
            servers=24,
            bandwidth_bytes_per_s=800_000_000,
            fsync_ns=300 * _US,
            cache=SimulatedCache(read_hit_percent=60.0, hit_ns=300 * _US, write_back=True),
        ),
    ),
}


class Option(NamedTuple):
    """One option: how it is written, what it means, how it changes a device. `apply` may raise ValueError."""

    form: str
    says: str
    apply: Callable[[SimulatedDevice, str], SimulatedDevice]


def simulated_presets() -> dict[str, str]:
    """The name of every simulated device with its description in one line."""
    return {f"sim:{name}": says for name, (says, _) in PRESETS.items()}


def parse_target(text: str) -> Target:
    """The Target of "sim:NAME" or "sim:NAME,OPTION=VALUE,...". Raises SpecError."""
    if not text.startswith("sim:"):
        raise SpecError(f'"{text}" is not a simulated target', f"for example {', '.join(simulated_presets())}")
    name, *options = [part.strip() for part in text.removeprefix("sim:").split(",")]
    if name not in PRESETS:
        said = f'unknown simulated device "{name}"' if name else "which device?"
        hint = f"devices: {', '.join(simulated_presets())}"
        raise SpecError(f"{text}: {said}{meant(name, PRESETS)}", hint)
    device = PRESETS[name][1]
    seen: set[str] = set()
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        _refuse_unless_known(text, key, equals, seen)
        seen.add(key)
        try:
            device = OPTIONS[key].apply(device, value)
        except (SpecError, ValueError) as error:
            said = f"{text}: {key}={value}: {error}"
            form, says, _ = OPTIONS[key]
            laws = f"; LAW is one of {LAW_FORMS}" if "LAW" in form else ""
            raise SpecError(said, f"written {key}={form}: {says}{laws}") from None
    if device.errors and device.errors.end_bytes > device.size_bytes:
        raise SpecError(f"{text}: errors lie beyond the end of the device", "make size= larger")
    return Target(path=text, kind="sim", size_bytes=device.size_bytes, direct=True, simulated=device)


def _refuse_unless_known(text: str, key: str, equals: str, seen: set[str]) -> None:
    hint = f"options: {', '.join(OPTIONS)}"
    if not key:
        raise SpecError(f"{text}: an option is missing between or after the commas", hint)
    if key not in OPTIONS:
        raise SpecError(f'{text}: unknown option "{key}"{meant(key, OPTIONS)}', hint)
    if not equals:
        raise SpecError(f'{text}: option "{key}" has no value', f"written {key}={OPTIONS[key].form}")
    if key in seen:
        raise SpecError(f'{text}: option "{key}" is given twice')


def _positive(value_ns: int) -> int:
    if value_ns <= 0:
        raise ValueError("it must be more than 0")
    return value_ns


def _duration(text: str) -> int:
    return _positive(parse_duration(text))


def _number(text: str, most: float) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or not 0 < float(text) <= most:
        raise ValueError(f'expected a number above 0, up to {most:g}, not "{text}"')
    return float(text)


Read = TypeVar("Read")


def _range(text: str, read: Callable[[str], Read]) -> tuple[Read, Read]:
    low, dots, high = text.partition("..")
    if not dots:
        raise ValueError('expected two values with ".." between')
    return read(low), read(high)


def _parts(text: str, form: str) -> list[str]:
    parts = text.split(":")
    if len(parts) != form.count(":") + 1:
        raise ValueError(f"expected {form}")
    return parts


def _constant(text: str) -> ServiceLaw:
    return ConstantLaw(mean_ns=_duration(text))


def _exponential(text: str) -> ServiceLaw:
    return ExponentialLaw(mean_ns=_duration(text))


def _lognormal(text: str) -> ServiceLaw:
    mean, cv = _parts(text, "MEAN:CV")
    return LognormalLaw(mean_ns=_duration(mean), cv=_number(cv, 100))


def _uniform(text: str) -> ServiceLaw:
    low_ns, high_ns = _range(text, parse_duration)
    if low_ns > high_ns or not high_ns:
        raise ValueError("the first time must not be above the second, and the second not 0")
    return UniformLaw(low_ns=low_ns, high_ns=high_ns)


def _disk(text: str) -> ServiceLaw:
    rpm, base, span = _parts(text, "RPM:BASE:SPAN")
    return DiskLaw(rpm=_number(rpm, 100_000), seek_base_ns=parse_duration(base), seek_span_ns=parse_duration(span))


LAWS: dict[str, tuple[str, Callable[[str], ServiceLaw]]] = {
    "constant": ("5ms", _constant),
    "exponential": ("5ms", _exponential),
    "lognormal": ("80us:0.3", _lognormal),
    "uniform": ("1ms..3ms", _uniform),
    "disk": ("7200:1ms:13.6ms", _disk),
}
LAW_FORMS = ", ".join(f"{name}:{form}" for name, (form, _) in LAWS.items())


def _law(text: str) -> ServiceLaw:
    name, _, parameters = text.partition(":")
    if name not in LAWS:
        raise ValueError(f'unknown law "{name}"{meant(name, LAWS)}')
    return LAWS[name][1](parameters)


def _set_size(device: SimulatedDevice, text: str) -> SimulatedDevice:
    size_bytes = parse_size(text)
    if size_bytes < 1 << 20:
        raise ValueError("a device has at least 1MiB")
    return replace(device, size_bytes=size_bytes)


def _set_servers(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= 65536:
        raise ValueError("expected a whole number from 1 to 65536")
    return replace(device, servers=int(text))


def _set_bandwidth(device: SimulatedDevice, text: str) -> SimulatedDevice:
    return replace(device, bandwidth_bytes_per_s=0 if text == "none" else _positive(parse_bandwidth(text)))


def _set_write(device: SimulatedDevice, text: str) -> SimulatedDevice:
    return replace(device, write_service=None if text == "same" else _law(text))


def _set_hit(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if text == "none":
        return replace(device, cache=None)
    percent, time = _parts(text, "PERCENT:TIME")
    write_back = device.cache is not None and device.cache.write_back
    return replace(device, cache=SimulatedCache(parse_percent(percent), _duration(time), write_back))


def _set_write_back(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if text not in ("on", "off"):
        raise ValueError("expected on or off")
    if device.cache is None:
        raise ValueError("there is no cache; give hit= before it")
    return replace(device, cache=replace(device.cache, write_back=text == "on"))


def _set_stall(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if text == "none":
        return replace(device, stall=None)
    length, slash, period = text.partition("/")
    if not slash:
        raise ValueError('expected two times with "/" between')
    stall = SimulatedStall(every_ns=_duration(period), for_ns=_duration(length))
    if stall.for_ns >= stall.every_ns:
        raise ValueError("a stall must be shorter than the time from one to the next")
    return replace(device, stall=stall)


def _set_errors(device: SimulatedDevice, text: str) -> SimulatedDevice:
    kept: dict[str, Any] = {"errno": device.errors.errno} if device.errors else {}
    if text == "none":
        return replace(device, errors=None)
    if text.endswith("%"):
        return replace(device, errors=SimulatedErrors(percent=parse_percent(text), **kept))
    start_bytes, end_bytes = _range(text, parse_size)
    if start_bytes >= end_bytes:
        raise ValueError("the range is empty")
    return replace(device, errors=SimulatedErrors(start_bytes=start_bytes, end_bytes=end_bytes, **kept))


def _set_errno(device: SimulatedDevice, text: str) -> SimulatedDevice:
    codes = {name: code for code, name in errno.errorcode.items()}
    if text not in codes:
        raise ValueError(f'unknown errno "{text}"{meant(text, codes)}')
    if device.errors is None:
        raise ValueError("there are no errors; give errors= before it")
    return replace(device, errors=replace(device.errors, errno=codes[text]))


OPTIONS: dict[str, Option] = {
    "size": Option("1TiB", "how large it is", _set_size),
    "servers": Option("4", "I/Os that are served at the same time; the others wait", _set_servers),
    "service": Option(
        "LAW",
        "how long an I/O is served, reads and writes",
        lambda device, text: replace(device, service=_law(text), write_service=None),
    ),
    "write": Option("same|LAW", "how long a write is served; after service=", _set_write),
    "bandwidth": Option("3.5GB/s|none", "what all I/Os share, hits of the cache too", _set_bandwidth),
    "fsync": Option(
        "8ms",
        "how long an fsync takes",
        lambda device, text: replace(device, fsync_ns=parse_duration(text)),
    ),
    "hit": Option("80%:200us|none", "a cache: how many reads hit, how long a hit takes before its data move", _set_hit),
    "write_back": Option("on|off", "the cache answers writes too; after hit=", _set_write_back),
    "stall": Option("1s/5s|none", "nothing ends in the last 1s of every 5s", _set_stall),
    "errors": Option("1MiB..2MiB|0.1%|none", "I/Os that touch these bytes fail, or so many of all", _set_errors),
    "errno": Option("EIO", "how they fail; after errors=", _set_errno),
}

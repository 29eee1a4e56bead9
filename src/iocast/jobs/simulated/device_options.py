"""The options of simulated targets, "stripe=4:64KiB" and so on: how each is written and what it changes."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from iocast.jobs.simulated.law_text import parse_law
from iocast.jobs.simulated.option_values import count, duration, length_of_period, number, parts, positive, span, switch
from iocast.model.simulated_device import (
    SimulatedCache,
    SimulatedDevice,
    SimulatedDrift,
    SimulatedErrors,
    SimulatedLimit,
    SimulatedLink,
    SimulatedNoise,
    SimulatedReadAhead,
    SimulatedReduction,
    SimulatedScaling,
    SimulatedSlc,
    SimulatedSlow,
    SimulatedStall,
    SimulatedStripe,
    SimulatedThin,
    SimulatedTier,
    SimulatedZones,
)
from iocast.tools.line_problems import meant
from iocast.units import parse_bandwidth, parse_duration, parse_percent, parse_rate, parse_size

Apply = Callable[[SimulatedDevice, str], SimulatedDevice]


class Option(NamedTuple):
    """One option: how it is written, what it means, how it changes a device. `apply` may raise ValueError."""

    form: str
    says: str
    apply: Apply


def _field(name: str, read: Callable[[str], object], off: object = ...) -> Apply:
    """Sets one field of the device; "none" sets it to `off`, where that is given."""

    def apply(device: SimulatedDevice, text: str) -> SimulatedDevice:
        changed: dict[str, Any] = {name: off if text == "none" and off is not ... else read(text)}
        return replace(device, **changed)

    return apply


def _set_size(device: SimulatedDevice, text: str) -> SimulatedDevice:
    size_bytes = parse_size(text)
    if size_bytes < 1 << 20:
        raise ValueError("a device has at least 1MiB")
    return replace(device, size_bytes=size_bytes)


def _whole(text: str, most: int) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= most:
        raise ValueError(f"expected a whole number from 1 to {most}")
    return int(text)


def _block(text: str) -> int:
    size_bytes = parse_size(text)
    if size_bytes < 512:
        raise ValueError("expected at least 512 bytes")
    return size_bytes


def _set_service(device: SimulatedDevice, text: str) -> SimulatedDevice:
    return replace(device, service=parse_law(text), write_service=None)


def _set_write(device: SimulatedDevice, text: str) -> SimulatedDevice:
    return replace(device, write_service=None if text == "same" else parse_law(text))


def _set_hit(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if text == "none":
        return replace(device, cache=None)
    percent, time = parts(text, "PERCENT:TIME")
    write_back = device.cache is not None and device.cache.write_back
    return replace(device, cache=SimulatedCache(parse_percent(percent), duration(time), write_back))


def _set_cache(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if text == "none":
        return replace(device, cache=None)
    size, time = parts(text, "SIZE:TIME")
    write_back = device.cache is not None and device.cache.write_back
    cache = SimulatedCache(0.0, duration(time), write_back, size_bytes=parse_size(size))
    if cache.size_bytes < cache.line_bytes:
        raise ValueError("it must hold at least one line of 64KiB")
    return replace(device, cache=cache)


def _of_cache(**read: Callable[[str], object]) -> Apply:
    """Sets one field of the cache that is there."""
    ((name, reader),) = read.items()

    def apply(device: SimulatedDevice, text: str) -> SimulatedDevice:
        changed: dict[str, Any] = {name: reader(text)}
        if device.cache is None:
            raise ValueError("no cache; give hit= or cache= before it")
        return replace(device, cache=replace(device.cache, **changed))

    return apply


def _set_dirty(device: SimulatedDevice, text: str) -> SimulatedDevice:
    if device.cache is None or not device.cache.write_back:
        raise ValueError("no cache takes writes; give write_back=on before it")
    if text == "none":
        return replace(device, cache=replace(device.cache, dirty_bytes=0, destage_bytes_per_s=0))
    size, rate = parts(text, "SIZE:RATE")
    cache = replace(
        device.cache, dirty_bytes=positive(parse_size(size)), destage_bytes_per_s=positive(parse_bandwidth(rate))
    )
    return replace(device, cache=cache)


def _stall(text: str) -> SimulatedStall:
    length_ns, period_ns = length_of_period(text, "a stall")
    return SimulatedStall(every_ns=period_ns, for_ns=length_ns)


def _set_errors(device: SimulatedDevice, text: str) -> SimulatedDevice:
    kept: dict[str, Any] = {"errno": device.errors.errno} if device.errors else {}
    if text == "none":
        return replace(device, errors=None)
    if text.endswith("%"):
        return replace(device, errors=SimulatedErrors(percent=parse_percent(text), **kept))
    if text.startswith("1/"):
        return replace(device, errors=SimulatedErrors(every=int(count(text[2:])), **kept))
    start_bytes, end_bytes = span(text, parse_size)
    if start_bytes >= end_bytes:
        raise ValueError("the range is empty")
    return replace(device, errors=SimulatedErrors(start_bytes=start_bytes, end_bytes=end_bytes, **kept))


def _set_errno(device: SimulatedDevice, text: str) -> SimulatedDevice:
    codes = {name: code for code, name in errno.errorcode.items()}
    if text not in codes:
        raise ValueError(f'unknown errno "{text}"{meant(text, codes)}')
    if device.errors is None:
        raise ValueError("no errors; give errors= before it")
    return replace(device, errors=replace(device.errors, errno=codes[text]))


def _stripe(text: str) -> SimulatedStripe:
    members, size = parts(text, "MEMBERS:SIZE")
    return SimulatedStripe(_whole(members, 4096), _block(size))


def _slc(text: str) -> SimulatedSlc:
    size, slow, recover = parts(text, "SIZE:SLOW:RECOVER")
    return SimulatedSlc(positive(parse_size(size)), positive(parse_bandwidth(slow)), parse_bandwidth(recover))


def _read_ahead(text: str) -> SimulatedReadAhead:
    window, time = parts(text, "WINDOW:TIME")
    return SimulatedReadAhead(positive(parse_size(window)), duration(time))


def _tier(text: str) -> SimulatedTier:
    size, time, when = parts(text, "SIZE:TIME:WHEN")
    tier = SimulatedTier(parse_size(size), duration(time))
    if tier.size_bytes < tier.extent_bytes:
        raise ValueError("a tier has at least 1MiB")
    if when.isdecimal():
        return replace(tier, after=_whole(when, 65536))
    return replace(tier, period_ns=duration(when))


def _thin(name: str, read: Callable[[str], object], off: object = ...) -> Apply:
    """Sets one field of the thin space, which appears when it is not there yet; "none" sets it to `off`."""

    def apply(device: SimulatedDevice, text: str) -> SimulatedDevice:
        changed: dict[str, Any] = {name: off if text == "none" and off is not ... else read(text)}
        return replace(device, thin=replace(device.thin or SimulatedThin(), **changed))

    return apply


def _reduction(name: str, read: Callable[[str], object]) -> Apply:
    def apply(device: SimulatedDevice, text: str) -> SimulatedDevice:
        changed: dict[str, Any] = {name: read(text)}
        return replace(device, reduction=replace(device.reduction or SimulatedReduction(), **changed))

    return apply


def _limit(counts: Literal["ios", "bytes"], saves: bool, read: Callable[[str], tuple[float, float]]) -> Apply:
    """Sets the cap, or the credits if it `saves`, of I/Os or bytes."""

    def apply(device: SimulatedDevice, text: str) -> SimulatedDevice:
        limits = [limit for limit in device.limits if (limit.counts, limit.bucket > 0) != (counts, saves)]
        if text != "none":
            rate_per_s, bucket = read(text)
            if rate_per_s <= 0:
                raise ValueError("it must be more than 0")
            limits.append(SimulatedLimit(counts, rate_per_s, bucket))
        return replace(device, limits=tuple(limits))

    return apply


def _credits(text: str) -> tuple[float, float]:
    rate, bucket = parts(text, "RATE:CREDITS")
    return parse_rate(rate), count(bucket)


def _byte_credits(text: str) -> tuple[float, float]:
    rate, bucket = parts(text, "RATE:BYTES")
    return float(parse_bandwidth(rate)), float(positive(parse_size(bucket)))


def _set_io_unit(device: SimulatedDevice, text: str) -> SimulatedDevice:
    unit_bytes = 0 if text == "none" else _block(text)
    if not any(limit.counts == "ios" for limit in device.limits):
        raise ValueError("nothing counts I/Os; give iops= or credits= before it")
    return replace(
        device,
        limits=tuple(
            replace(limit, unit_bytes=unit_bytes) if limit.counts == "ios" else limit for limit in device.limits
        ),
    )


def _link(text: str) -> SimulatedLink:
    rate, rtt = parts(text, "RATE:ROUND_TRIP")
    return SimulatedLink(positive(parse_bandwidth(rate)), parse_duration(rtt))


def _serialised(text: str) -> str:
    if text not in ("writes", "all"):
        raise ValueError("expected writes, all or none")
    return text


def _slow(text: str) -> SimulatedSlow:
    when, factor = parts(text, "FROM..TO:FACTOR")
    from_ns, to_ns = span(when, parse_duration)
    if from_ns >= to_ns:
        raise ValueError("the time span is empty")
    return SimulatedSlow(from_ns, to_ns, number(factor, 1e6))


def _drift(text: str) -> SimulatedDrift:
    factor, time = parts(text, "FACTOR:TIME")
    return SimulatedDrift(number(factor, 1e6), duration(time))


def _noise(text: str) -> SimulatedNoise:
    rate, colon, burst = text.partition(":")
    rate_per_s = parse_rate(rate)
    if not 0 < rate_per_s <= 1e7:
        raise ValueError("expected a rate above 0, up to 10M/s")
    if not colon:
        return SimulatedNoise(rate_per_s)
    burst_ns, every_ns = length_of_period(burst, "a burst")
    return SimulatedNoise(rate_per_s, burst_ns, every_ns)


def _scaling(text: str) -> SimulatedScaling:
    contention, retrograde = parts(text, "A:B")
    return SimulatedScaling(number(contention, 1, zero=True), number(retrograde, 1, zero=True))


OPTIONS: dict[str, Option] = {
    "size": Option("1TiB", "size of the device", _set_size),
    "servers": Option(
        "4",
        "I/Os served in parallel; the others queue",
        _field("servers", lambda text: _whole(text, 65536)),
    ),
    "service": Option("LAW", "service time of an I/O, reads and writes", _set_service),
    "write": Option("same|LAW", "service time of a write; after service=", _set_write),
    "bandwidth": Option(
        "3.5GB/s|none",
        "bandwidth shared by all I/Os, cache hits included",
        _field("bandwidth_bytes_per_s", lambda text: positive(parse_bandwidth(text)), 0),
    ),
    "fsync": Option("8ms", "duration of an fsync", _field("fsync_ns", parse_duration)),
    "hit": Option("80%:200us|none", "a cache: share of reads that hit, time of a hit before data transfer", _set_hit),
    "cache": Option("32GiB:200us|none", "an LRU cache: size, time of a hit", _set_cache),
    "write_back": Option(
        "on|off", "a write-back cache: it acknowledges writes too; after hit= or cache=", _of_cache(write_back=switch)
    ),
    "dirty": Option(
        "8GiB:200MB/s|none",
        "dirty data that the cache can hold, rate at which it is flushed; after write_back=on",
        _set_dirty,
    ),
    "scan_resistant": Option(
        "on|off", "sequential I/Os do not enter the cache; after cache=", _of_cache(scan_resistant=switch)
    ),
    "stall": Option("1s/5s|none", "nothing completes in the last 1s of every 5s", _field("stall", _stall, None)),
    "errors": Option(
        "1MiB..2MiB|0.1%|1/5000|none",
        "I/Os that touch these bytes fail, or this share of all, or every 5000th",
        _set_errors,
    ),
    "errno": Option("EIO", "how they fail; after errors=", _set_errno),
    "stripe": Option(
        "4:64KiB|none",
        "members, each with its own servers, bandwidth and arm, and the stripe size",
        _field("stripe", _stripe, None),
    ),
    "max_io": Option("128KiB|none", "larger I/Os are split", _field("max_io_bytes", _block, 0)),
    "fragments": Option(
        "1MiB|none", "the data lie scattered in pieces of this size", _field("fragment_bytes", _block, 0)
    ),
    "read_ahead": Option(
        "1MiB:100us|none",
        "sequential reads are read ahead by one window; time of a read that was read ahead",
        _field("read_ahead", _read_ahead, None),
    ),
    "tier": Option(
        "100GiB:200us:3|100GiB:200us:1h|none",
        "a fast tier: size, time of an I/O, when a MiB is promoted: at its 3rd access, or every hour the most used",
        _field("tier", _tier, None),
    ),
    "slc": Option(
        "100GiB:160MB/s:50MB/s|none",
        "an SLC cache: data written fast, write rate after that, rate of recovery while idle",
        _field("slc", _slc, None),
    ),
    "unit": Option("64KiB", "thin allocation unit", _thin("unit_bytes", _block)),
    "first_write": Option("3ms|none", "added to the first write of a unit", _thin("first_write_ns", duration, 0)),
    "holes": Option("20us|none", "time of reads of never-written blocks", _thin("hole_ns", duration, None)),
    "zeros": Option("20us|none", "time of writes of zeros, which leave a hole", _thin("zero_ns", duration, None)),
    "pool": Option(
        "100GiB|none",
        "allocating more fails with ENOSPC",
        _thin("pool_bytes", lambda text: positive(parse_size(text)), 0),
    ),
    "compress": Option("on|off", "zero bytes are neither served nor moved", _reduction("compress", switch)),
    "dedupe": Option("on|off", "repeated blocks are neither served nor moved", _reduction("dedupe", switch)),
    "reduce_to": Option("5%", "smallest size that data can be reduced to", _reduction("least_percent", parse_percent)),
    "iops": Option("3000/s|none", "a cap on I/Os", _limit("ios", False, lambda text: (parse_rate(text), 0.0))),
    "throughput": Option(
        "125MiB/s|none", "a cap on bytes", _limit("bytes", False, lambda text: (float(parse_bandwidth(text)), 0.0))
    ),
    "credits": Option(
        "300/s:5.4M|none",
        "burst credits: baseline of I/Os, and size of the burst bucket, full at the start",
        _limit("ios", True, _credits),
    ),
    "byte_credits": Option(
        "40MB/s:1TiB|none", "the same for bytes; also models heating and cooling", _limit("bytes", True, _byte_credits)
    ),
    "io_unit": Option(
        "256KiB|none", "a larger I/O counts as several of this size; after iops= and credits=", _set_io_unit
    ),
    "link": Option(
        "117MB/s:200us|none", "a network: payload bandwidth each way, round-trip time", _field("link", _link, None)
    ),
    "serialised": Option(
        "writes|all|none",
        "these are serialised, as by a file system lock",
        _field("serialised", _serialised, "none"),
    ),
    "slow": Option(
        "60s..120s:3|none",
        "maintenance: service takes three times as long during this time of the run",
        _field("slow", _slow, None),
    ),
    "drift": Option("2:10m|none", "service becomes twice as long within ten minutes", _field("drift", _drift, None)),
    "zones": Option(
        "1.5|none",
        "an I/O on the last byte takes 1.5 times as long as one on the first, as on a disk's inner tracks",
        _field("zones", lambda text: SimulatedZones(number(text, 1e6)), None),
    ),
    "noise": Option(
        "200/s|200/s:1s/10s|none",
        "other I/O on the same drives, always or in the first 1s of every 10s",
        _field("noise", _noise, None),
    ),
    "tick": Option("1ms|none", "completions are noticed at multiples of this", _field("tick_ns", duration, 0)),
    "usl": Option(
        "0.02:0.0005|none",
        "the universal scalability law: service grows by contention and crosstalk of outstanding I/Os; needs servers=",
        _field("scaling", _scaling, None),
    ),
}

"""Lines that `iocast watch blk` writes each interval: a live table, iolatency's histogram, slow requests, JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import ceil
from typing import Literal

import msgspec

from iocast import metrics, text
from iocast.model.block_times import BlockClass, BlockDevice, BlockOp, BlockTimes
from iocast.model.histogram import Histogram
from iocast.model.results.live import BlockFigures, TracedClass, TracedDevice, TracedInterval
from iocast.model.view import View

BAR = 38  # the width of iolatency's bars
Unit = Literal["ms", "us"]
_OPS: tuple[BlockOp, ...] = ("read", "write", "trim", "flush", "other")
_HEAD = (
    f"{'device':<10} {'op':<6} {'IOPS':>8} {'MB/s':>8}{'queue p50':>12} {'p99':>8} {'max':>8}"
    f"{'device p50':>11} {'p99':>8} {'max':>8}  outstanding"
)


class Shown(msgspec.Struct, frozen=True):
    """How an interval is shown: the live table, iolatency's histogram, or JSON; its time; slow requests by name."""

    iolatency: bool = False
    unit: Unit = "ms"
    queued: bool = False
    as_json: bool = False
    slow_ns: int | None = None
    timed: bool = False


def interval_text(times: BlockTimes, ended_unix_ns: int, shown: Shown) -> str:
    """All that is said of one interval."""
    if shown.as_json:
        return json_line(times, ended_unix_ns)
    lines = [
        "",
        *([_clock(ended_unix_ns)] if shown.timed else ()),
        *(slow(times, shown.slow_ns) if shown.slow_ns is not None else ()),
    ]
    if shown.iolatency:
        lines += [*iolatency(powers(times, shown.unit, queued=shown.queued), shown.unit), *losses(times)]
    else:
        lines += live(times)
    return "\n".join(lines)


def _clock(unix_ns: int) -> str:
    """The local time of day as iolatency -T prints it."""
    return time.strftime("%H:%M:%S:", time.localtime(unix_ns // 1_000_000_000))


def live(times: BlockTimes) -> Iterator[str]:
    """One line for each device and operation that did anything."""
    yield _HEAD
    for device in times.devices:
        for op in _OPS:
            if not (ios := device.ios(op)):
                continue
            moved = sum(each.bytes for each in device.classes if each.op == op)
            view = View(device.name, times.watched_ns, {metrics.IOS: ios, metrics.BYTES: moved})
            spread = "   ".join(_spread(device.times(part, op)) for part in ("queue", "device"))
            rate_per_s, bytes_per_s = (view.per_s(metric) or 0.0 for metric in (metrics.IOS, metrics.BYTES))
            rate = f"{text.rate(rate_per_s):>8} {text.megabytes_per_s(bytes_per_s):>8}"
            yield f"{device.name:<10} {op:<6} {rate}    {spread}  {device.in_flight:>11}"
    yield from losses(times)


def _spread(times: Histogram) -> str:
    if not times.total:
        return " ".join(f"{'-':>8}" for _ in range(3))
    return " ".join(f"{text.duration(each, ''):>8}" for each in _three(times))


def _three(times: Histogram) -> tuple[float, float, float]:
    return times.quantile_ns(0.5), times.quantile_ns(0.99), times.most_ns


def losses(times: BlockTimes) -> Iterator[str]:
    """What is missing in the figures; nothing when nothing is."""
    if times.lost_events:
        yield f"lost: {text.counted(times.lost_events, 'trace record')}; the counts above are too low"


def iolatency(counts: tuple[int, ...], unit: Unit) -> Iterator[str]:
    """The histogram as iolatency of perf-tools prints it, bars of ceil(38 n / most). `counts` are those up to 1,
    up to 2, up to 4 … units: exactly 1 ms is in "0 -> 1", as it is there. In µs a column adds up the times as
    iolatency_micro does: 1.5 times the lower edge for each.
    """
    micro = unit == "us"
    head = f"{f'>=({unit})':>8} .. {f'<({unit})':<8}: {'I/O':<8} |{'Distribution':<{BAR}}|"
    yield head + (" IO_latency" if micro else "")
    most = max(counts, default=0)
    low = 0
    for power, count in enumerate(counts):
        high = 1 << power
        bar = "#" * stars(count, most)
        added = f" {low * count * 3 // 2}" if micro else ""
        yield f"{low:>8d} -> {high:<8d}: {count:<8d} |{bar:<{BAR}}|{added}"
        low = high


def stars(count: int, most: int) -> int:
    """How long a bar is: none is left out that has anything."""
    return ceil(BAR * count / most) if most else 0


def powers(times: BlockTimes, unit: Unit, *, queued: bool) -> tuple[int, ...]:
    """The counts of all devices together; `queued`: from insert, not from issue."""
    name = f"{'total' if queued else 'device'}_{unit}_powers"
    lists: list[tuple[int, ...]] = [getattr(device, name) for device in times.devices]
    longest = max(map(len, lists), default=0)
    return tuple(sum(each[at] for each in lists if at < len(each)) for at in range(longest))


def slow(times: BlockTimes, limit_ns: int) -> Iterator[str]:
    """A line for each request that took longer, and one a device with its number, least, mean and most."""
    for device in times.devices:
        for each in device.slow:
            took_us = (each.queue_ns + each.device_ns) // 1000
            what = f"{device.name}, sector {each.sector}, {took_us} us"
            yield f"> {limit_ns // 1000} us: {what} ({each.op} of {text.size(each.size_bytes)})"
        if device.slow_count > len(device.slow):
            yield f"> {limit_ns // 1000} us: {device.name}, and {device.slow_count - len(device.slow)} more"
        if device.ios():
            yield f"{device.name}: {_summary(device.times('total'))}"


def _summary(times: Histogram) -> str:
    least, mean, most = (text.duration(each) for each in (times.least_ns, times.mean_ns, times.most_ns))
    return f"num {times.total}, min {least}, avg {mean}, max {most}"


def json_line(times: BlockTimes, ended_unix_ns: int) -> str:
    """One JSON object: raw values, each with its unit in the name of its key."""
    document = TracedInterval(
        time_unix_ns=ended_unix_ns,
        elapsed_ns=times.elapsed_ns,
        watched_ns=times.watched_ns,
        lost_events=times.lost_events,
        unpaired=times.unpaired,
        devices=tuple(map(_device, times.devices)),
    )
    return text.harmless_json(msgspec.json.encode(document).decode())


def _device(device: BlockDevice) -> TracedDevice:
    return TracedDevice(
        device=device.name,
        number=f"{device.device.major}:{device.device.minor}",
        in_flight=device.in_flight,
        classes=tuple(map(_class, device.classes)),
        device_us_powers=device.device_us_powers,
        device_ms_powers=device.device_ms_powers,
        total_us_powers=device.total_us_powers,
        total_ms_powers=device.total_ms_powers,
        slow=device.slow,
        slow_count=device.slow_count,
    )


def _class(each: BlockClass) -> TracedClass:
    return TracedClass(
        op=each.op,
        size_bytes=each.size_bytes,
        ios=each.ios,
        bytes=each.bytes,
        failed=each.failed,
        queue=_figures(each.part("queue")),
        device=_figures(each.part("device")),
        total=_figures(each.part("total")),
    )


def _figures(times: Histogram) -> BlockFigures:
    if not times.total:
        return BlockFigures(count=0)
    p50_ns, p99_ns, max_ns = _three(times)
    return BlockFigures(
        count=times.total,
        min_ns=times.least_ns,
        mean_ns=times.mean_ns,
        p50_ns=p50_ns,
        p99_ns=p99_ns,
        max_ns=max_ns,
    )

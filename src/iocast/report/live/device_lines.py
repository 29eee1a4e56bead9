"""Devices of a live screen: what each does, in a line; and the processors beside them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.model.view import View
from iocast.report.live.styled_lines import Line, Piece, line
from iocast.text import brief_time

_BUSY = 0.9
_WHOLE = 94  # characters of a line with all columns
_FLUSHES = f"{'flush/s':>9}{'await':>9}"


def device_lines(interval: Interval, width: int = _WHOLE, most: int = 8) -> Iterator[Line]:
    """The busiest devices first; idle ones are counted in a line of their own. Flushes go where there is no room."""
    flushes = width >= _WHOLE
    views = interval.views(metrics.DISKSTATS)
    active = {name: view for name, view in views.items() if view.delta(metrics.QUEUE_NS) or _ios(view)}
    if not views:
        yield line("No counters of devices: see the notes.", "dim")
        return
    head = f"{'device':<12}{'read/s':>8}{'MB/s':>8}{'await':>9}{'write/s':>9}{'MB/s':>8}{'await':>9}"
    yield line(f"{head}{_FLUSHES if flushes else ''}{'queue':>7}{'busy':>6}", "head")
    for name, view in sorted(active.items(), key=lambda item: -(item[1].delta(metrics.QUEUE_NS) or 0))[:most]:
        yield _device(name, view, flushes)
    if idle := len(views) - min(len(active), most):
        yield line(f"{idle} more device{'s' if idle > 1 else ''}, idle or nearly so", "dim")


def _ios(view: View) -> int:
    return sum(view.delta(metric) or 0 for metric in (metrics.READS, metrics.WRITES, metrics.FLUSHES))


def _device(name: str, view: View, flushes: bool) -> Line:
    busy = view.utilisation
    parts = [
        f"{name:<12.12}",
        *_direction(view, metrics.READS, metrics.READ_BYTES, metrics.READ_NS, 8),
        *_direction(view, metrics.WRITES, metrics.WRITTEN_BYTES, metrics.WRITE_NS, 9),
        f"{_whole(view.per_s(metrics.FLUSHES)):>9}{_time(view.mean(metrics.FLUSH_NS, metrics.FLUSHES)):>9}" * flushes,
        f"{'' if view.queue_mean is None else f'{view.queue_mean:.1f}':>7}",
    ]
    share = f"{'' if busy is None else f'{100 * busy:.0f}%':>6}"
    return (Piece("".join(parts)), Piece(share, "warn" if busy is not None and busy > _BUSY else "plain"))


def _direction(view: View, requests: str, moved: str, spent: str, width: int) -> Iterator[str]:
    throughput = view.per_s(moved)
    yield f"{_whole(view.per_s(requests)):>{width}}"
    yield f"{'' if throughput is None else f'{throughput / 1e6:.1f}':>8}"
    yield f"{_time(view.mean(spent, requests)):>9}"


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _time(value_ns: float | None) -> str:
    return "" if value_ns is None else brief_time(value_ns)


def processor_lines(interval: Interval, width: int) -> Iterator[Line]:
    """As many lines as it takes."""
    for text in textwrap.wrap(_processors(interval), width, subsequent_indent="     "):
        yield line(text, "dim" if text == _UNKNOWN else "plain")


def _processors(interval: Interval) -> str:
    """Shares of all processors together, and in how much of the time some task waited for one, or for I/O."""
    cpu = interval.views(metrics.CPU).get("")
    if cpu is None or (total := cpu.sum(*metrics.CPU_TIMES)) is None or not total:
        return _UNKNOWN
    shares = [f"{_share(cpu.delta(metric), total)} {name}" for metric, name in _PROCESSOR]
    pressure = interval.views(metrics.PRESSURE)
    waits = [
        f"{name} {100 * some / view.elapsed_ns:.0f}%"
        for kind, name in (("cpu", "CPU"), ("io", "I/O"))
        if (view := pressure.get(kind)) is not None and (some := view.delta(metrics.SOME_NS)) is not None
    ]
    return f"CPU: {', '.join(shares)}" + (f"; pressure: {', '.join(waits)}" if waits else "")


_UNKNOWN = "CPU: unknown"
_PROCESSOR = (
    (metrics.USER_NS, "user"),
    (metrics.SYSTEM_NS, "system"),
    (metrics.IOWAIT_NS, "iowait"),
    (metrics.STEAL_NS, "stolen"),
    (metrics.IDLE_NS, "idle"),
)


def _share(part: int | None, total: int) -> str:
    return "?" if part is None else f"{100 * part / total:.0f}%"

"""Writes ORION's result files, in the layout of 11.2 to 19c: summary, iops, mbps and lat matrices, histograms, trace.

The summary has the lines of 11.1 in their order too; only its lowest latency has a unit since 11.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from iocast.model.histogram import Histogram, merge
from iocast.model.workload import Op
from iocast.tools.orion.command_line import Settings, text
from iocast.tools.orion.data_points import columns, data_points, kinds
from iocast.tools.orion.result_files import MATRIX, Kind, Point

MIB = 1 << 20
FILES = ("summary.txt", "iops.csv", "mbps.csv", "lat.csv", "hist.txt", "trace.txt")
MISSING = "-"  # of a point that was not measured
_TOP_US = 1 << 28  # above all buckets
_FIRST_US = 32
_OF_POINTS = "Each value is that of a data point: a fixed number of outstanding small and large I/Os."
_ARRAYS = {"concat": "CONCAT", "raid0": "RAID 0"}


class Side(Struct, frozen=True):
    """The I/Os of one size at a data point."""

    per_s: float
    bytes_per_s: float
    times: dict[Op, Histogram]  # from submission

    @property
    def mean_us(self) -> float:
        """The mean over reads and writes."""
        return merge(self.times.values()).mean_ns / 1e3


class PointResult(Struct, frozen=True, kw_only=True):
    """What was measured at a data point; None: nothing of that size was outstanding."""

    point: Point
    small: Side | None = None
    large: Side | None = None
    started_unix_ns: int = 0
    elapsed_s: float = 0.0
    covered: tuple[str, ...] = ()  # how many different blocks it touched, in words


class Volume(Struct, frozen=True):
    """A file or device of the test."""

    path: str
    size_bytes: int


class Result(Struct, frozen=True, kw_only=True):
    """An ORION run that was measured. `version` is of the program that measured it."""

    settings: Settings
    version: str
    started_unix_ns: int
    volumes: tuple[Volume, ...]
    points: tuple[PointResult, ...]

    @property
    def stem(self) -> str:
        """What the names of its files begin with: "orion_20260101_1200" (UTC)."""
        began = datetime.fromtimestamp(self.started_unix_ns // 1_000_000_000, UTC)
        return f"{self.settings.testname}_{began:%Y%m%d_%H%M}"


def files_of(result: Result) -> dict[str, str]:
    """The text of each file by its name."""
    makers: dict[str, Callable[[Result], str]] = dict(
        zip(FILES, (summary_text, iops_text, mbps_text, lat_text, hist_text, trace_text), strict=True)
    )
    return {f"{result.stem}_{name}": make(result) for name, make in makers.items()}


def summary_text(result: Result) -> str:
    """The summary: what was asked, the maxima, the lowest latency and its histogram."""
    return "\n".join((*_settings(result), *_maxima(result))) + "\n"


def _settings(result: Result) -> Iterator[str]:
    settings = result.settings
    smalls, larges = columns(settings)
    yield from (f"ORION VERSION {result.version}", "", "Commandline:", text(settings), "", "This maps to this test:")
    yield f"Test: {settings.testname}"
    yield f"Small IO size: {settings.size_small} KB"
    yield f"Large IO size: {settings.size_large} KB"
    large = "Large Sequential Streams" if settings.type == "seq" else "Large Random IOs"
    yield f"IO Types: Small Random IOs, {large}"
    if settings.type == "seq":
        yield f"Number of Concurrent IOs Per Stream: {settings.stream_ios}"
    yield f"Simulated Array Type: {_ARRAYS[settings.simulate]}"
    if settings.stripe_kb:
        yield f"Stripe Depth: {settings.stripe_kb} KB"
    yield f"Write: {settings.write}%"
    yield f"Cache Size: {'Not Entered' if settings.cache_size is None else f'{settings.cache_size} MB'}"
    yield f"Duration for each Data Point: {settings.duration} seconds"
    yield f"Small Columns:,{','.join(f'{each:>7}' for each in smalls)}"
    yield f"Large Columns:,{','.join(f'{each:>7}' for each in larges)}"
    yield f"Total Data Points: {len(data_points(settings))}"
    yield ""
    for volume in result.volumes:
        yield f"Name: {volume.path}  Size: {volume.size_bytes}"
    yield f"{len(result.volumes)} FILEs found."
    yield ""


def _maxima(result: Result) -> Iterator[str]:
    if most := most_mbps(result):
        value, at = most
        yield f"Maximum Large MBPS={value:.2f} @ {_at(at.point)}"
    if most := most_iops(result):
        value, at = most
        yield f"Maximum Small IOPS={value:.0f} @ {_at(at.point)}"
        yield from _times_lines(at)
    if least := least_latency(result):
        value, at = least
        yield f"Minimum Small Latency={value:.3f} usecs @ {_at(at.point)}"
        yield from _times_lines(at)
        assert at.small is not None
        yield f"Small Read / Write Latency Histogram @ {_at(at.point)}"
        yield from _histogram_lines(at.small)


Best = tuple[float, PointResult]


def most_mbps(result: Result) -> Best | None:
    """The most MB/s of large I/Os and where; None without any. MB are 2**20 bytes, as ORION counts."""
    return max(_of(result, "large", lambda side: side.bytes_per_s / MIB), key=lambda each: each[0], default=None)


def most_iops(result: Result) -> Best | None:
    """The most IOPS of small I/Os and where; None without any."""
    return max(_of(result, "small", lambda side: side.per_s), key=lambda each: each[0], default=None)


def least_latency(result: Result) -> Best | None:
    """The lowest mean latency of small I/Os, in us, and where; None without any."""
    return min(_of(result, "small", lambda side: side.mean_us), key=lambda each: each[0], default=None)


def _of(result: Result, kind: Kind, figure: Callable[[Side], float]) -> Iterator[Best]:
    for at in result.points:
        side = at.small if kind == "small" else at.large
        if side is not None and side.per_s:
            yield figure(side), at


def _at(point: Point) -> str:
    return f"Small={point.small} and Large={point.large}"


def _times_lines(at: PointResult) -> Iterator[str]:
    assert at.small is not None
    for op, times in at.small.times.items():
        yield (
            f"Small {op.title()} Latency: avg={times.mean_ns / 1e3:.3f} us, min={times.least_ns / 1e3:.3f} us,"
            f" max={times.most_ns / 1e3:.3f} us, std dev={times.stdev_ns / 1e3:.3f} us @ {_at(at.point)}"
        )


def _histogram_lines(side: Side) -> Iterator[str]:
    """Counts in powers of two, with the cumulative share; the last line goes to the top."""
    reads, writes = (side.times.get(op, Histogram()) for op in ("read", "write"))
    yield f"        Latency:                {'# of IOs (read)':>24}          {'# of IOs (write)'}"
    low, high, over = 0, _FIRST_US, False
    while not over:
        over = all(_below(times, high // 2) == times.total for times in (reads, writes)) or high >= _TOP_US
        high = _TOP_US if over else high
        cells = []
        for times in (reads, writes):
            upto = times.total if high == _TOP_US else _below(times, high)
            share = 100 * upto / times.total if times.total else 0.0
            cells.append((upto - _below(times, low), share))
        (read, read_share), (write, write_share) = cells
        yield (f"{low:>9} - {high:<11}us:{read:>16} ({read_share:>6.2f}%){write:>15} ({write_share:>6.2f}%)")
        low, high = high, high * 2


def _below(times: Histogram, edge_us: int) -> int:
    return times.count_up_to(edge_us * 1000 - 1) if edge_us else 0


def iops_text(result: Result) -> str:
    """The rates of small I/Os."""
    head = "Contains the rates sustained by small I/Os in IOPS."
    return _matrix_text(result, head, "small", lambda side: f"{side.per_s:.0f}")


def mbps_text(result: Result) -> str:
    """The throughput of large I/Os."""
    head = "Contains the rates sustained by large I/Os in MBPS."
    return _matrix_text(result, head, "large", lambda side: f"{side.bytes_per_s / MIB:.2f}")


def lat_text(result: Result) -> str:
    """The mean latencies of small I/Os."""
    head = "Contains the average latency sustained by small I/Os in microseconds."
    return _matrix_text(result, head, "small", lambda side: f"{side.mean_us:.3f}")


def _matrix_text(result: Result, head: str, kind: Kind, cell: Callable[[Side], str]) -> str:
    """Rows are outstanding large I/Os, columns small ones; only points where the size has any."""
    planned = [point for point in data_points(result.settings) if kind in kinds(point)]
    smalls = sorted({point.small for point in planned})
    values = {at.point: at.small if kind == "small" else at.large for at in result.points}
    lines = [head, _OF_POINTS, "", ", ".join((MATRIX, *map(str, smalls)))]
    for large in sorted({point.large for point in planned}):
        sides = (values.get(Point(small, large)) for small in smalls)
        lines.append(", ".join((str(large), *(MISSING if side is None else cell(side) for side in sides))))
    return "\n".join(lines) + "\n"


def hist_text(result: Result) -> str:
    """A histogram for each point and size."""
    lines = ["Contains histograms of the latencies observed for each data point test.", _OF_POINTS, ""]
    for at in result.points:
        sides: Sequence[tuple[Kind, Side | None]] = (("small", at.small), ("large", at.large))
        for kind, side in sides:
            if side is not None:
                lines += [f"Latency Histogram for {kind} IOs @ {_at(at.point)}", *_histogram_lines(side), ""]
    return "\n".join(lines)


def trace_text(result: Result) -> str:
    """Each point as it was measured."""
    lines = [f"Trace by {result.version}: {text(result.settings)}", ""]
    for at in result.points:
        began = datetime.fromtimestamp(at.started_unix_ns // 1_000_000_000, UTC)
        lines.append(f"Data point {_at(at.point)}: {began:%Y-%m-%d %H:%M:%S} UTC, {at.elapsed_s:.3f} s")
        for name, side in (("small", at.small), ("large", at.large)):
            if side is not None:
                ios = sum(times.total for times in side.times.values())
                lines.append(
                    f"  {name}: {ios} I/Os, {side.per_s:.3f} IOPS, {side.bytes_per_s / MIB:.3f} MBPS,"
                    f" mean {side.mean_us:.3f} us"
                )
        lines += [f"  {words}" for words in at.covered]
    return "\n".join(lines) + "\n"

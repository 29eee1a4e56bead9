"""ORION's results: summary, the iops, mbps and lat matrices, and the latency histograms.

What it is: what Oracle's ORION (11.1 to 19c) writes as T_date_summary.txt, _iops.csv, _mbps.csv, _lat.csv and
_hist.txt, and what it prints.
What is read: each data point, a number of small and of large I/Os outstanding, is a row. A summary alone names two
points, the most MB/s of large and the most IOPS of small I/Os, and from 11.2 on the mean, minimum, maximum and
standard deviation of reads and of writes, and a histogram, which is a row of its own where it is of another point.
The lowest latency of a summary is in milliseconds when it has no unit (11.1), else in its own. The lat matrix has the
unit that the words above it state; without them it is the one in which rate x latency gives the outstanding I/Os.
Histograms count from one power of two to the next; the percentages after them are cumulative. MBPS are of 1024 x
1024. Files of one run belong together by the part of their names before the last underscore.
What it cannot see: the number of I/Os (rate x the length of a data point, where a summary says it), the spread of
large I/Os, and whether writes were durable.
What is refused: a summary without a maximum, which is truncated; a lat matrix of unknown unit; a matrix row of
another length than its heading; reads and writes together whose mix no file states.
"""

from __future__ import annotations

import os
import re

from msgspec import Struct

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Closed, Op, Uniform, Unstated
from iocast.text import counted
from iocast.tools import consistency
from iocast.tools.orion.result_files import (
    MATRIX,
    Counts,
    Kind,
    Page,
    Point,
    Summary,
    Times,
    histograms,
    matrix,
    summaries,
    unit_ns,
)
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import OpFigures, Row, run

MIB = 1 << 20
KINDS = ("summary", "iops", "mbps", "lat", "hist")
_SUMMARY = re.compile(
    r"^(?:Maximum (?:Large MBPS|Small IOPS)=|Total Data Points:|.?RION(?: VERSION|: ORacle))", re.MULTILINE
)
_MATRIX = re.compile(rf"^[^\S\n]*{MATRIX}[^\S\n]*,", re.MULTILINE)
_BUCKET = re.compile(r"^[^\S\n]*\d{1,20}[^\S\n]*-[^\S\n]*\d{1,20}[^\S\n]*us:[^\S\n]+\d", re.MULTILINE)
_OF_NAME = re.compile(r"(?:^|_)(iops|mbps|lat)\b")
SMALL_SIZE, LARGE_SIZE = 8 << 10, 1 << 20  # ORION's defaults
UNIT_SLACK = 3.0  # a thousand lies between the units

NOTE = "ORION states rates, not numbers of I/Os: numbers are rate x length of a data point. Its latencies are means."


def sniff(head: Head) -> bool:
    """Its words, or the corner of a matrix."""
    return _kind(head.name, head.text) != ""


def _kind(name: str, text: str) -> str:
    if _MATRIX.search(text):
        named = {*_OF_NAME.findall(name)}
        return next((kind for kind in ("iops", "mbps", "lat") if kind in named), "matrix")
    if _SUMMARY.search(text):
        return "summary"
    return "hist" if _BUCKET.search(text) else ""


def read(paths: tuple[str, ...]) -> Run:
    """The data points of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    tests: dict[str, dict[str, Page]] = {}
    for path in paths:
        text, name = read_whole_lines(path, warnings), os.path.basename(path)
        kind = _kind(name, text)
        if kind == "matrix":
            raise refuse(
                path, 1, "unknown matrix: its name contains neither iops, mbps nor lat", "keep ORION's file names"
            )
        stem = name.rpartition("_")[0] or name
        group = tests.setdefault(stem, {})
        if kind in group:
            raise refuse(path, 0, f"a second {kind} beside {group[kind].path}", "import each ORION run separately")
        group[kind] = Page(path, text)
    rows: list[Row] = []
    versions: dict[str, None] = {}
    for pages in tests.values():
        summary_list = summaries(pages["summary"], warnings) if "summary" in pages else []
        versions |= {each.version: None for each in summary_list if each.version}
        if len(summary_list) > 1 and len(pages) > 1:
            raise refuse(
                pages["summary"].path, 0, "several summaries in one file: the matrices cannot be matched to one of them"
            )
        if not summary_list and any(kind in pages for kind in ("iops", "mbps", "lat")):
            warnings.append("No summary: ORION's defaults are assumed (reads only, small 8k, large 1M).")
        points = _points(pages, summary_list, warnings)
        rows += points if points else [row for each in summary_list for row in _of_summary(each, warnings)]
    for row in rows:
        warnings += consistency.inconsistencies(row)
    return run(Source(tool="ORION", version=", ".join(versions), files=paths, notes=(NOTE,)), rows, warnings=warnings)


def _points(pages: dict[str, Page], summary_list: list[Summary], warnings: list[str]) -> list[Row]:
    """The data points of the matrices and of the file of histograms."""
    iops = matrix(pages["iops"]) if "iops" in pages else {}
    mbps = matrix(pages["mbps"]) if "mbps" in pages else {}
    lat = matrix(pages["lat"]) if "lat" in pages else {}
    factor = unit_ns(pages["lat"]) or _unit_ns(pages["lat"].path, lat, iops) if lat else 0.0
    counts = histograms(pages["hist"]) if "hist" in pages else {}
    points = dict.fromkeys([*iops, *mbps, *lat, *(point for _, point in counts)])
    summary = summary_list[0] if summary_list else Summary()
    counts = {**summary.counts, **counts}
    rows = (
        _row(
            summary,
            point,
            _At(iops.get(point), mbps.get(point), lat[point] * factor if point in lat else None, counts),
            warnings,
        )
        for point in points
        if point.small or point.large
    )
    return [row for row in rows if row is not None]


def _unit_ns(path: str, lat: dict[Point, float], iops: dict[Point, float]) -> float:
    """Microseconds or milliseconds, whichever makes rate x latency the small I/Os outstanding."""
    ratios = [iops[at] * value / at.small for at, value in lat.items() if at.small and iops.get(at) and value]
    if not ratios:
        raise refuse(path, 1, "it has no unit, which only the rates can show", "give the iops matrix too")
    usual = sorted(ratios)[len(ratios) // 2]
    for unit in (1e3, 1e6):
        in_flight = usual * unit / 1e9
        if 1 / UNIT_SLACK < in_flight < UNIT_SLACK:
            return unit
    raise refuse(path, 1, "rate x latency gives the outstanding I/Os neither in microseconds nor in milliseconds")


class _At(Struct, frozen=True):
    """What is stated of one data point."""

    iops: float | None
    mbps: float | None
    mean_ns: float | None
    counts: Counts


def _of_summary(summary: Summary, warnings: list[str]) -> list[Row]:
    """The two points that a summary names, and that of its histogram."""
    rows: list[Row | None] = []
    points: set[Point] = set()
    lowest = {} if summary.least_latency is None else {summary.least_latency[1]: summary.least_latency[0]}
    if summary.most_mbps:
        value, point = summary.most_mbps
        rows.append(_row(summary, point, _At(None, value, None, summary.counts), warnings))
        points.add(point)
    if summary.most_iops:
        value, point = summary.most_iops
        rows.append(_row(summary, point, _At(value, None, lowest.get(point), summary.counts), warnings))
        points.add(point)
    for point in dict.fromkeys(point for _, point in summary.counts if point not in points):
        rows.append(_row(summary, point, _At(None, None, lowest.get(point), summary.counts), warnings))
        points.add(point)
    warnings += [
        f"{summary.device}: the lowest latency, {value / 1e6:g} ms, was at {counted(point.small, 'small I/O')}, whose"
        " rate the summary does not state."
        for point, value in lowest.items()
        if point not in points
    ]
    return [row for row in rows if row is not None]


def _row(summary: Summary, point: Point, at: _At, warnings: list[str]) -> Row | None:
    """The row of a data point; None when nothing says how its I/Os divide into reads and writes."""
    what = " and ".join(f"{size} 1x{n}" for size, n in (("small", point.small), ("large", point.large)) if n)
    name = f"{summary.device} {what}".strip()
    seconds = summary.seconds or 1.0
    ops: list[OpFigures] = []
    for kind in _kinds(point, at):
        shares = _shares(summary, kind, point, at.counts)
        if not shares:
            warnings.append(f"{name}: reads and writes together, and nothing says in which mix: left out")
            return None
        ops += [_op(summary, kind, point, at, op, share, seconds) for op, share in shares]
    alone = not (point.small and point.large)
    counted = at.iops is None and any((kind, point) in at.counts for kind in _kinds(point, at))
    return Row(
        name=name,
        test=name,
        ops=tuple(ops),
        elapsed_ns=round(seconds * 1e9),
        users=1,
        depth=point.small + point.large,
        direct=None,
        locality=Uniform() if summary.random and alone else Unstated(),
        arrival=Closed(),
        path=summary.device,
        engine="asynchronous",
        derived=(*(() if summary.seconds else ("length",)), *(() if counted else ("ios",))),
    )


def _kinds(point: Point, at: _At) -> list[Kind]:
    """The sizes of which something is stated."""
    kinds: list[Kind] = []
    if point.small:
        kinds.append("small")
    if point.large and (at.mbps is not None or ("large", point) in at.counts):
        kinds.append("large")
    return kinds


def _shares(summary: Summary, kind: Kind, point: Point, counts: Counts) -> list[tuple[Op, float]]:
    """Reads and writes with their shares: as counted, else as asked for; none when nobody says it."""
    counted = {op: sum(each.weight for each in own) for op, own in counts.get((kind, point), {}).items()}
    if total := sum(counted.values()):
        return [(op, value / total) for op, value in counted.items()]
    if summary.write_percent is None and any(op == "write" for _, op, _ in summary.times):
        return []
    write = (summary.write_percent or 0) / 100
    shares: list[tuple[Op, float]] = [("read", 1 - write), ("write", write)]
    return [(op, share) for op, share in shares if share > 0]


def _op(summary: Summary, kind: Kind, point: Point, at: _At, op: Op, share: float, seconds: float) -> OpFigures:
    """One operation of a point. One mean for reads and writes together is neither's."""
    size = summary.small_bytes if kind == "small" else summary.large_bytes
    buckets = at.counts.get((kind, point), {}).get(op, ())
    whole = sum(each.weight for each in buckets)
    ios = round(whole)
    if kind == "small" and at.iops is not None:
        ios = round(at.iops * share * seconds)
    elif kind == "large" and at.mbps is not None:
        ios = round(at.mbps * MIB * share * seconds / size)
    moved = at.mbps * MIB * share * seconds if kind == "large" and at.mbps is not None else ios * size
    own = summary.times.get((kind, op, point))
    mean = at.mean_ns if kind == "small" and share == 1 else None
    return OpFigures(op=op, ios=ios, bytes=round(moved), size_bytes=size, times=_times(ios, mean, own, buckets, whole))


def _times(ios: int, mean_ns: float | None, own: Times | None, buckets: tuple[Bucket, ...], whole: float) -> Histogram:
    if not ios or (mean_ns is None and own is None and not buckets):
        return Histogram()
    if own is None:
        return Histogram.stated(Coarse(total=ios, mean_ns=mean_ns, buckets=buckets, whole=whole))
    return Histogram.stated(
        Coarse(
            total=ios,
            mean_ns=own.mean_ns,
            stdev_ns=own.stdev_ns,
            min_ns=round(own.min_ns),
            max_ns=round(own.max_ns),
            buckets=buckets,
            whole=whole,
        )
    )

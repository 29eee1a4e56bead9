"""ORION's results: summary, the iops, mbps and lat matrices, and the latency histograms.

What it is: what Oracle's ORION writes as T_date_summary.txt, _iops.csv, _mbps.csv, _lat.csv and _hist.txt.
What is read: each data point, a number of small and of large I/Os outstanding, is a row. A summary alone names two
points: the most MB/s of large and the most IOPS of small I/Os. The lowest latency of a summary is in milliseconds
when it has no unit (11.1), else in its own. The lat matrix has no unit: it is the one in which rate x latency gives
the outstanding I/Os. Histograms count from one power of two to the next; the percentages after them are cumulative.
MBPS are of 1024 x 1024. Files of one run belong together by the part of their names before the last underscore.
What it cannot see: the number of I/Os (rate x the length of a data point, where a summary says it), the spread of large
I/Os, and whether writes were durable.
What is refused: a summary without a maximum, which is truncated; a lat matrix of unknown unit; a matrix row of
another length than its heading.
"""

from __future__ import annotations

import os
import re

from iocast.formats.orion.result_files import Page, Point, Summary, histograms, matrix, summaries
from iocast.formats.source_files import Head, read_text, refuse
from iocast.imports import consistency
from iocast.imports.stated_rows import OpFigures, Row, run
from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Closed, Op, Uniform, Unstated

MIB = 1 << 20
KINDS = ("summary", "iops", "mbps", "lat", "hist")
_SUMMARY = re.compile(
    r"^(?:Maximum (?:Large MBPS|Small IOPS)=|Total Data Points:|.?RION(?: VERSION|: ORacle))", re.MULTILINE
)
_BUCKET = re.compile(r"^\s*\d+\s*-\s*\d+\s*us:\s+\d+", re.MULTILINE)
SMALL_SIZE, LARGE_SIZE = 8 << 10, 1 << 20  # ORION's defaults
UNIT_SLACK = 3.0  # a thousand lies between the units

NOTE = "ORION states rates, not numbers of I/Os: numbers are rate x length of a data point. Its latencies are means."


def sniff(head: Head) -> bool:
    """Its words, or the corner of a matrix."""
    return _kind(head.name, head.text) != ""


def _kind(name: str, text: str) -> str:
    if text.lstrip().startswith("Large/Small"):
        return next((kind for kind in ("iops", "mbps", "lat") if re.search(rf"(^|_){kind}\b", name)), "matrix")
    if _SUMMARY.search(text):
        return "summary"
    return "hist" if _BUCKET.search(text) else ""


def read(paths: tuple[str, ...]) -> Run:
    """The data points of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    tests: dict[str, dict[str, Page]] = {}
    for path in paths:
        text, name = read_text(path), os.path.basename(path)
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
        found = summaries(pages["summary"], warnings) if "summary" in pages else []
        versions |= {each.version: None for each in found if each.version}
        if len(found) > 1 and len(pages) > 1:
            raise refuse(
                pages["summary"].path, 0, "several summaries in one file: the matrices cannot be matched to one of them"
            )
        if not found and any(kind in pages for kind in ("iops", "mbps", "lat")):
            warnings.append("No summary: ORION's defaults are assumed (reads only, small 8k, large 1M).")
        points = _points(pages, found, warnings)
        rows += points if points else [row for each in found for row in _of_summary(each)]
        warnings += [line for each in found for line in ([] if points else each.asides)]
    for row in rows:
        warnings += consistency.inconsistencies(row)
    return run(Source(tool="ORION", version=", ".join(versions), files=paths, notes=(NOTE,)), rows, warnings=warnings)


def _points(pages: dict[str, Page], found: list[Summary], warnings: list[str]) -> list[Row]:
    """The data points of the matrices and of the histograms."""
    iops = matrix(pages["iops"]) if "iops" in pages else {}
    mbps = matrix(pages["mbps"]) if "mbps" in pages else {}
    lat = matrix(pages["lat"]) if "lat" in pages else {}
    unit_ns = _unit_ns(pages["lat"].path, lat, iops) if lat else 0.0
    counts = histograms(pages["hist"]) if "hist" in pages else {}
    if "summary" in pages and len(found) == 1 and not counts:
        counts = histograms(pages["summary"])
    summary = found[0] if found else Summary()
    return [
        _row(
            summary,
            point,
            iops.get(point),
            mbps.get(point),
            lat[point] * unit_ns if point in lat else None,
            counts.get(point),
        )
        for point in dict.fromkeys([*iops, *mbps, *lat, *counts])
        if point.small or point.large
    ]


def _unit_ns(path: str, lat: dict[Point, float], iops: dict[Point, float]) -> float:
    """Microseconds or milliseconds, whichever makes rate x latency the small I/Os outstanding."""
    ratios = [iops[at] * value / at.small for at, value in lat.items() if at.small and iops.get(at) and value]
    if not ratios:
        raise refuse(path, 1, "it has no unit, which only the rates can show", "give the iops matrix too")
    usual = sorted(ratios)[len(ratios) // 2]
    for unit_ns in (1e3, 1e6):
        in_flight = usual * unit_ns / 1e9
        if 1 / UNIT_SLACK < in_flight < UNIT_SLACK:
            return unit_ns
    raise refuse(path, 1, "rate x latency gives the outstanding I/Os neither in microseconds nor in milliseconds")


def _of_summary(summary: Summary) -> list[Row]:
    """The two points that a summary names."""
    rows = []
    if summary.most_mbps:
        value, point = summary.most_mbps
        rows.append(_row(summary, point, None, value, None, None))
    if summary.most_iops:
        value, point = summary.most_iops
        latency = summary.least_latency
        mean_ns = latency[0] if latency and latency[1] == point else None
        rows.append(_row(summary, point, value, None, mean_ns, None))
    return rows


def _row(
    summary: Summary,
    point: Point,
    iops: float | None,
    mbps: float | None,
    mean_ns: float | None,
    counts: dict[Op, tuple[Bucket, ...]] | None,
) -> Row:
    seconds = summary.seconds or 1.0
    ops: list[OpFigures] = []
    if point.small:
        ops += _small(summary, iops, mean_ns, counts or {}, seconds)
    if point.large and mbps is not None:
        ops += _large(summary, mbps, seconds)
    what = " and ".join(f"{size} 1x{n}" for size, n in (("small", point.small), ("large", point.large)) if n)
    counted = bool(counts) and iops is None
    alone = not (point.small and point.large)
    return Row(
        name=f"{summary.device} {what}".strip(),
        test=f"{summary.device} {what}".strip(),
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


def _shares(summary: Summary) -> list[tuple[Op, float]]:
    write = summary.write_percent / 100
    shares: list[tuple[Op, float]] = [("read", 1 - write), ("write", write)]
    return [(op, share) for op, share in shares if share > 0]


def _small(
    summary: Summary, iops: float | None, mean_ns: float | None, counts: dict[Op, tuple[Bucket, ...]], seconds: float
) -> list[OpFigures]:
    """Small I/Os; of reads and writes together ORION states one mean, which is neither's."""
    shares = _shares(summary)
    if counts:
        totals = {op: sum(each.weight for each in buckets) for op, buckets in counts.items()}
        shares = [(op, 0.0) for op, total in totals.items() if total]
    found = []
    for op, share in shares:
        buckets = counts.get(op, ())
        whole = sum(each.weight for each in buckets)
        ios = round(iops * share * seconds) if iops is not None and not counts else round(whole)
        mean = mean_ns if len(shares) == 1 else None
        times = Coarse(total=ios, mean_ns=mean, buckets=buckets, whole=whole)
        size = summary.small_bytes
        found.append(
            OpFigures(
                op=op,
                ios=ios,
                bytes=ios * size,
                size_bytes=size,
                times=Histogram.stated(times) if mean is not None or buckets else Histogram(),
            )
        )
    return found


def _large(summary: Summary, mbps: float, seconds: float) -> list[OpFigures]:
    size = summary.large_bytes
    return [
        OpFigures(op=op, ios=round(moved / size), bytes=round(moved), size_bytes=size)
        for op, share in _shares(summary)
        for moved in (mbps * MIB * share * seconds,)
    ]

"""vscsiStats of ESXi: what a virtual disk's reads and writes took, as the hypervisor counted them.

What it is: `vscsiStats -p all` or `-p latency`, as text or with -c.
What is read: of each virtual disk the latency of reads and of writes, in the histogram's own edges, with least,
largest and mean, as a row; with -p all also the sizes, where all I/Os of an operation had one size.
What it cannot see: for how long was counted (-s to -p), users, depth, order. The mean is cut to whole microseconds.
What is refused: latencies in another unit than microseconds; buckets that do not add up to the count; a file with
histograms of reads and writes together only. A histogram that is cut is left out and named.
How it was checked: `-c` against a public output of an ESXi host, the text against its public documentation.
"""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Op
from iocast.tools.foreign_numbers import whole, whole_of
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

_HEAD = re.compile(r"Histogram: ([^:]{1,120}?),? ?(?:for )?virtual machine (.{1,200}?) ?\{?$")
_FIGURE = re.compile(r"(min|max|mean|count)(?: {1,20}: {1,20}| {0,20}, {0,20})(-?[0-9]{1,18})$")
_TEXT_ROW = re.compile(r"(\d{1,18}) {1,40}\((<=|>) {0,40}(-?[0-9]{1,18})\)$")
_CSV_ROW = re.compile(r"(\d{1,18}) {0,20}, {0,20}(-?[0-9]{1,18})$")
_OPS: tuple[tuple[str, Op], ...] = (("Read", "read"), ("Write", "write"))
CSV_HEAD = "Frequency,Histogram Bucket Limit"
US_NS = 1_000


class _Histogram(Struct):
    """One histogram of one disk, as it stands."""

    line: int
    title: str
    disk: str
    figures: dict[str, int] = {}
    rows: list[tuple[int, int | None]] = []  # count, upper edge; None: above the last edge


def sniff(head: Head) -> bool:
    """The heading of a histogram of a virtual machine."""
    return any(_HEAD.match(line.strip()) and "worldGroupID" in line for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The virtual disks of these files, a row each. Raises SourceError."""
    warnings: list[str] = []
    rows = [row for path in paths for row in _disks(path, warnings)]
    return run(Source(tool="vscsiStats", files=paths), rows, warnings=warnings)


def _disks(path: str, warnings: list[str]) -> list[Row]:
    every = _histograms(path, read_text(path), warnings)
    disks: dict[str, dict[Op, _Histogram]] = {}
    lengths: dict[tuple[str, Op], _Histogram] = {}
    for each in every:
        op = next((op for word, op in _OPS if f" {word} " in f"{each.title} "), None)
        if op and each.title.startswith("latency of"):
            own = disks.setdefault(each.disk, {})
            if op in own:
                raise refuse(path, each.line, "this disk stands here twice", "give each print of vscsiStats as a file")
            own[op] = each
        elif op and each.title.startswith("IO lengths of"):
            lengths[each.disk, op] = each
    if not disks:
        raise refuse(
            path, 0, "it has no complete latency histogram of reads or of writes alone", "give vscsiStats -p latency"
        )
    return [_row(path, disk, own, lengths) for disk, own in disks.items()]


def _histograms(path: str, text: str, warnings: list[str]) -> list[_Histogram]:
    """The whole histograms of a file. Raises SourceError for a line that does not fit."""
    histograms: list[_Histogram] = []
    lines = text.splitlines()
    if lines and not text.endswith(("\n", "\r")) and lines[-1].strip() != "}":
        lines.pop()
    for at, raw in enumerate(lines, 1):
        line = raw.strip()[:400]
        if head := _HEAD.match(line):
            histograms.append(_Histogram(at, head[1].strip(), head[2].strip(), {}, []))
        elif line and histograms:
            _take(path, at, line, histograms[-1])
    whole = [each for each in histograms if _is_whole(path, each)]
    warnings += [
        f"{path}:{each.line}: this histogram is cut: left out"
        for each in histograms
        if each not in whole and each.figures
    ]
    if histograms and not histograms[-1].figures:
        warnings.append(f"{path}:{histograms[-1].line}: the file is cut after the heading of a histogram")
    return whole


def _take(path: str, at: int, line: str, into: _Histogram) -> None:
    if match := _FIGURE.match(line):
        into.figures[match[1]] = _signed(match[2])
    elif match := _TEXT_ROW.match(line):
        count = whole(path, at, match[1], "the count")
        into.rows.append((count, _signed(match[3]) if match[2] == "<=" else None))
    elif match := _CSV_ROW.match(line):
        count, limit = whole(path, at, match[1], "the count"), _signed(match[2])
        # With -c the bucket above the last edge has that edge once more.
        above = bool(into.rows) and into.rows[-1][1] == limit
        into.rows.append((count, None if above else limit))
    elif line not in ("{", "}", CSV_HEAD):
        raise refuse(path, at, f'"{line[:40]}" is no line of a histogram of vscsiStats')


def _signed(text: str) -> int:
    """Distances go both ways."""
    return whole_of(text, signed=True) or 0


def _is_whole(path: str, each: _Histogram) -> bool:
    """Whether all is there up to the bucket above the last edge. Raises SourceError where it contradicts itself."""
    if not {"min", "max", "mean", "count"} <= {*each.figures} or not each.rows or each.rows[-1][1] is not None:
        return False
    counted = sum(count for count, _ in each.rows)
    if counted != each.figures["count"]:
        stated_count = each.figures["count"]
        raise refuse(path, each.line, f"its buckets hold {counted} I/Os, its count is {stated_count}")
    limits = [limit for _, limit in each.rows[:-1]]
    if any(low is None or high is None or high <= low for low, high in pairwise(limits)):
        raise refuse(path, each.line, "its edges do not ascend")
    return True


def _row(path: str, disk: str, own: dict[Op, _Histogram], lengths: dict[tuple[str, Op], _Histogram]) -> Row:
    ops = tuple(_figures(path, op, each, lengths.get((disk, op))) for op, each in own.items())
    return Row(
        name=disk,
        test="+".join(own),
        ops=ops,
        elapsed_ns=SECOND_NS,
        derived=("length",),
        path=disk,
    )


def _figures(path: str, op: Op, each: _Histogram, sizes: _Histogram | None) -> OpFigures:
    ios = each.figures["count"]
    size = sizes.figures["min"] if sizes and sizes.figures["min"] == sizes.figures["max"] else None
    return OpFigures(op=op, ios=ios, bytes=ios * (size or 0), size_bytes=size, times=stated(_times(path, each)))


def _times(path: str, each: _Histogram) -> Coarse:
    if "in Microseconds (us)" not in each.title:
        raise refuse(path, each.line, "its latency is not in Microseconds (us)")
    total = each.figures["count"]
    least, mean, most = (each.figures[name] for name in ("min", "mean", "max"))
    if total and not 0 <= least <= mean <= most:
        raise refuse(path, each.line, f"least {least}, mean {mean} and largest {most} do not ascend")
    edges = [0, *(limit for _, limit in each.rows[:-1] if limit is not None)]
    highs = [*edges[1:], None]
    buckets = tuple(
        Bucket(low * US_NS, None if high is None else high * US_NS, count)
        for low, high, (count, _) in zip(edges, highs, each.rows, strict=True)
        if count
    )
    return Coarse(
        total=total,
        mean_ns=mean * US_NS,
        min_ns=least * US_NS,
        max_ns=most * US_NS,
        buckets=buckets,
        whole=total,
    )

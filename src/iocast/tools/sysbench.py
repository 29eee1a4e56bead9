"""sysbench fileio: what it prints at the end of a run, of 0.4 to 1.1.

What it is: the report of `sysbench fileio run` (or `--test=fileio`), with the lines above it that say what was asked.
What is read: threads, block size, files, the mode and open flags, reads, writes and fsyncs a second (of 0.4 their
numbers), MiB/s, the length, and minimum, mean, maximum and one percentile of the latency.
What it cannot see: the latency of reads, writes and fsyncs apart: it is kept where one of them was done only. Fsyncs at
the end of the run count for the rate of fsyncs.
What is refused: a report that is cut before its length, and other tests of sysbench (cpu, oltp).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Coarse, Quantile
from iocast.model.workload import Closed, Locality, Op, Sequential, Uniform, Unstated
from iocast.tools.foreign_numbers import number_of, whole_of
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated

TOGETHER = "sysbench states one latency of reads, writes and fsyncs together: it is left out."
_VERSION = re.compile(r"^sysbench [\d.]", re.MULTILINE)
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"block size (?P<value>[\d.]+) ?(?P<unit>[KMG]?)i?b?$", re.IGNORECASE)
_RATE = re.compile(r"(?P<op>reads|writes|fsyncs)/s:? +(?P<value>[\d.]+)$")
_COUNTS = re.compile(r"operations performed: +(\d{1,18}) read, (\d{1,18}) write, (\d{1,18}) other", re.IGNORECASE)
_TIME = re.compile(r"total time: +([\d.]+)s$")
_LATENCY = re.compile(
    r"(?P<what>min|avg|max|(?:approx\. +)?(?P<q>\d{1,2})(?:th)? percentile): +(?P<value>[\d.]+)(?:ms)?$"
)
_MODES: dict[str, Locality] = {
    "sequential read": Sequential(),
    "sequential write (creation)": Sequential(),
    "sequential rewrite": Sequential(),
    "random read": Uniform(),
    "random write": Uniform(),
    "random r/w": Uniform(),
}
_OPS: dict[str, Op] = {"reads": "read", "writes": "write", "fsyncs": "fsync"}
_LAST = "execution time (avg/stddev):"
_SYNCHRONOUS = "using synchronous i/o mode"


def sniff(head: Head) -> bool:
    """The line of its version, and one of a file test."""
    text = head.text.lower()
    return _VERSION.search(text) is not None and "extra file open flags" in text


def read(paths: tuple[str, ...]) -> Run:
    """The reports of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    rows = [_row(path, read_whole_lines(path, warnings), warnings) for path in paths]
    return run(Source(tool="sysbench fileio", files=paths), rows, warnings=warnings)


def _row(path: str, text: str, warnings: list[str]) -> Row:
    lines = [line.strip() for line in text.splitlines()]
    length = next((match for line in lines if (match := _TIME.match(line))), None)
    seconds = number_of(length[1]) if length else None
    if not seconds or seconds < 0:
        raise refuse(path, 0, "it has no total time: sysbench was killed, or the file is truncated")
    if not any(line.startswith(_LAST) for line in lines):
        warnings.append(f'{path}: it ends before the line "{_LAST}": it may be cut, and latencies be missing')
    counts = _counts(lines, seconds)
    if not any(counts.values()):
        raise refuse(path, 0, "it has no reads and no writes: a report of `sysbench fileio run` has")
    size, mode = _block(lines), _said(lines, "Doing ", " test").lower()
    alone = sum(1 for ios in counts.values() if ios) == 1
    if not alone:
        warnings.append(TOGETHER)
    times = _latency(lines)
    users = whole_of(_said(lines, "Number of threads: ", ""))
    flags = _said(lines, "Extra file open flags: ", "").lower()
    ops = tuple(
        OpFigures(
            op=op,
            ios=ios,
            bytes=0 if op == "fsync" else ios * (size or 0),
            size_bytes=None if op == "fsync" else size,
            times=_histogram(times, ios) if alone else Histogram(),
        )
        for op, ios in counts.items()
        if ios
    )
    return Row(
        name=mode or "fileio",
        test="+".join(each.op for each in ops if each.op != "fsync"),
        ops=ops,
        elapsed_ns=round(seconds * 1e9),
        users=users,
        depth=1 if any(line.lower() == _SYNCHRONOUS for line in lines) else None,
        direct="direct" in flags,
        sync="sync" if "sync" in flags.replace("dsync", "") else "dsync" if "dsync" in flags else "none",
        locality=_MODES.get(mode, Unstated()),
        arrival=Closed(),
    )


def _said(lines: Iterable[str], before: str, after: str) -> str:
    """What stands in the first line that begins and ends so, "" where there is none."""
    said = (line for line in lines if line.startswith(before) and line.endswith(after))
    return next((line.removeprefix(before).removesuffix(after).strip() for line in said), "")


def _counts(lines: list[str], seconds: float) -> dict[Op, int]:
    """I/Os of each operation: as 0.4 counts them, or the rate of 1.x times the length."""
    counts: dict[Op, int] = {}
    for line in lines:
        if match := _COUNTS.search(line):
            counts = {op: whole_of(match[at]) or 0 for at, op in enumerate(_OPS.values(), 1)}
        elif match := _RATE.match(line):
            counts[_OPS[match["op"]]] = round((number_of(match["value"]) or 0.0) * seconds)
    return counts


def _block(lines: list[str]) -> int | None:
    match = next((match for line in lines if (match := _SIZE.match(line))), None)
    value = number_of(match["value"]) if match else None
    return round(value * _BYTES[match["unit"].upper()]) if match and value and value < 1 << 30 else None


def _latency(lines: list[str]) -> dict[str, float]:
    """Minimum, mean, maximum and the percentile in ns, as far as they are stated."""
    times = {}
    for match in filter(None, map(_LATENCY.match, lines)):
        value = number_of(match["value"])
        if value is not None:
            times[match["q"] or match["what"]] = value * 1e6
    return times


def _histogram(times: dict[str, float], ios: int) -> Histogram:
    stated_at = ((whole_of(name), value) for name, value in times.items())
    quantiles = tuple(Quantile(percent / 100, round(value)) for percent, value in stated_at if percent and value)
    mean, least, most = times.get("avg"), times.get("min"), times.get("max")
    return stated(
        Coarse(
            total=ios,
            mean_ns=mean or None,
            min_ns=round(least) if least else None,
            max_ns=round(most) if most else None,
            quantiles=quantiles,
        )
    )

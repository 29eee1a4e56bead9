"""Latency histograms in powers of two, as bcc, bpftrace, DTrace and SystemTap print them.

What it is: the tables of biolatency and ext4dist (also of other file systems), of bpftrace's hist(), DTrace's
quantize() and SystemTap's @hist_log(): a value, a count and a bar.
What is read: each histogram is a row, named by its disk, flags, operation, key and time. bcc states the unit above its
column; in the others it is a word of the map's name, the key or the line above: ns, us, ms or s. Which operation it
counts is a word of the same places. The sum of biolatency -e gives the mean.
What it cannot see: for how long was traced, users, sizes, and any mean without -e.
What is refused: a histogram without a unit, or of sizes; linear ones; a file in which no histogram says whether it
counts reads or writes. Histograms of other operations, and those that say none beside others that do, are left out
and named.
"""

from __future__ import annotations

import re
from typing import Final

from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Op
from iocast.tools.printed_histograms import Printed, begins_histogram, printed
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

UNITS_NS: Final = {
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("us", "usec", "usecs", "microsecond", "microseconds"), 1_000),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), SECOND_NS),
}
OPS: Final[dict[str, Op]] = {
    **dict.fromkeys(("read", "reads", "pread", "preadv", "readv"), "read"),
    **dict.fromkeys(("write", "writes", "pwrite", "pwritev", "writev"), "write"),
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    **dict.fromkeys(("discard", "trim"), "trim"),
}
_WORD = re.compile(r"[A-Za-z]{1,40}")
WHICH_OPERATION = (
    "trace reads and writes apart (bcc: biolatency -F, with -d for one disk; bpftrace: @read_usecs and @write_usecs);"
    " if all I/O was of one kind, write operation = 'read' above the table of bcc, or read into the name of another"
)
CUMULATIVE = (
    "Several histograms have one name: if the script did not clear them after each print, each holds those before it,"
    " and only the last one counts."
)


def sniff(head: Head) -> bool:
    """The heading of a table, with a first bucket under it."""
    return begins_histogram(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """Each histogram as a row. Raises SourceError."""
    warnings: list[str] = []
    rows = [row for path in paths for row in _rows(path, warnings)]
    return run(Source(tool="log2 histograms", files=paths), rows, warnings=warnings)


def _rows(path: str, warnings: list[str]) -> list[Row]:
    every = printed(path, read_text(path), warnings)
    known = [(each, op) for each in every if (op := _op(each))]
    if not known:
        raise refuse(
            path, every[0].line, "its histograms do not say whether they count reads or writes", WHICH_OPERATION
        )
    left = [each for each in every if _op(each) is None]
    if left:
        lines = ", ".join(str(each.line) for each in left[:8]) + (", ..." if len(left) > 8 else "")
        warnings.append(
            f"{path}: left out: {len(left)} of {len(every)} histograms, which do not count reads, writes, fsyncs or"
            f" discards by their name (lines {lines})"
        )
    labels = [each.label for each, _ in known if each.drawn != "bcc"]
    if len(labels) > len(set(labels)):
        warnings.append(CUMULATIVE)
    return [_row(path, each, op) for each, op in known]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _op(each: Printed) -> Op | None:
    """The operation that its name says; None when it says none, or several."""
    said = each.label if each.drawn != "bcc" else each.keys.get("operation") or each.keys.get("flags") or ""
    found = {OPS[word] for word in _words(said) if word in OPS}
    return found.pop() if len(found) == 1 else None


def _unit_ns(path: str, each: Printed) -> int:
    words = [each.unit.lower()] if each.drawn == "bcc" else _words(each.label)
    units = {UNITS_NS[word] for word in words if word in UNITS_NS}
    if len(units) == 1:
        return units.pop()
    if each.drawn == "bcc":
        raise refuse(path, each.line, f'"{each.unit}" is not a unit of time', "give a histogram of latency")
    what = "states several units" if units else "does not state its unit"
    hint = "write ns, us or ms as a word into its name: @read_us of bpftrace, the key or the line above the others"
    raise refuse(path, each.line, f'the histogram "{each.label[:60]}" {what}', hint)


def _row(path: str, each: Printed, op: Op) -> Row:
    unit_ns = _unit_ns(path, each)
    buckets = tuple(Bucket(low * unit_ns, high * unit_ns, count) for low, high, count in each.counts if count)
    total = sum(count for _, _, count in each.counts)
    mean_ns = each.total * unit_ns / total if each.total is not None and total else None
    times = Coarse(total=total, mean_ns=mean_ns, buckets=buckets, whole=total)
    said = " ".join(each.keys.values()) or each.label
    return Row(
        name=f"{said} {each.clock}".strip(),
        test=op,
        ops=(OpFigures(op=op, ios=total, bytes=0, times=stated(times)),),
        elapsed_ns=SECOND_NS,
        derived=("size", "length"),
        path=each.keys.get("disk", ""),
    )

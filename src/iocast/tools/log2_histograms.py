"""Latency histograms in powers of two, as bcc, bpftrace, perf-tools, DTrace and SystemTap print them.

What it is: the tables of biolatency and ext4dist (also of other file systems), of perf-tools' iolatency, bpftrace's
hist(), DTrace's quantize() and SystemTap's @hist_log(): a value, a count and a bar.
biolatency -j prints a histogram as a line {'ts': ...}.
What is read: each histogram is a row, named by its disk, flags, operation, key and time. bcc states the unit above its
column; in the others it is a word of the map's name, the key or the line above: ns, us, ms or s. Which operation it
counts is a word of the same places; where biolatency, biolatency.bt or iolatency does not say it, the rows are of
I/Os of either kind. The sum of biolatency -e gives the mean.
What it cannot see: for how long was traced (but of iolatency), users, sizes, and any mean without -e.
What is refused: a histogram without a unit, or of sizes; linear ones; a file of which neither a histogram says that it
counts reads or writes, nor the first line that block I/O was traced. Histograms of other operations, and those that say
none beside others that do, are left out and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Op
from iocast.tools.foreign_numbers import whole
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

Drawn = Literal["bcc", "iolatency", "bpftrace", "dtrace", "systemtap"]
LONGEST_LINE = 400  # characters; what is longer is no line of a histogram
_BCC_HEAD = re.compile(r"([A-Za-z]{1,20}) {0,40}: count {1,20}distribution$")
_BCC_ROW = re.compile(r"(\d{1,18}) {1,20}-> (\d{1,18}) {0,20}: (\d{1,18}) {0,20}\|[*+ ]{0,200}\|$")
_IOLATENCY_HEAD = re.compile(r">=\((us|ms)\) {0,20}\.\. {0,20}<\(\1\) {0,20}: {0,20}I/O {0,20}\|Distribution {0,60}\|$")
_IOLATENCY_ROW = re.compile(r"(\d{1,18}) {1,20}-> (\d{1,18}) {0,20}: (\d{1,18}) {0,20}\|[# ]{0,200}\|$")
_BPFTRACE_ROW = re.compile(
    r"\[(\d{1,18})([KMGTPE]?)(?:, (\d{1,18})([KMGTPE]?)\)|\]) {0,40}(\d{1,18}) {0,20}\|[@ ]{0,200}\|$"
)
_STARRED_ROW = re.compile(r"(\d{1,19}) \|@{0,200} {0,200}(\d{1,18})$")
_BELOW_ZERO = re.compile(r"-\d{1,19} \| 0")  # an empty bucket that DTrace draws under that of 0
_LIKE_ROW = re.compile(r"(?:[<>]=? {0,20})?[-\d\[(][^|]{0,80}\|")
_KEY = re.compile(r"(?:Bucket )?(disk|flags|operation|ptr|device) = b?'?([^']{0,200})'?$")
_RECORD_BEGINS = "{'ts': '"
_RECORD = re.compile(r"\{'ts': '([^']{1,40})', 'val_type': '([A-Za-z]{1,20})', 'data': \[")
_RECORD_BUCKET = re.compile(r"\{'interval-start': (\d{1,19}), 'interval-end': (\d{1,19}), 'count': (\d{1,18})\}(?:, )?")
_RECORD_ENDS = re.compile(r"\](?:, '([A-Za-z ]{1,20})': b?'([^']{0,200})')?\}$")
_CLOCK = re.compile(r"\d\d:\d\d:\d\d(?=:?$)")
_EXTENSION = re.compile(r"avg = \d{1,18} [a-z]{1,10}, total: (\d{1,18}) [a-z]{1,10}, count: (\d{1,18})$")
_SUFFIXES = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}


class Printed(Struct):
    """One histogram as it stands. Counts are of [low, high)."""

    line: int
    drawn: Drawn
    label: str  # what names it: the map, the key, the line above it
    unit: str = ""  # the column of bcc and iolatency; the others have it in the label, if at all
    keys: dict[str, str] = {}  # bcc: disk, flags, operation
    clock: str = ""
    counts: list[tuple[int, int, int]] = []
    total: int | None = None  # of bcc's -e: the sum of all values
    traced: str = ""  # the tool's first line: "Tracing block device I/O..."


def begins_histogram(lines: Iterable[str]) -> bool:
    """Whether one of these lines is a heading with a bucket under it."""
    drawn: Drawn | None = None
    for line in lines:
        if _RECORD.match(line):
            return True
        if drawn and len(line) <= LONGEST_LINE and _LIKE_ROW.match(line.strip()):
            return True
        drawn = _drawn(line.strip())
    return False


def printed(path: str, text: str, warnings: list[str]) -> list[Printed]:
    """The histograms of a file; those that are cut are told in `warnings`. Raises SourceError with file and line."""
    histograms: list[Printed] = []
    reading = _Reading(path, histograms)
    lines = text.splitlines()
    if lines and not text.endswith(("\n", "\r")):
        warnings.append(f"{path}:{len(lines)}: the last line does not end, so the file may be cut: line left out")
        lines.pop()
    for at, line in enumerate(lines, 1):
        if line.startswith(_RECORD_BEGINS):
            reading.take_record(at, line.rstrip())
            continue
        reading.take(at, " ".join(line.split()) if len(line) <= LONGEST_LINE else "", line.strip()[:LONGEST_LINE])
    if reading.unfinished:
        _judge_last(path, text, histograms, warnings)
    kept = [each for each in histograms if each.counts]
    if not kept:
        raise refuse(path, 0, "it has no complete histogram")
    return kept


def _judge_last(path: str, text: str, histograms: list[Printed], warnings: list[str]) -> None:
    """Nothing follows the last histogram: it may be whole, or cut. Left out where it shows a cut."""
    last = histograms[-1]
    if not text.endswith(("\n", "\r")):
        warnings.append(f"{path}:{last.line}: the file ends within this histogram, which may be cut: left out")
        histograms.pop()
    elif last.drawn in ("dtrace", "systemtap"):
        if not _ends_at_zero(last):
            warnings.append(f"{path}:{last.line}: this histogram has no empty last bucket: it was cut, and is left out")
            histograms.pop()
    else:
        warnings.append(
            f"{path}: the file ends with a row of its last histogram; if it was cut there, longer times are missing"
        )


def _ends_at_zero(last: Printed) -> bool:
    """DTrace and SystemTap draw an empty bucket after the last one that counted anything."""
    return last.drawn in ("dtrace", "systemtap") and bool(last.counts) and last.counts[-1][2] == 0


class _Reading:
    """Where in a file the reading stands: what was said above the next histogram, and the one that is open."""

    def __init__(self, path: str, histograms: list[Printed]) -> None:
        self._path, self._found = path, histograms
        self._open: Printed | None = None
        self._summed = 0  # of the histograms, below which a sum stood
        self._above = self._clock = self._traced = ""
        self._keys: dict[str, str] = {}

    def take(self, at: int, line: str, raw: str) -> None:
        """One line, with single blanks and as it stands."""
        if drawn := _drawn(raw):
            self._begin(at, drawn, raw)
        elif self._open is not None and (self._row(at, line) or _BELOW_ZERO.fullmatch(line)):
            return
        elif _LIKE_ROW.match(raw) and (raw.endswith("|") or self._open is not None):
            raise refuse(self._path, at, "an unreadable bucket, or one that belongs to no histogram")
        elif line == "~" and self._open is not None and self._open.drawn == "systemtap":
            return  # empty buckets that it does not draw
        else:
            self._aside(at, line)

    def take_record(self, at: int, line: str) -> None:
        """A line of biolatency -j: a whole histogram of bcc, as Python prints a dict."""
        self._open = None
        begun = _RECORD.match(line)
        bounds, place = list[tuple[int, int, int]](), begun.end() if begun else 0
        while begun and (bucket := _RECORD_BUCKET.match(line, place)):
            low, last, count = (whole(self._path, at, each, "a bucket") for each in bucket.groups())
            bounds.append((low, last + 1, count))
            place = bucket.end()
        ends = _RECORD_ENDS.match(line, place) if begun else None
        if begun is None or ends is None:
            raise refuse(self._path, at, "a line of JSON that biolatency -j does not print, or that is cut")
        keys = {ends[1]: ends[2]} if ends[1] else {}
        clock = match[0] if (match := _CLOCK.search(begun[1])) else ""
        self._found.append(Printed(at, "bcc", "", begun[2], keys, clock, [], traced=self._traced))
        for each in bounds:
            self._add(at, each)

    def _begin(self, at: int, drawn: Drawn, raw: str) -> None:
        unit = match[1] if (match := _BCC_HEAD.match(raw) or _IOLATENCY_HEAD.match(raw)) else ""
        label = raw[:-1] if drawn == "bpftrace" else "" if drawn in _IN_COLUMNS else self._above
        self._open = Printed(at, drawn, label, unit, dict(self._keys), self._clock, [], traced=self._traced)
        self._keys = {}
        self._found.append(self._open)

    @property
    def unfinished(self) -> bool:
        """Whether nothing followed the last histogram."""
        return self._open is not None

    def _row(self, at: int, line: str) -> bool:
        """Takes the line as a bucket of the open histogram; False when it is none."""
        assert self._open is not None
        bucket = _bucket(self._path, at, line, self._open.drawn)
        if bucket is None:
            return False
        self._add(at, bucket)
        return True

    def _add(self, at: int, bucket: tuple[int, int, int]) -> None:
        """One bucket more of the last histogram. Raises SourceError."""
        low, high, _ = bucket
        powers = low & (low - 1) == 0 and high & (high - 1) == 0
        if high <= low or not powers or high > 1 << 63:
            raise refuse(self._path, at, f"a bucket from {low} that is not one of powers of two", LOG2)
        before = self._found[-1].counts
        if before and low < before[-1][1]:
            raise refuse(self._path, at, f"the bucket from {low} does not lie after the one before it")
        before.append(bucket)

    def _aside(self, at: int, line: str) -> None:
        """A line that is no part of a histogram: a key, a time, a sum, or words."""
        if (match := _EXTENSION.match(line)) and self._found and self._found[-1].drawn == "bcc":
            self._sum(*(whole(self._path, at, each, "the sum") for each in match.groups()))
        self._open = None
        if match := _KEY.match(line):
            self._keys[match[1]] = match[2].strip()
        elif match := _CLOCK.search(line):
            self._clock = match[0]
        elif line.startswith(("Tracing ", "Attaching ")):
            self._clock = ""  # another command
            self._traced = line if line.startswith("Tracing ") else self._traced
        if line:
            self._above = line

    def _sum(self, total: int, count: int) -> None:
        """The sum below a histogram, or below several that were printed at once: that of each is not stated then."""
        last, at_once = self._found[-1], self._found[self._summed :]
        self._summed = len(self._found)
        counted, of_all = (sum(each for one in some for _, _, each in one.counts) for some in ([last], at_once))
        if counted == count:
            last.total = total
        elif of_all != count:
            raise refuse(self._path, last.line, f"its buckets hold {counted} I/Os, the line under them says {count}")


LOG2 = "give hist(), quantize() or @hist_log() instead of a linear histogram"


def _drawn(raw: str) -> Drawn | None:
    """Which tool begins a histogram with this line."""
    if raw.startswith("@") and raw.endswith(":") and len(raw) < LONGEST_LINE:
        return "bpftrace"
    if raw.startswith("value ") and raw.endswith("count"):
        middle = raw.removeprefix("value ").removesuffix("count").strip()
        if middle.startswith("|---") and not middle.strip("|-"):
            return "systemtap"
        if middle.startswith("---") and middle.strip("- ") == "Distribution":
            return "dtrace"
    return "bcc" if _BCC_HEAD.match(raw) else "iolatency" if _IOLATENCY_HEAD.match(raw) else None


def _bucket(path: str, at: int, line: str, drawn: Drawn) -> tuple[int, int, int] | None:
    """The edges and the count of a row; None for any other line. Raises SourceError."""
    row = {"bcc": _BCC_ROW, "iolatency": _IOLATENCY_ROW, "bpftrace": _BPFTRACE_ROW}.get(drawn, _STARRED_ROW)
    if not (match := row.match(line)):
        return None

    def figure(place: int) -> int:
        return whole(path, at, match[place], "a bucket")

    if drawn == "bcc":
        return figure(1), figure(2) + 1, figure(3)
    if drawn == "iolatency":
        return figure(1), figure(2), figure(3)
    if drawn == "bpftrace":
        low = figure(1) << _SUFFIXES[match[2]]
        return low, low + 1 if match[3] is None else figure(3) << _SUFFIXES[match[4]], figure(5)
    return figure(1), max(1, 2 * figure(1)), figure(2)


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
_IN_COLUMNS: Final[tuple[Drawn, ...]] = ("bcc", "iolatency")  # their heading states the unit
_WORD = re.compile(r"[A-Za-z]{1,40}")
_EVERY = re.compile(r"\bOutput every (\d{1,6}) seconds\b")  # iolatency: each table is of that time
_BLOCK_IO = re.compile(r"\b(?:block|disk)\b.{0,20}\bI/O\b", re.IGNORECASE)
EITHER = (
    "These histograms do not say whether I/Os were reads or writes: each row counts both. biolatency -F counts them"
    " apart."
)
ALL = "all I/O"  # a row of reads and writes together
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
    if not known and (of_either := [each for each in every if _counts_block_io(each)]):
        known = [(each, "io") for each in of_either]
        warnings.append(EITHER)
    if not known:
        raise refuse(
            path, every[0].line, "its histograms do not say whether they count reads or writes", WHICH_OPERATION
        )
    taken = {each.line for each, _ in known}
    left = [each for each in every if each.line not in taken]
    if left:
        lines = ", ".join(str(each.line) for each in left[:8]) + (", ..." if len(left) > 8 else "")
        warnings.append(
            f"{path}: left out: {len(left)} of {len(every)} histograms, which do not count reads, writes, fsyncs or"
            f" discards by their name (lines {lines})"
        )
    labels = [each.label for each, _ in known if each.drawn not in _IN_COLUMNS]
    if len(labels) > len(set(labels)):
        warnings.append(CUMULATIVE)
    return [_row(path, each, op) for each, op in known]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _op(each: Printed) -> Op | None:
    """The operation that its name says; None when it says none, or several."""
    said = each.label if each.drawn not in _IN_COLUMNS else each.keys.get("operation") or each.keys.get("flags") or ""
    ops = {OPS[word] for word in _words(said) if word in OPS}
    return ops.pop() if len(ops) == 1 else None


def _counts_block_io(each: Printed) -> bool:
    """Whether it counts I/Os of block devices, without a word of their operation."""
    if each.keys.get("operation") or each.keys.get("flags"):
        return False
    return bool(_BLOCK_IO.search(each.traced)) or (each.drawn in _IN_COLUMNS and not each.traced)


def _unit_ns(path: str, each: Printed) -> int:
    words = [each.unit.lower()] if each.drawn in _IN_COLUMNS else _words(each.label)
    units = {UNITS_NS[word] for word in words if word in UNITS_NS}
    if len(units) == 1:
        return units.pop()
    if each.drawn in _IN_COLUMNS:
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
    said = " ".join(each.keys.values()) or each.label or ALL
    every = _EVERY.search(each.traced) if each.drawn == "iolatency" else None
    length = None if every is None else whole(path, each.line, every[1], "the time of a table") * SECOND_NS or None
    return Row(
        name=f"{said} {each.clock}".strip(),
        test=ALL if op == "io" else op,
        ops=(OpFigures(op=op, ios=total, bytes=0, times=stated(times)),),
        elapsed_ns=SECOND_NS if length is None else length,
        derived=("size",) if length else ("size", "length"),
        path=each.keys.get("disk", ""),
    )

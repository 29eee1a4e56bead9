"""ioping's statistics: what it prints at its end, and its raw line (-p, -B).

What it is: the lines after "--- PATH ... ioping statistics ---" of ioping 0.8 to 1.3, and the lines of numbers of -p
and -B.
What is read: requests, bytes, minimum, mean, maximum and standard deviation; one request is outstanding. The size is
that of the request lines, else bytes by requests. The length is the time in which requests were generated (those of
the warm-up taken off by their share); without that line only the sum of the times is known. Raw lines are in
nanoseconds.
What it cannot see: percentiles; whether I/O was direct; the interval between requests (-i), so the load is unknown
where most of the time was waited.
What is refused: requests without their statistics (ioping was killed), a value or unit that cannot be read.
"""

from __future__ import annotations

import re

from iocast.model.run import Run, Source
from iocast.model.stated import Coarse
from iocast.model.workload import Closed, Op
from iocast.tools.foreign_numbers import bounded, number
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated

SECOND_NS = 1_000_000_000
ASSUMED = "The output does not say whether ioping read or wrote: reads are assumed, its default."
BUSY = 0.9  # of the time in which requests were generated: then one followed the other
_HEAD = re.compile(r"^--- (?P<path>.{1,400}?)(?: \([^()]{0,200}\))? ioping statistics ---$")
_REQUEST = re.compile(r"^(?P<size>[\d.]+) (?P<unit>[KMG]?i?B|[KMG]?) ?(?:bytes )?(?P<way><<<|>>>|from|to) .*request=\d")
_DONE = re.compile(
    r"^(?P<count>[\d.]+)(?P<thousands> ?[kMG])? requests completed in (?P<time>[\d.]+ \w+)"
    r"(?:, (?P<bytes>[\d.]+ \w*B) (?P<op>read|written))?"
)
_MADE = re.compile(r"^generated (?P<count>[\d.]+)(?P<thousands> ?[kMG])? requests in (?P<time>[\d.]+ \w+)")
_TIMES = re.compile(r"^min/avg/max/mdev = ([\d.]+ \w+) / ([\d.]+ \w+) / ([\d.]+ \w+) / ([\d.]+ \w+)\s*$")
_RAW = re.compile(r"^\d{1,18}(?: \d{1,20}){7,9}$")
_TIME_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "hour": 3600e9, "day": 86_400e9}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_COUNTS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def sniff(head: Head) -> bool:
    """The line before the statistics, a request, or a file of raw lines alone."""
    lines = list(head.lines())
    if any(_HEAD.match(line) or _REQUEST.match(line) for line in lines):
        return True
    return bool(lines) and all(_RAW.match(line.strip()) for line in lines)


def read(paths: tuple[str, ...]) -> Run:
    """The statistics of these files, as the rows of one run. Raises SourceError."""
    rows = [row for path in paths for row in _rows(path, read_text(path))]
    warnings = [ASSUMED] if any("op" in row.derived for row in rows) else []
    return run(Source(tool="ioping", files=paths), rows, warnings=warnings)


def _rows(path: str, text: str) -> list[Row]:
    rows: list[Row] = []
    target, done, copied, size = "", None, None, None
    for at, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if request := _REQUEST.match(plain):
            unit = request["unit"] if request["unit"] in _BYTES else "B"
            size = round(number(path, at, request["size"], "the size") * _BYTES[unit])
        elif head := _HEAD.match(plain):
            target, done, copied = head["path"], None, None
        elif match := _DONE.match(plain):
            done = match
        elif match := _MADE.match(plain):
            copied = match
        elif (times := _TIMES.match(plain)) and done:
            rows.append(_row(path, at, target, done, copied, times, size))
            done, size = None, None
        elif _RAW.match(plain) and not target:
            if not text.endswith("\n") and text.endswith(line):
                raise refuse(path, at, "a line without its end: the file is truncated")
            rows.append(_raw(path, at, plain))
    if not rows:
        raise refuse(path, 0, "requests without their statistics: ioping was killed, or the file is truncated")
    return rows


def _amount(path: str, at: int, text: str, units: dict[str, float]) -> float:
    value, _, unit = text.partition(" ")
    if unit not in units:
        raise refuse(path, at, f'"{unit[:20]}" is no unit of ioping')
    return bounded(path, at, number(path, at, value, "a value") * units[unit], "a value")


def _count(path: str, at: int, match: re.Match[str]) -> float:
    return number(path, at, match["count"], "the requests") * _COUNTS[(match["thousands"] or "").strip()]


def _row(
    path: str,
    at: int,
    target: str,
    done: re.Match[str],
    match: re.Match[str] | None,
    times: re.Match[str],
    size: int | None,
) -> Row:
    ios = round(_count(path, at, done))
    busy_ns = _amount(path, at, done["time"], _TIME_NS)
    least, mean, most, spread = (_amount(path, at, times[place], _TIME_NS) for place in (1, 2, 3, 4))
    moved = _amount(path, at, done["bytes"], dict(_BYTES)) if done["bytes"] else None
    if size is None and moved and ios and done["thousands"] is None:
        size = round(moved / ios)
    elapsed_ns = busy_ns
    if match and (generated := _count(path, at, match)):
        elapsed_ns = _amount(path, at, match["time"], _TIME_NS) * min(1.0, ios / generated)
    op: Op = "write" if done["op"] == "written" else "read"
    rounded = ("ios",) if done["thousands"] else ()
    return Row(
        name=f"{op} {target}".strip(),
        test=op,
        ops=(_figures(op, ios, round(moved or (size or 0) * ios), size, (least, mean, most, spread)),),
        elapsed_ns=round(elapsed_ns),
        users=1,
        depth=1,
        arrival=Closed() if busy_ns >= BUSY * elapsed_ns else None,
        path=target,
        derived=(*rounded, *(() if done["op"] else ("op",)), *(() if match else ("length",))),
    )


def _figures(op: Op, ios: int, moved: int, size: int | None, times: tuple[float, float, float, float]) -> OpFigures:
    least, mean, most, spread = times
    coarse = Coarse(total=ios, mean_ns=mean, stdev_ns=spread, min_ns=round(least), max_ns=round(most))
    return OpFigures(op=op, ios=ios, bytes=moved, size_bytes=size, times=stated(coarse))


def _raw(path: str, at: int, line: str) -> Row:
    """Requests, their time, IOPS, bytes a second, minimum, mean, maximum, deviation; then all requests and all time."""
    values = [number(path, at, word, "a value") for word in line.split()]
    ios, busy_ns, _, bytes_per_s, *times = values[:8]
    elapsed_ns = values[9] * min(1.0, ios / values[8]) if len(values) > 9 and values[8] else busy_ns
    least, mean, most, spread = times
    size = round(bytes_per_s * busy_ns / 1e9 / ios) if ios else None
    return Row(
        name="raw",
        test="raw",
        ops=(_figures("read", round(ios), round((size or 0) * ios), size, (least, mean, most, spread)),),
        elapsed_ns=round(elapsed_ns),
        users=1,
        depth=1,
        arrival=Closed() if busy_ns >= BUSY * elapsed_ns else None,
        derived=("op",),
    )

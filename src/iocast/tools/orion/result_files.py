"""The files of ORION 11.1 to 19c: summaries, matrices of data points, and histograms of powers of two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from iocast.model.stated import Bucket
from iocast.model.workload import Op
from iocast.tools.foreign_numbers import number, whole
from iocast.tools.source_files import refuse

_BEGIN = re.compile(r"^.?RION(?: VERSION (?P<old>\S+)|: ORacle IO Numbers.{0,80}?(?P<new>[\d.]{5,}))")
_AT = r"\s*@\s*Small=(?P<small>\d{1,9}) and Large=(?P<large>\d{1,9})\b"
_MOST_MBPS = re.compile(rf"^Maximum Large MBPS=(?P<value>[\d.]+){_AT}")
_MOST_IOPS = re.compile(rf"^Maximum Small IOPS=(?P<value>[\d.]+){_AT}")
_LEAST = re.compile(rf"^Minimum Small Latency=(?P<value>[\d.]+)(?:\s*(?P<unit>us|usecs?|ms|msecs?))?{_AT}")
_TIMES = re.compile(
    r"^(?P<kind>Small|Large) (?P<op>Read|Write) Latency: avg=(?P<mean>[\d.]+) us, min=(?P<least>[\d.]+) us,"
    rf" max=(?P<most>[\d.]+) us, std dev=(?P<spread>[\d.]+) us{_AT}"
)
_SIZE = re.compile(r"^(Small|Large) IO size:\s*(\d{1,9})\s*KB", re.IGNORECASE)
_WRITE = re.compile(r"^Writes?:\s*(\d{1,3})\s*%")
_COMMAND_WRITE = re.compile(r"(?:^|\s)-write\s+(\d{1,3})(?=\s|$)")
_LENGTH = re.compile(r"^Duration for each Data Point:\s*(\d{1,9})\s*seconds", re.IGNORECASE)
_NAME = re.compile(r"^Name:\s*(\S+)\s+Size:\s*(\d+)")
_OF_SIZE = re.compile(r"\bfor (small|large) I", re.IGNORECASE)  # "Latency Histogram for large IOs @ Small=2 …"
_POINT = re.compile(r"Small=(\d{1,9}),?\s*(?:and\s+)?Large=(\d{1,9})\b")
_BUCKET = re.compile(
    r"^\s*(?P<low>\d{1,15})\s*-\s*(?P<high>\d{1,15})\s*us:\s+(?P<reads>\d{1,15})(?:\s*\(\s*[\d.]+%\))?"
    r"(?:\s+(?P<writes>\d{1,15})(?:\s*\(\s*[\d.]+%\))?)?\s*$"
)
_LIKE_BUCKET = re.compile(r"^\s*\d{1,20}\s*-\s*\d{1,20}\s*us:")
_COMMAND = re.compile(r"^Command ?line", re.IGNORECASE)
MATRIX = "Large/Small"
_KINDS: dict[str, Kind] = {"Small": "small", "Large": "large"}
_OPS: dict[str, Op] = {"Read": "read", "Write": "write"}
_UNITS = (("microseconds", 1e3), ("milliseconds", 1e6))

Kind = Literal["small", "large"]


class Page(Struct, frozen=True):
    """A file that was read."""

    path: str
    text: str


class Point(Struct, frozen=True):
    """A data point: how many I/Os of each size are outstanding."""

    small: int
    large: int


Counts = dict[tuple[Kind, Point], dict[Op, tuple[Bucket, ...]]]


class Times(Struct, frozen=True):
    """The response times that a summary states of one operation at one point."""

    mean_ns: float
    min_ns: float
    max_ns: float
    stdev_ns: float


class Summary(Struct):
    """What one summary says; without one, ORION's defaults."""

    version: str = ""
    device: str = ""
    small_bytes: int = 8 << 10
    large_bytes: int = 1 << 20
    write_percent: int | None = None  # None: not said, and ORION reads unless it is told to write
    seconds: float | None = None
    random: bool = False
    most_mbps: tuple[float, Point] | None = None
    most_iops: tuple[float, Point] | None = None
    least_latency: tuple[float, Point] | None = None  # ns
    times: dict[tuple[Kind, Op, Point], Times] = {}
    counts: Counts = {}


def summaries(page: Page, warnings: list[str]) -> list[Summary]:
    """Every whole summary of a file. Raises SourceError when there is none."""
    summary_list = []
    for start, lines in _documents(page.text):
        summary = Summary()
        for at, line in enumerate(lines, start):
            _line(page.path, at, line.strip(), summary)
        summary.counts = _histograms(page.path, start, lines)
        if summary.most_mbps or summary.most_iops:
            summary_list.append(summary)
        elif any("total data points" in line.lower() or _COMMAND.match(line) for line in lines):
            warnings.append(f"{page.path}:{start}: a summary without results, truncated or of a failed run: left out")
    if not summary_list:
        raise refuse(page.path, 0, "no maximum in it: the summary is truncated, or the run failed")
    return summary_list


def _documents(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each summary with the number of its first line."""
    start, lines = 1, list[str]()
    for at, line in enumerate(text.splitlines(), 1):
        if _BEGIN.match(line) and lines:
            yield start, lines
            start, lines = at, []
        lines.append(line)
    yield start, lines


def _line(path: str, at: int, line: str, summary: Summary) -> None:
    if match := _BEGIN.match(line):
        summary.version = match["old"] or match["new"]
    elif match := _SIZE.match(line):
        size_kib = whole(path, at, match[2], "the size")
        if not size_kib:
            raise refuse(path, at, "I/Os of 0 KB")
        setattr(summary, f"{match[1].lower()}_bytes", size_kib * 1024)
    elif match := _WRITE.match(line) or ("-run " in line and _COMMAND_WRITE.search(line)) or None:
        summary.write_percent = whole(path, at, match[1], "the share of writes")
        if summary.write_percent > 100:
            raise refuse(path, at, "more than all I/Os are writes")
    elif match := _LENGTH.match(line):
        summary.seconds = number(path, at, match[1], "the duration")
    elif match := _NAME.match(line):
        summary.device = ":".join(filter(None, (summary.device, match[1])))
    elif line.lower().startswith("io types:"):
        summary.random = "random" in line.lower() and "sequential" not in line.lower()
    elif match := _MOST_MBPS.match(line):
        _once(path, at, summary.most_mbps)
        summary.most_mbps = _value(path, at, match)
    elif match := _MOST_IOPS.match(line):
        _once(path, at, summary.most_iops)
        summary.most_iops = _value(path, at, match)
    elif match := _LEAST.match(line):
        value, point = _value(path, at, match)
        summary.least_latency = (value * (1e3 if (match["unit"] or "ms").startswith("us") else 1e6), point)
    elif match := _TIMES.match(line):
        mean, least, most, spread = (
            number(path, at, match[name], "a latency") * 1e3 for name in ("mean", "least", "most", "spread")
        )
        point = _point(path, at, match["small"], match["large"])
        kind, op = _KINDS[match["kind"]], _OPS[match["op"]]
        summary.times[(kind, op, point)] = Times(mean, least, most, spread)
    elif line.startswith(("Maximum Large MBPS", "Maximum Small IOPS", "Minimum Small Latency")):
        raise refuse(path, at, "this maximum is unreadable or truncated")


def _once(path: str, at: int, known: tuple[float, Point] | None) -> None:
    if known:
        raise refuse(path, at, "a second maximum: the first line of its summary is missing or damaged")


def _value(path: str, at: int, match: re.Match[str]) -> tuple[float, Point]:
    return number(path, at, match["value"], "a result"), _point(path, at, match["small"], match["large"])


def _point(path: str, at: int, small: str, large: str) -> Point:
    point = Point(*(whole(path, at, each, "the outstanding I/Os") for each in (small, large)))
    if not (point.small or point.large):
        raise refuse(path, at, "a data point without outstanding I/Os (Small=0 and Large=0)")
    return point


def unit_ns(page: Page) -> float | None:
    """The unit of a matrix of latencies as the words above it state it; None when there are none."""
    words = page.text.partition(MATRIX)[0]
    return next((unit for word, unit in _UNITS if word in words), None)


def matrix(page: Page) -> dict[Point, float]:
    """A matrix of data points: rows are large I/Os outstanding, columns small ones. Raises SourceError."""
    lines = [(at, line) for at, line in enumerate(page.text.splitlines(), 1) if line.strip()]
    while lines and not lines[0][1].lstrip().startswith(MATRIX):
        lines.pop(0)  # what it contains, in words
    heads = [cell.strip() for cell in lines[0][1].split(",")]
    columns = [whole(page.path, lines[0][0], cell, "a heading") for cell in heads[1:] if cell]
    by_point = {}
    for at, line in lines[1:]:
        cells = [cell.strip() for cell in line.rstrip(", ").split(",")]
        if len(cells) != len(columns) + 1:
            raise refuse(page.path, at, f"{len(cells) - 1} values under {len(columns)} headings")
        large = whole(page.path, at, cells[0], "the large I/Os outstanding")
        for small, cell in zip(columns, cells[1:], strict=True):
            if cell not in ("", "-", "n/a"):
                by_point[Point(small, large)] = number(page.path, at, cell, "a result")
    if not by_point:
        raise refuse(page.path, 0, "it has no data point")
    return by_point


def histograms(page: Page) -> Counts:
    """The histograms of a file by size and data point. Raises SourceError for a line like a bucket that is none."""
    return _histograms(page.path, 1, page.text.splitlines())


def _kind(line: str, point: Point) -> Kind:
    """Of which size a heading is: it says it, or only one has any I/Os."""
    said = _OF_SIZE.search(line)
    word = said[1].title() if said else line.split()[0]
    return _KINDS.get(word, "small" if point.small else "large")


def _histograms(path: str, start: int, lines: list[str]) -> Counts:
    by_point: dict[tuple[Kind, Point], dict[Op, list[Bucket]]] = {}
    key: tuple[Kind, Point] | None = None
    for at, line in enumerate(lines, start):
        if bucket := _BUCKET.match(line):
            if key is None:
                raise refuse(path, at, "a histogram that does not name its data point (Small=, Large=)")
            own = by_point.setdefault(key, {"read": [], "write": []})
            low, high, reads, writes = (whole(path, at, each or "0", "a bucket") for each in bucket.groups())
            low, high = low * 1000, high * 1000
            if own["read"] and own["read"][-1].low_ns >= low:
                raise refuse(path, at, "buckets start again: the heading line is missing or damaged")
            own["read"].append(Bucket(low, high, reads))
            own["write"].append(Bucket(low, high, writes))
        elif _LIKE_BUCKET.match(line):
            raise refuse(path, at, "an unreadable or truncated bucket")
        elif named := _POINT.search(line):
            point = _point(path, at, named[1], named[2])
            key = (_kind(line, point), point)
    return {
        key: {op: tuple(buckets) for op, buckets in own.items() if any(each.weight for each in buckets)}
        for key, own in by_point.items()
    }

"""The files of ORION: summaries, matrices of data points, and histograms of powers of two."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from iocast.formats.source_files import number, refuse
from iocast.model.stated import Bucket
from iocast.model.workload import Op

_BEGIN = re.compile(r"^.?RION(?: VERSION (?P<old>\S+)|: ORacle IO Numbers.*?(?P<new>[\d.]{5,}))")
_AT = r"\s*@\s*Small=(?P<small>\d{1,9}) and Large=(?P<large>\d{1,9})\b"
_MOST_MBPS = re.compile(rf"^Maximum Large MBPS=(?P<value>[\d.]+){_AT}")
_MOST_IOPS = re.compile(rf"^Maximum Small IOPS=(?P<value>[\d.]+){_AT}")
_LEAST = re.compile(rf"^Minimum Small Latency=(?P<value>[\d.]+)\s*(?P<unit>us|usecs?|ms|msecs?)?{_AT}")
_SIZE = re.compile(r"^(Small|Large) IO size:\s*(\d{1,9})\s*KB")
_WRITE = re.compile(r"^Write:\s*(\d{1,3})\s*%")
_LENGTH = re.compile(r"^Duration for each Data Point:\s*(\d{1,9})\s*seconds")
_NAME = re.compile(r"^Name:\s*(\S+)\s+Size:\s*(\d+)")
_POINT = re.compile(r"Small=(\d{1,9}),?\s*(?:and\s+)?Large=(\d{1,9})\b")
_BUCKET = re.compile(
    r"^\s*(?P<low>\d{1,15})\s*-\s*(?P<high>\d{1,15})\s*us:\s+(?P<reads>\d{1,15})(?:\s*\(\s*[\d.]+%\))?"
    r"(?:\s+(?P<writes>\d{1,15})(?:\s*\(\s*[\d.]+%\))?)?\s*$"
)
_LIKE_BUCKET = re.compile(r"^\s*\d+\s*-\s*\d+\s*us:")


class Page(Struct, frozen=True):
    """A file that was read."""

    path: str
    text: str


class Point(Struct, frozen=True):
    """A data point: how many I/Os of each size are outstanding."""

    small: int
    large: int


class Summary(Struct):
    """What one summary says; without one, ORION's defaults."""

    version: str = ""
    device: str = ""
    small_bytes: int = 8 << 10
    large_bytes: int = 1 << 20
    write_percent: int = 0
    seconds: float | None = None
    random: bool = False
    most_mbps: tuple[float, Point] | None = None
    most_iops: tuple[float, Point] | None = None
    least_latency: tuple[float, Point] | None = None  # ns
    asides: list[str] = []


def summaries(page: Page, warnings: list[str]) -> list[Summary]:
    """Every whole summary of a file. Raises SourceError when there is none."""
    found = []
    for start, lines in _documents(page.text):
        summary = Summary()
        for at, line in enumerate(lines, start):
            _line(page.path, at, line.strip(), summary)
        if summary.most_mbps or summary.most_iops:
            if summary.least_latency and (not summary.most_iops or summary.least_latency[1] != summary.most_iops[1]):
                value, point = summary.least_latency
                summary.asides.append(
                    f"{summary.device}: the lowest latency, {value / 1e6:g} ms, was at {point.small} small I/Os, whose"
                    " rate the summary does not state."
                )
            found.append(summary)
        elif any("Total Data Points" in line or "Commandline" in line for line in lines):
            warnings.append(f"{page.path}:{start}: a summary without results, truncated or of a failed run: left out")
    if not found:
        raise refuse(page.path, 0, "no maximum in it: the summary is truncated, or the run failed")
    return found


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
    if found := _BEGIN.match(line):
        summary.version = found["old"] or found["new"]
    elif found := _SIZE.match(line):
        setattr(summary, f"{found[1].lower()}_bytes", int(found[2]) * 1024)
    elif found := _WRITE.match(line):
        summary.write_percent = int(found[1])
        if summary.write_percent > 100:
            raise refuse(path, at, "more than all I/Os are writes")
    elif found := _LENGTH.match(line):
        summary.seconds = float(found[1])
    elif found := _NAME.match(line):
        summary.device = ":".join(filter(None, (summary.device, found[1])))
    elif line.startswith("IO Types:"):
        summary.random = "Random" in line and "Sequential" not in line
    elif found := _MOST_MBPS.match(line):
        _once(path, at, summary.most_mbps)
        summary.most_mbps = _value(path, at, found)
    elif found := _MOST_IOPS.match(line):
        _once(path, at, summary.most_iops)
        summary.most_iops = _value(path, at, found)
    elif found := _LEAST.match(line):
        value, point = _value(path, at, found)
        summary.least_latency = (value * (1e3 if (found["unit"] or "ms").startswith("us") else 1e6), point)
    elif line.startswith(("Maximum Large MBPS", "Maximum Small IOPS", "Minimum Small Latency")):
        raise refuse(path, at, "this maximum is unreadable or truncated")


def _once(path: str, at: int, known: tuple[float, Point] | None) -> None:
    if known:
        raise refuse(path, at, "a second maximum: the first line of its summary is missing or damaged")


def _value(path: str, at: int, found: re.Match[str]) -> tuple[float, Point]:
    return number(path, at, found["value"], "a result"), Point(int(found["small"]), int(found["large"]))


def matrix(page: Page) -> dict[Point, float]:
    """A matrix of data points: rows are large I/Os outstanding, columns small ones. Raises SourceError."""
    lines = [(at, line) for at, line in enumerate(page.text.splitlines(), 1) if line.strip()]
    heads = [cell.strip() for cell in lines[0][1].split(",")]
    columns = [int(number(page.path, 1, cell, "a heading")) for cell in heads[1:] if cell]
    found = {}
    for at, line in lines[1:]:
        cells = [cell.strip() for cell in line.rstrip(", ").split(",")]
        if len(cells) != len(columns) + 1:
            raise refuse(page.path, at, f"{len(cells) - 1} values under {len(columns)} headings")
        large = int(number(page.path, at, cells[0], "the large I/Os outstanding"))
        for small, cell in zip(columns, cells[1:], strict=True):
            if cell not in ("", "-", "n/a"):
                found[Point(small, large)] = number(page.path, at, cell, "a result")
    if not found:
        raise refuse(page.path, 0, "it has no data point")
    return found


def histograms(page: Page) -> dict[Point, dict[Op, tuple[Bucket, ...]]]:
    """The histograms of a file by data point. Raises SourceError for a line that is like a bucket and is none."""
    found: dict[Point, dict[Op, list[Bucket]]] = {}
    point: Point | None = None
    for at, line in enumerate(page.text.splitlines(), 1):
        if bucket := _BUCKET.match(line):
            if point is None:
                raise refuse(page.path, at, "a histogram that does not name its data point (Small=, Large=)")
            own = found.setdefault(point, {"read": [], "write": []})
            low, high = int(bucket["low"]) * 1000, int(bucket["high"]) * 1000
            own["read"].append(Bucket(low, high, float(bucket["reads"])))
            own["write"].append(Bucket(low, high, float(bucket["writes"] or 0)))
        elif _LIKE_BUCKET.match(line):
            raise refuse(page.path, at, "an unreadable or truncated bucket")
        elif named := _POINT.search(line):
            point = Point(int(named[1]), int(named[2]))
    return {
        point: {op: tuple(buckets) for op, buckets in own.items() if any(each.weight for each in buckets)}
        for point, own in found.items()
    }

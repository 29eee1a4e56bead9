"""collectl's disks: in columns for plotting (-P), and as it prints them.

What it is: what `collectl -sd` (all disks together) and `collectl -sD` (each of them) write with -P, and what they
print (also with -oT, -oD, --verbose).
What is read: columns by name; KB are of 1024, waits are in milliseconds, and values are those of a second (with -on,
as counted, they would not be: such a file does not say so). All disks together are the device "all". Waits are whole
milliseconds: where one is below, those of the device are left out with a warning.
What it cannot see: who did the I/O, and any percentile. SvcTim is ignored, as that of iostat, and so is the length of
the queue, which is that of the busy time only.
What is refused: a line of another length than its heading, a value that is not a number. A truncated last line is
left out with a warning. Other reports in the file (-sc, -sn ...) are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from iocast import metrics
from iocast.model.run import Run
from iocast.tools.device_series import (
    ALL,
    Column,
    Machine,
    Report,
    columns_of,
    report_of,
    require_width,
    series,
    values_of,
)
from iocast.tools.source_files import Head, refuse, whole_lines

KIB, MS_NS = 1024, 1_000_000
_PLOT = re.compile(r"^#(?:Date[ ,;]Time|UTC)\b.*\[DSK(?::[^\]]{1,80})?\]", re.MULTILINE)
_DETAIL = re.compile(r"^#.*\bName\s+KBytes\s+Merged\s+IOs\b", re.MULTILINE)
_SUMMARY = re.compile(r"^#(?=.*\bKBRead\b)(?=.*\bReads\b).*\bKBWrit", re.MULTILINE)
_CELL = re.compile(r"\[DSK(?::(?P<device>[^\]]{1,80})?)?\](?P<name>\w+)")
_MOMENT = re.compile(r"^(?:(?P<date>\d{8})\s+)?(?P<time>\d\d:\d\d:\d\d)(?:\.\d+)?$")
_COLUMNS = {
    "Reads": (metrics.READS_PER_S, 1),
    "ReadTot": (metrics.READS_PER_S, 1),
    "RMerge": (metrics.READ_MERGES_PER_S, 1),
    "ReadMrgTot": (metrics.READ_MERGES_PER_S, 1),
    "RMerged": (metrics.READ_MERGES_PER_S, 1),
    "RKBytes": (metrics.READ_BYTES_PER_S, KIB),
    "ReadKBTot": (metrics.READ_BYTES_PER_S, KIB),
    "KBRead": (metrics.READ_BYTES_PER_S, KIB),
    "WaitR": (metrics.READ_AWAIT_NS, MS_NS),
    "Writes": (metrics.WRITES_PER_S, 1),
    "WriteTot": (metrics.WRITES_PER_S, 1),
    "WMerge": (metrics.WRITE_MERGES_PER_S, 1),
    "WriteMrgTot": (metrics.WRITE_MERGES_PER_S, 1),
    "WMerged": (metrics.WRITE_MERGES_PER_S, 1),
    "WKBytes": (metrics.WRITE_BYTES_PER_S, KIB),
    "WriteKBTot": (metrics.WRITE_BYTES_PER_S, KIB),
    "KBWrit": (metrics.WRITE_BYTES_PER_S, KIB),
    "KBWrite": (metrics.WRITE_BYTES_PER_S, KIB),
    "WaitW": (metrics.WRITE_AWAIT_NS, MS_NS),
    "Request": (metrics.SIZE_BYTES, KIB),
    "RWSize": (metrics.SIZE_BYTES, KIB),
    "Wait": (metrics.AWAIT_NS, MS_NS),
    "Util": (metrics.UTIL_PERCENT, 1),
}
# The detail's own columns come twice, first for reads: by their place after the name.
_DETAILED = ("RKBytes", "RMerge", "Reads", "", "WaitR", "WKBytes", "WMerge", "Writes", "", "WaitW")
_AFTER = ("RWSize", "QLen", "Wait", "SvcTim", "Util")


def sniff(head: Head) -> bool:
    """A heading of disks."""
    return any(pattern.search(head.text) for pattern in (_PLOT, _DETAIL, _SUMMARY))


def read(paths: tuple[str, ...]) -> Run:
    """Each file as a phase of one run. Raises SourceError."""
    return series("collectl", paths, _machines)


def _machines(path: str, text: str, warnings: list[str]) -> list[Machine]:
    reports = _plot(path, text, warnings) if _PLOT.search(text) else _printed(path, text, warnings)
    if not reports:
        raise refuse(path, 0, "it has no interval of a disk", "run collectl with -sD -P, or with -oT")
    _whole_milliseconds(reports, warnings)
    return [(None, reports)]


def _whole_milliseconds(reports: Sequence[Report], warnings: list[str]) -> None:
    """Takes out the waits of a device when some are below the millisecond in which they are printed."""
    for device in dict.fromkeys(device for report in reports for device in report.devices):
        own = [report.devices[device] for report in reports if device in report.devices]
        for wait in (metrics.AWAIT_NS, metrics.READ_AWAIT_NS, metrics.WRITE_AWAIT_NS):
            if any(each.get(wait) == 0 for each in own):
                for each in own:
                    each.pop(wait, None)
                warnings.append(f"{device}: waits are printed in whole milliseconds, and some are below one: left out")


def _plot(path: str, text: str, warnings: list[str]) -> list[Report]:
    names: list[str] = []
    columns: list[Column] = []
    parting: str | None = None
    reports: list[Report] = []
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        if line.startswith("#") and _PLOT.match(line):
            parting = next((mark for mark in ",;" if mark in line), None)
            names = line.lstrip("#").split(parting)
            columns = [each for place, name in enumerate(names) if (each := _of_plot(place, name))]
        elif names and line.strip() and not line.startswith("#"):
            cells = line.split(parting)
            if len(cells) != len(names) and not reports and not cells[0].isdigit():
                continue  # words before the first interval
            require_width(path, at, cells, names)
            reports.append(report_of(_stamp(cells), values_of(path, at, columns, cells)))
    return reports


def _of_plot(place: int, name: str) -> Column | None:
    match = _CELL.fullmatch(name)
    if not match or match["name"] not in _COLUMNS:
        return None
    return Column(place, name, match["device"] or ALL, *_COLUMNS[match["name"]])


def _stamp(cells: Sequence[str]) -> str:
    """Date and time as they stand in the first columns, or the seconds since the epoch."""
    match = _MOMENT.match(f"{cells[0]} {cells[1]}")
    return _iso(match) if match and match["date"] else cells[0]


def _iso(match: re.Match[str]) -> str:
    """A moment with its day, if it has one, as ISO writes it."""
    day = match["date"]
    return f"{day[:4]}-{day[4:6]}-{day[6:]} {match['time']}" if day else str(match["time"])


def _printed(path: str, text: str, warnings: list[str]) -> list[Report]:
    """The printed tables. Lines of one moment are one report."""
    names: Sequence[str] = ()
    detail = False
    reports: list[Report] = []
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        words = line.lstrip("#").split()
        if line.startswith("#"):
            if _DETAIL.match(line):
                names, detail = (*_DETAILED, *_AFTER), True
            elif _SUMMARY.match(line):
                names, detail = [word for word in words if word not in ("Date", "Time")], False
            elif words and not words[0].startswith("<") and not line.startswith("#  "):
                names = ()
            continue
        moment, rest = _moment(words)
        if not names or not rest or (not moment and not rest[0].isdigit()):
            continue
        device = rest.pop(0) if detail and rest else ALL
        require_width(path, at, rest, names)
        if not reports or reports[-1].stamp != moment or device in reports[-1].devices:
            reports.append(Report(moment, {}))
        report = report_of(moment, values_of(path, at, columns_of(names, _COLUMNS, device), rest))
        reports[-1].devices.update(report.devices)
    return reports


def _moment(words: list[str]) -> tuple[str, list[str]]:
    """The time that a line begins with, and the rest of it."""
    for count in (2, 1):
        match = _MOMENT.match(" ".join(words[:count])) if len(words) > count else None
        if match and (count == 1 or match["date"]):
            return _iso(match), words[count:]
    return "", words

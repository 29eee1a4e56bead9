"""dstat's CSV (--output) and its table: rates of disks for each interval.

What it is: what `dstat` and its successors write with --output, and what they print, with -d (bytes), -r (I/Os) or
--disk-util among whatever else.
What is read: the groups dsk/NAME and io/NAME, and the utilisation under the name of a disk; "total" is the device
"all". In the CSV values are bytes and I/Os a second; in the table B, k, M and G are of 1024. The first line covers
the time since boot and is left out. Several runs appended to one file are read as one series.
What it cannot see: queues and any latency; who did the I/O.
What is refused: a line of another length than its heading, a value that is not a number. A truncated last line is
left out with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from iocast import metrics
from iocast.model.run import Host, Run
from iocast.tools.device_series import ALL, Column, Machine, Report, report_of, require_width, series, values_of
from iocast.tools.foreign_numbers import number
from iocast.tools.source_files import Head, csv_cells, refuse, whole_lines

SINCE_BOOT = "dstat's first line covers the time since boot and is left out."
_GROUP = re.compile(r"^-+(?:dsk|io)/[^\s-]")
_VALUE = re.compile(r"(?<![\d.])(\d{1,20}(?:\.\d{1,9})?)\s?([BkMGT]?)(?=\s|$)")
_UNITS = {"": 1, "B": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_METRICS = {
    ("dsk", "read"): metrics.READ_BYTES_PER_S,
    ("dsk", "writ"): metrics.WRITE_BYTES_PER_S,
    ("dsk", "#read"): metrics.READS_PER_S,
    ("dsk", "#writ"): metrics.WRITES_PER_S,
    ("io", "read"): metrics.READS_PER_S,
    ("io", "writ"): metrics.WRITES_PER_S,
}


def sniff(head: Head) -> bool:
    """The first line of the CSV, or the groups of the table."""
    start = head.text.lstrip()[:100].lower()
    csv_output = "stat" in start and "csv output" in start
    return csv_output or any(_is_heading(line) for line in head.text.splitlines())


def read(paths: tuple[str, ...]) -> Run:
    """Each file as a phase of one run. Raises SourceError."""
    return series("dstat", paths, _machines)


def _machines(path: str, text: str, warnings: list[str]) -> list[Machine]:
    table = "csv output" not in text.lstrip()[:100].lower()
    host, reports = _table(path, text, warnings) if table else _csv(path, text, warnings)
    if not reports:
        raise refuse(path, 0, "it has no interval of a disk", "run dstat with -d or -r")
    return [(host, reports)]


def _csv(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    """The lines of a CSV: groups, names, values; a run that was appended begins with its own groups."""
    host: Host | None = None
    groups: list[str] = []
    columns: list[Column] = []
    names: list[str] = []
    reports: list[Report] = []
    first = False
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        cells = [cell.strip().strip('"') for cell in csv_cells(path, at, line)]
        if not any(cells):
            continue
        if line.startswith('"'):
            if cells[0] == "Host:" and len(cells) > 1:
                host = Host(name=cells[1], kernel="", cpus=0, cpu_model="", memory_bytes=0)
            if groups and len(cells) == len(groups):
                names, columns, first = cells, list(_columns(groups, cells)), True
                groups = []
            else:
                groups, names = ([] if _apart(cells) else cells), []
            continue
        if not names:
            raise refuse(path, at, "a line of values before its heading")
        require_width(path, at, cells, names)
        if first:
            first = False
            warnings += [] if SINCE_BOOT in warnings else [SINCE_BOOT]
        elif columns:
            stamp = next((cells[names.index(name)] for name in ("epoch", "time") if name in names), "")
            reports.append(report_of(stamp, values_of(path, at, columns, cells)))
    return host, reports


def _apart(cells: Sequence[str]) -> bool:
    """Lines about the run itself: "Author:", "Host:", "Cmdline:" and the first."""
    return cells[0].endswith(":") or "csv output" in cells[0].lower()


def _columns(groups: Sequence[str], names: Sequence[str]) -> Iterator[Column]:
    """The columns of disks; a group's name stands over its first column only."""
    group = ""
    for place, (above, name) in enumerate(zip(groups, names, strict=True)):
        group = above or group
        kind, _, device = group.partition("/")
        plain_name = name.rpartition(":")[2]
        if plain_name == "util" and group:
            yield Column(place, metrics.UTIL_PERCENT, group, metrics.UTIL_PERCENT)
        elif (kind, plain_name) in _METRICS and device:
            metric = _METRICS[kind, plain_name]
            yield Column(place, metric, ALL if device == "total" else device, metric)


def _is_heading(line: str) -> bool:
    """The line of a table in which groups stand between dashes, one of them of disks."""
    return line.strip().startswith("-") and any(_GROUP.match(part) for part in line[:2000].split())


def _table(path: str, text: str, warnings: list[str]) -> tuple[None, list[Report]]:
    """The lines of a table: groups stand between bars and colons, in each line at the same places."""
    heading, groups = "", list[str]()
    columns: list[tuple[int, int, Column]] = []  # the group and the place in it
    reports: list[Report] = []
    cuts: list[int] = []
    first = False
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        if _is_heading(line):
            heading, groups, cuts = line, [part.strip("-") for part in line.split()], []
        elif groups and "|" in line and not cuts:
            cuts, first = [place for place, mark in enumerate(line) if mark in "|:"], not reports
            names = [part.split() for part in _cells(line, cuts)]
            if len(names) != len(groups):  # several disks stand in one group of dashes: each over its own columns
                groups = [part.strip("- ") for part in _cells(heading, cuts)]
            if not all(groups):
                raise refuse(path, at, f"{len(names)} groups under {len(heading.split())} headings")
            columns = _of_table(groups, names)
        elif cuts and "|" in line:
            if any(line[cut : cut + 1] not in ("|", ":") for cut in cuts):
                raise refuse(path, at, "its groups do not stand under their headings")
            cells = _cells(line, cuts)
            values = [(column, _shown(path, at, cells[group], place)) for group, place, column in columns]
            if first:
                first = False
                warnings.append(SINCE_BOOT)
            else:
                reports.append(report_of(_stamp(groups, cells), values))
    return None, [report for report in reports if report.devices]


def _cells(line: str, cuts: Sequence[int]) -> list[str]:
    """The parts of a line between its cuts."""
    starts = [0, *(cut + 1 for cut in cuts)]
    return [line[start:end] for start, end in zip(starts, [*cuts, None], strict=True)]


def _of_table(groups: Sequence[str], names: Sequence[Sequence[str]]) -> list[tuple[int, int, Column]]:
    columns = []
    for group, (above, own) in enumerate(zip(groups, names, strict=True)):
        columns += [(group, column.place, column) for column in _columns([above] * len(own), own)]
    return columns


def _stamp(groups: Sequence[str], cells: Sequence[str]) -> str:
    return next((cell.strip() for group, cell in zip(groups, cells, strict=True) if group == "system"), "")


def _shown(path: str, at: int, cell: str, place: int) -> float:
    """The value at a place of a group. Raises SourceError when there is none."""
    matches = _VALUE.findall(cell)
    if place >= len(matches):
        raise refuse(path, at, f'"{cell.strip()[:40]}" has no value at place {place + 1}')
    return number(path, at, matches[place][0], "a rate") * _UNITS[matches[place][1]]

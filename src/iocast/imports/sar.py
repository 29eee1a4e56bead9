"""sar's text: -d (devices) and -b (all devices together).

What it is: what `sar -d` and `sar -b` print, of a live machine or of a daily file: means of each interval.
What is read: columns go by their names; sectors and blocks are of 512 bytes, kB of 1024. -b becomes one device "all".
The averages at the end are left out (they are worked out again from the intervals), lines of a restart as well.
What it cannot see: who did the I/O, and any percentile.
What is refused: a column that is not known, a line of another length than its heading, a value that is no number.
A last line that is cut is left out with a warning. Other reports of sar in the file (-u, -r ...) are passed over.
"""

from __future__ import annotations

import re

from iocast.imports.device_reports import Report, host_of, metrics, observation
from iocast.imports.source_files import Head, read_text, refuse
from iocast.imports.stated_rows import UNKNOWN_HOST, Row, run
from iocast.model.run import Host, Run, Source

STAMPED = re.compile(r"^(?P<stamp>\d{1,2}[:.]\d\d[:.]\d\d(?: [AP]M)?)\s+(?P<rest>\S.*)$")
WANTED = re.compile(r"^(?:DEV\s+tps\b|tps\s+rtps\b)")
ALL = "all"


def sniff(head: Head) -> bool:
    """A heading of -d or -b after a time of day."""
    found = (STAMPED.match(line) for line in head.lines())
    return any(match and WANTED.match(match["rest"]) for match in found)


def read(paths: tuple[str, ...]) -> Run:
    """The intervals of each file, as the phases of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    host = UNKNOWN_HOST
    for path in paths:
        machine, reports = _reports(path, read_text(path), warnings)
        host = machine or host
        if not reports:
            raise refuse(path, 0, "there is no interval in it")
        row, said = observation("sar", "sar", reports)
        rows.append(row)
        warnings += said
    return run(Source(tool="sar", files=paths), rows, warnings=warnings, host=host)


def _reports(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    machine: Host | None = None
    names: list[str] | None = None
    latest: dict[str, Report] = {}  # by the time of day, which comes again the next day
    found: list[Report] = []
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        stamped = STAMPED.match(line)
        if stamped is None:
            machine = machine or host_of(line)
            names = names if line.strip() else None
        elif WANTED.match(stamped["rest"]):
            names = stamped["rest"].split()
        elif "RESTART" in line:
            names = None
        elif names is not None:
            values = stamped["rest"].split()
            if len(values) != len(names):
                if at == len(lines) and not text.endswith("\n"):
                    warnings.append(f"{path}:{at}: the last line is cut: left out")
                    break
                raise refuse(path, at, f"{len(values)} values under {len(names)} headings")
            device, columns = (values[0], names[1:]) if names[0] == "DEV" else (ALL, names)
            report = latest.get(stamped["stamp"])
            if report is None or device in report.devices:
                report = latest[stamped["stamp"]] = Report(stamped["stamp"], {})
                found.append(report)
            report.devices[device] = metrics(path, at, columns, values[len(values) - len(columns) :])
    return machine, found

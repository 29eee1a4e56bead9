"""iostat's reports of devices: text of every sysstat, with or without -x, and JSON.

What it is: what `iostat` and `iostat -x` (also -d -h -k -m -t -N -s --human, in colours, with any decimal sign) and
`iostat -o JSON`, of one host or of several, print: rates and means of each device for each interval; the load is
unknown.
What is read: columns are found by name, so every layout from sysstat 9 to 12 is understood; one that is not known is
left out with a warning. kB and MB are of 1024, the old avgrq-sz counts sectors. The first of several reports covers
the time since boot and is left out (also with iostat -y, which does not say so). svctm is ignored.
What it cannot see: who did the I/O, and any percentile: these are means of intervals. %util says nothing about
devices that serve many requests in parallel.
What is refused: a device line of another length than its heading, a value that is not a number. A truncated last line
is left out with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from iocast.model.run import Host, Run
from iocast.tools.device_series import Machine, Report, device_apart, require_width, series
from iocast.tools.source_files import Head, refuse, whole_lines
from iocast.tools.sysstat.device_columns import device_name, host_of, hosts_of, metrics_of, records

FIRST_LINES = 20  # not blank: the machine, the time and the processors stand before the first device
_HEADING = re.compile(r"^(?:\s*Device:?\s|.*\sDevice:?\s*$)")
_RATES = re.compile(r"\b(?:tps|r/s)\b")
_TIME = re.compile(r"\d[:.]\d\d[:.]\d\d")
_CPU = re.compile(r"^\s*avg-cpu:")
SINCE_BOOT = "The first report covers the time since boot and is left out (with iostat -y it was a normal interval)."
ONLY_ONE = "Only one report: unless iostat ran with -y, it is the mean since boot."


def sniff(head: Head) -> bool:
    """A heading of devices after the line of the machine, or sysstat's JSON with disks."""
    if head.text.lstrip().startswith("{"):
        return '"sysstat"' in head.text and '"disk_device"' in head.text
    return _is_iostat(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The reports of each machine, as the phases of one run. Raises SourceError."""
    return series("iostat", paths, _machines)


def _machines(path: str, text: str, warnings: list[str]) -> Iterator[Machine]:
    machines = _of_json(path, text, warnings) if text.lstrip().startswith("{") else [_of_text(path, text, warnings)]
    machines = [(host, reports) for host, reports in machines if any(report.devices for report in reports)]
    if not machines:
        raise refuse(path, 0, "it has no device report")
    for host, reports in machines:
        warnings.append(SINCE_BOOT if len(reports) > 1 else ONLY_ONE)
        yield host, reports[1:] or reports


def _is_iostat(lines: Iterable[str]) -> bool:
    """Whether one of the first of these lines is a heading of iostat's devices: deep in a text it is quoted."""
    return any(_HEADING.match(line) and _RATES.search(line) for line in islice(lines, FIRST_LINES))


def _of_text(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    """The machine and the reports of iostat's text; what is cut is told in `warnings`. Raises SourceError."""
    machine: Host | None = None
    reports: list[Report] = []
    names: list[str] | None = None
    stamp = ""
    columns_read: set[str] = set()  # the columns of this report: with -h it stands in several tables
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        words = line.split()
        if not words:
            names = None
        elif _HEADING.match(line):
            names = [word.rstrip(":") for word in words]
            columns = {*names} - {"Device"}
            if not reports or not columns_read or columns_read & columns:
                reports.append(Report(stamp, {}))
                columns_read = set()
            columns_read |= columns
        elif names is not None:
            require_width(path, at, words, names)
            device, headings, values = device_apart("Device", names, words)
            own = reports[-1].devices.setdefault(device, {})
            own.update(metrics_of(path, at, headings, values, warnings))
        elif _CPU.match(line):
            columns_read = set()
        elif host := host_of(line):
            machine = host
        elif _TIME.search(line):
            stamp, columns_read = line.strip(), set()
    return machine, reports


def _of_json(path: str, text: str, warnings: list[str]) -> list[Machine]:
    """The machines and the reports of `iostat -o JSON`. Raises SourceError."""
    machines: list[Machine] = []
    for host, statistics in hosts_of(path, text):
        reports = []
        for each in statistics:
            disks = records(path, each.get("disk", []))
            reports.append(
                Report(
                    str(each.get("timestamp", "")),
                    {device_name(path, 0, disk.get("disk_device")): _disk(path, disk, warnings) for disk in disks},
                )
            )
        machines.append((host, reports))
    return machines


def _disk(path: str, disk: dict[str, Any], warnings: list[str]) -> dict[str, float]:
    names = [name for name in disk if name != "disk_device"]
    return metrics_of(path, 0, names, [str(disk[name]) for name in names], warnings)

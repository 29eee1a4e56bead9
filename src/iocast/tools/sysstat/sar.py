"""sar's text and sadf's exports: -d (devices) and -b (all devices together).

What it is: what `sar -d` and `sar -b` print (also with -p, -h or -j), from a live machine or a daily file: means of
each interval; and what `sadf -d`, `sadf -p` and `sadf -j` export of them, of one host or of several.
What is read: columns are found by name, wherever the device stands; one that is not known is left out with a warning.
Sectors and blocks are of 512 bytes, kB of 1024. -b becomes one device "all". The averages at the end are left out
(they are computed from the intervals), and so are restart lines and comments (COM).
What it cannot see: who did the I/O, and any percentile.
What is refused: a line of another length than its heading, a value that is not a number. A truncated last line is
left out with a warning. Other sar reports in the file (-u, -r ...) are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from iocast.model.run import Host, Run
from iocast.tools.device_series import ALL, Machine, Report, device_apart, require_width, series
from iocast.tools.source_files import Head, refuse, whole_lines
from iocast.tools.sysstat.device_columns import device_name, host_of, hosts_of, metrics_of, records

_HEADING = re.compile(r"^# hostname;interval;timestamp;(?:DEV;tps|tps;rtps)\b", re.MULTILINE)
_OTHER = "# hostname;interval;timestamp;"
_SINGLE = re.compile(r"^[^\t\n]+\t-?\d+\t[^\t\n]+\t[^\t\n]+\t(?:tps|rtps|rkB/s|rd_sec/s)\t", re.MULTILINE)
_SINGLE_COLUMNS = re.compile(r"^(?:r|w|d)?tps$|/s$|-sz$|^await$|^svctm$|^%util$")
_STAMPED = re.compile(r"^(?P<stamp>\d{1,2}[:.时時]\d\d[:.分]\d\d(?: [AP]M|秒)?)\s+(?P<rest>\S.*)$")
_MARKS = str.maketrans({"时": ":", "時": ":", "分": ":", "秒": ""})  # of Chinese and Japanese times of day
_WANTED = re.compile(r"^(?:DEV\s+tps\b|tps\s+rtps\b|tps\s[^\t\v]*\sDEV\s*$)")
_APART = -1  # the interval of lines that are none: restarts, comments

Moments = dict[tuple[str, str], Report]  # by machine and moment


def sniff(head: Head) -> bool:
    """A heading of -d or -b after a time of day, or an export of sadf."""
    return _is_sadf(head.text) or _is_sar(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The intervals of each machine, as the phases of one run. Raises SourceError."""
    return series("sar", paths, _machines)


def _machines(path: str, text: str, warnings: list[str]) -> list[Machine]:
    machines = _of_sadf(path, text, warnings) if _is_sadf(text) else [_of_text(path, text, warnings)]
    machines = [(host, reports) for host, reports in machines if reports]
    if not machines:
        raise refuse(path, 0, "it has no interval")
    return machines


def _is_sar(lines: Iterable[str]) -> bool:
    """Whether one of these lines is a heading of sar -d or -b after a time of day."""
    matches = (_STAMPED.match(line) for line in lines)
    return any(match and _WANTED.match(match["rest"]) for match in matches)


def _of_text(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    """The machine and the intervals of sar -d and -b; what is cut is told in `warnings`. Raises SourceError."""
    machine: Host | None = None
    names: list[str] | None = None
    latest: dict[str, Report] = {}  # by the time of day, which comes again the next day
    reports: list[Report] = []
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        stamped = _STAMPED.match(line)
        if stamped is None:
            machine = machine or host_of(line)
            names = names if line.strip() else None
        elif _WANTED.match(stamped["rest"]):
            names = stamped["rest"].split()
        elif "RESTART" in line:
            names = None
        elif names is not None and not stamped["rest"].startswith("COM "):
            device, columns, values = ALL, names, stamped["rest"].split()
            require_width(path, at, values, names)
            if "DEV" in names:  # the last column with -p, -h and -j, else the first
                device, columns, values = device_apart("DEV", names, values)
            stamp = stamped["stamp"].translate(_MARKS)
            report = latest.get(stamp)
            if report is None or device in report.devices:
                report = latest[stamp] = Report(stamp, {})
                reports.append(report)
            report.devices[device] = metrics_of(path, at, columns, values, warnings)
    return machine, reports


def _is_sadf(text: str) -> bool:
    """Whether this is one of its exports of devices."""
    start = text.lstrip()[:1]
    if start == "{":
        return '"sysstat"' in text and ('"disk-device"' in text or '"io-reads"' in text)
    return _HEADING.search(text) is not None or _SINGLE.search(text) is not None


def _of_sadf(path: str, text: str, warnings: list[str]) -> list[Machine]:
    """The machines and their intervals. Raises SourceError."""
    if text.lstrip().startswith("{"):
        return [
            (host, [_of_json(path, each, warnings) for each in host_samples if "disk" in each or "io" in each])
            for host, host_samples in hosts_of(path, text)
        ]
    moments = _columns(path, text, warnings) if _HEADING.search(text) else _single(path, text, warnings)
    machines: dict[str, list[Report]] = {}
    for (name, _), report in moments.items():
        machines.setdefault(name, []).append(report)
    return [
        (Host(name=name, kernel="", cpus=0, cpu_model="", memory_bytes=0), reports)
        for name, reports in machines.items()
    ]


def _columns(path: str, text: str, warnings: list[str]) -> Moments:
    """The lines of -d; with -h those of all devices of a moment are one line."""
    names: list[str] = []
    moments: Moments = {}
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        if line.startswith("#"):
            names = line.removesuffix("[...]").split(";")[3:] if _HEADING.match(line) else []
            continue
        fields = line.split(";")
        if not names or not line.strip() or fields[1:2] == [str(_APART)]:
            continue
        if len(fields) < 4 or (len(fields) - 3) % len(names):
            raise refuse(path, at, f"{len(fields)} values under {len(names) + 3} headings")
        report = moments.setdefault((fields[0], fields[2]), Report(fields[2], {}))
        for first in range(3, len(fields), len(names)):
            values = fields[first : first + len(names)]
            of_one = names[0] == "DEV"
            device = device_name(path, at, values[0]) if of_one else ALL
            own = slice(1 if of_one else 0, None)
            report.devices[device] = metrics_of(path, at, names[own], values[own], warnings)
    return moments


def _single(path: str, text: str, warnings: list[str]) -> Moments:
    """The lines of -p: machine, interval, moment, device, column, value."""
    moments: Moments = {}
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        fields = line.split("\t")
        if len(fields) != 6 or fields[1] == str(_APART) or not _SINGLE_COLUMNS.search(fields[4]):
            continue
        report = moments.setdefault((fields[0], fields[2]), Report(fields[2], {}))
        device = ALL if fields[3] == "-" else device_name(path, at, fields[3])
        own = report.devices.setdefault(device, {})
        own.update(metrics_of(path, at, fields[4:5], fields[5:6], warnings))
    return moments


def _of_json(path: str, each: dict[str, Any], warnings: list[str]) -> Report:
    moment = each.get("timestamp")
    zone = " UTC" if isinstance(moment, dict) and moment.get("utc") == 1 else ""
    stamp = (
        f"{moment.get('date', '')} {moment.get('time', '')}{zone}" if isinstance(moment, dict) else str(moment or "")
    )
    devices = {}
    whole = each.get("io")
    if isinstance(whole, dict):
        devices[ALL] = _flat(path, whole, warnings)
    for disk in records(path, each.get("disk", [])):
        devices[device_name(path, 0, disk.get("disk-device"))] = _flat(path, disk, warnings)
    return Report(stamp, devices)


def _flat(path: str, fields: dict[str, Any], warnings: list[str]) -> dict[str, float]:
    """The columns of an object and of the objects in it."""
    cells = {name: value for name, value in fields.items() if name != "disk-device"}
    for name in [name for name, value in cells.items() if isinstance(value, dict)]:
        cells.update(cells.pop(name))
    return metrics_of(path, 0, [*cells], [str(value) for value in cells.values()], warnings)

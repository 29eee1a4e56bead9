"""Reports of devices as iostat and sar print them; what their columns mean, by name, never by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from iocast import metrics
from iocast.model.run import Host
from iocast.tools.foreign_numbers import number_of, whole, whole_of
from iocast.tools.source_files import refuse, whole_lines

KIB, MIB, SECTOR = 1024, 1 << 20, 512
MS_NS = 1_000_000
MOVED = (metrics.READ_BYTES_PER_S, metrics.WRITE_BYTES_PER_S, metrics.DISCARD_BYTES_PER_S)

# Column -> (metric, factor). Their kB and MB are of 1024; a column with 0 is known, and left out.
COLUMNS: Mapping[str, tuple[str, float]] = {
    "tps": (metrics.IOS_PER_S, 1),
    "r/s": (metrics.READS_PER_S, 1),
    "w/s": (metrics.WRITES_PER_S, 1),
    "d/s": (metrics.DISCARDS_PER_S, 1),
    "f/s": (metrics.FLUSHES_PER_S, 1),
    "rtps": (metrics.READS_PER_S, 1),
    "wtps": (metrics.WRITES_PER_S, 1),
    "dtps": (metrics.DISCARDS_PER_S, 1),
    "rrqm/s": (metrics.READ_MERGES_PER_S, 1),
    "wrqm/s": (metrics.WRITE_MERGES_PER_S, 1),
    "drqm/s": (metrics.DISCARD_MERGES_PER_S, 1),
    "rqm/s": (metrics.MERGES_PER_S, 1),
    **{f"{letter}kB/s": (metric, KIB) for letter, metric in zip("rwd", MOVED, strict=True)},
    **{f"{letter}MB/s": (metric, MIB) for letter, metric in zip("rwd", MOVED, strict=True)},
    "rsec/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "wsec/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "rd_sec/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "wr_sec/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "bread/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "bwrtn/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "bdscd/s": (metrics.DISCARD_BYTES_PER_S, SECTOR),
    "kB/s": (metrics.BYTES_PER_S, KIB),
    "MB/s": (metrics.BYTES_PER_S, MIB),
    "sec/s": (metrics.BYTES_PER_S, SECTOR),
    "kB_read/s": (metrics.READ_BYTES_PER_S, KIB),
    "kB_wrtn/s": (metrics.WRITE_BYTES_PER_S, KIB),
    "kB_dscd/s": (metrics.DISCARD_BYTES_PER_S, KIB),
    "MB_read/s": (metrics.READ_BYTES_PER_S, MIB),
    "MB_wrtn/s": (metrics.WRITE_BYTES_PER_S, MIB),
    "MB_dscd/s": (metrics.DISCARD_BYTES_PER_S, MIB),
    "Blk_read/s": (metrics.READ_BYTES_PER_S, SECTOR),
    "Blk_wrtn/s": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "avgrq-sz": (metrics.SIZE_BYTES, SECTOR),
    "areq-sz": (metrics.SIZE_BYTES, KIB),
    "rareq-sz": (metrics.READ_SIZE_BYTES, KIB),
    "wareq-sz": (metrics.WRITE_SIZE_BYTES, KIB),
    "dareq-sz": (metrics.DISCARD_SIZE_BYTES, KIB),
    "avgqu-sz": (metrics.QUEUE_MEAN, 1),
    "aqu-sz": (metrics.QUEUE_MEAN, 1),
    "await": (metrics.AWAIT_NS, MS_NS),
    "r_await": (metrics.READ_AWAIT_NS, MS_NS),
    "w_await": (metrics.WRITE_AWAIT_NS, MS_NS),
    "d_await": (metrics.DISCARD_AWAIT_NS, MS_NS),
    "f_await": (metrics.FLUSH_AWAIT_NS, MS_NS),
    "%util": (metrics.UTIL_PERCENT, 1),
    "util": (metrics.UTIL_PERCENT, 1),
    # Totals since boot, shares of merges, and svctm, which never meant what its name says.
    **dict.fromkeys(
        ("kB_read", "kB_wrtn", "kB_dscd", "MB_read", "MB_wrtn", "MB_dscd", "Blk_read", "Blk_wrtn", "kB_w+d"), ("", 0)
    ),
    # The exports of sadf.
    "rd_sec": (metrics.READ_BYTES_PER_S, SECTOR),
    "wr_sec": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "dc_sec": (metrics.DISCARD_BYTES_PER_S, SECTOR),
    **{f"{letter}kB": (metric, KIB) for letter, metric in zip("rwd", MOVED, strict=True)},
    "bread": (metrics.READ_BYTES_PER_S, SECTOR),
    "bwrtn": (metrics.WRITE_BYTES_PER_S, SECTOR),
    "bdscd": (metrics.DISCARD_BYTES_PER_S, SECTOR),
    "util-percent": (metrics.UTIL_PERCENT, 1),
    **dict.fromkeys(("%rrqm", "%wrqm", "%drqm", "%rqm", "rrqm", "wrqm", "drqm", "svctm"), ("", 0)),
}
FIRST_LINES = 20  # not blank: the machine, the time and the processors stand before the first device
_HUMAN = {"B": 1, "k": KIB, "M": MIB, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_SYSTEM = re.compile(
    r"^(?P<system>\w+) (?P<release>\S+) \((?P<host>[^)]*)\)\s+(?P<date>\S+)(?:\s+\S+)?(?:\s+\((?P<cpus>\d{1,6}) CPU\))?"
)

_HEADING = re.compile(r"^(?:\s*Device:?\s|.*\sDevice:?\s*$)")
_RATES = re.compile(r"\b(?:tps|r/s)\b")
_TIME = re.compile(r"\d[:.]\d\d[:.]\d\d")
_CPU = re.compile(r"^\s*avg-cpu:")
_STAMPED = re.compile(r"^(?P<stamp>\d{1,2}[:.]\d\d[:.]\d\d(?: [AP]M)?)\s+(?P<rest>\S.*)$")
_WANTED = re.compile(r"^(?:DEV\s+tps\b|tps\s+rtps\b|tps\s[^\t\v]*\sDEV\s*$)")
ALL = "all"  # the one device of sar -b


class Report(Struct, frozen=True):
    """One report: a moment ("" when it is not stated) and, for each device, its metrics."""

    stamp: str
    devices: dict[str, dict[str, float]]


def _host_of(line: str) -> Host | None:
    """The machine of the first line of both tools."""
    found = _SYSTEM.match(line)
    if not found:
        return None
    return Host(
        name=found["host"],
        kernel=f"{found['system']} {found['release']}",
        cpus=whole_of(found["cpus"]) or 0,
        cpu_model="",
        memory_bytes=0,
    )


def metrics_of(
    path: str, at: int, names: Sequence[str], values: Sequence[str], warnings: list[str]
) -> dict[str, float]:
    """The columns of one device that are known; the others are told. Raises SourceError for a value that is none."""
    found = {}
    for name, text in zip(names, values, strict=True):
        if name not in COLUMNS:
            unknown = f'{path}: unknown column "{name[:40]}": left out'
            warnings += [] if unknown in warnings else [unknown]
            continue
        metric, factor = COLUMNS[name]
        if factor:
            found[metric] = _value_of(path, at, name, text, factor)
    return found


def _value_of(path: str, at: int, name: str, text: str, factor: float) -> float:
    """A value with the factor of its column; in --human output the suffix says the unit instead."""
    shown = text.replace(",", ".").removesuffix("%")  # a decimal comma: there are no thousands in these tools
    if shown[-1:] in _HUMAN and factor in (SECTOR, KIB, MIB):
        shown, factor = shown[:-1], _HUMAN[shown[-1:]]
    value = number_of(shown)
    if value is None:
        raise refuse(path, at, f'{name} is "{text[:40]}", not a number')
    if value < 0:
        raise refuse(path, at, f"{name} is {text[:40]}: the counter went back or was reset")
    return value * factor


def is_iostat(lines: Iterable[str]) -> bool:
    """Whether one of the first of these lines is a heading of iostat's devices: deep in a text it is quoted."""
    return any(_HEADING.match(line) and _RATES.search(line) for line in islice(lines, FIRST_LINES))


def is_sar(lines: Iterable[str]) -> bool:
    """Whether one of these lines is a heading of sar -d or -b after a time of day."""
    found = (_STAMPED.match(line) for line in lines)
    return any(match and _WANTED.match(match["rest"]) for match in found)


def iostat_text(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    """The machine and the reports of iostat's text; what is cut is told in `warnings`. Raises SourceError."""
    machine: Host | None = None
    reports: list[Report] = []
    names: list[str] | None = None
    stamp = ""
    told: set[str] = set()  # the columns of this report: with -h it stands in several tables
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        words = line.split()
        if not words:
            names = None
        elif _HEADING.match(line):
            names = [word.rstrip(":") for word in words]
            columns = {*names} - {"Device"}
            if not reports or not told or told & columns:
                reports.append(Report(stamp, {}))
                told = set()
            told |= columns
        elif names is not None:
            if len(words) != len(names):
                raise refuse(path, at, f"{len(words)} values under {len(names)} headings")
            place = names.index("Device")
            rest, heads = words[:place] + words[place + 1 :], names[:place] + names[place + 1 :]
            own = reports[-1].devices.setdefault(words[place], {})
            own.update(metrics_of(path, at, heads, rest, warnings))
        elif _CPU.match(line):
            told = set()
        elif found := _host_of(line):
            machine = found
        elif _TIME.search(line):
            stamp, told = line.strip(), set()
    return machine, reports


def hosts_of(path: str, text: str) -> list[tuple[Host, list[dict[str, Any]]]]:
    """The machines of sysstat's JSON with their statistics. Raises SourceError."""
    try:
        return [
            (
                Host(
                    name=str(each.get("nodename", "")),
                    kernel=f"{each.get('sysname', '')} {each.get('release', '')}".strip(),
                    cpus=whole(path, 0, str(each.get("number-of-cpus", 0)), "number-of-cpus"),
                    cpu_model="",
                    memory_bytes=0,
                ),
                [dict(one) for one in each.get("statistics", [])],
            )
            for each in json.loads(text)["sysstat"]["hosts"]
        ]
    except json.JSONDecodeError as error:
        raise refuse(path, error.lineno, f"the JSON is truncated or damaged: {error.msg}") from None
    except RecursionError:
        raise refuse(path, 0, "the JSON is damaged: it is nested too deeply") from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise refuse(path, 0, f"not the JSON of sysstat: {str(error)[:80]}") from None


def iostat_json(path: str, text: str, warnings: list[str]) -> list[tuple[Host | None, list[Report]]]:
    """The machines and the reports of `iostat -o JSON`. Raises SourceError."""
    found: list[tuple[Host | None, list[Report]]] = []
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
        found.append((host, reports))
    return found


def records(path: str, found: Any) -> list[dict[str, Any]]:
    """A list of objects. Raises SourceError for anything else."""
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise refuse(path, 0, "not the JSON of sysstat: a list of devices is missing")
    return found


def device_name(path: str, at: int, found: Any) -> str:
    """The name of a device. Raises SourceError when there is none."""
    if not isinstance(found, str) or not found.strip():
        raise refuse(path, at, "a device without its name")
    return found


def _disk(path: str, disk: dict[str, Any], warnings: list[str]) -> dict[str, float]:
    names = [name for name in disk if name != "disk_device"]
    return metrics_of(path, 0, names, [str(disk[name]) for name in names], warnings)


def sar_text(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    """The machine and the intervals of sar -d and -b; what is cut is told in `warnings`. Raises SourceError."""
    machine: Host | None = None
    names: list[str] | None = None
    latest: dict[str, Report] = {}  # by the time of day, which comes again the next day
    found: list[Report] = []
    for at, line in enumerate(whole_lines(path, text, warnings), 1):
        stamped = _STAMPED.match(line)
        if stamped is None:
            machine = machine or _host_of(line)
            names = names if line.strip() else None
        elif _WANTED.match(stamped["rest"]):
            names = stamped["rest"].split()
        elif "RESTART" in line:
            names = None
        elif names is not None and not stamped["rest"].startswith("COM "):
            values = stamped["rest"].split()
            if len(values) != len(names):
                raise refuse(path, at, f"{len(values)} values under {len(names)} headings")
            device, columns = ALL, names
            if "DEV" in names:
                place = names.index("DEV")  # the last column with -p, -h and -j, else the first
                device, columns = values.pop(place), names[:place] + names[place + 1 :]
            report = latest.get(stamped["stamp"])
            if report is None or device in report.devices:
                report = latest[stamped["stamp"]] = Report(stamped["stamp"], {})
                found.append(report)
            report.devices[device] = metrics_of(path, at, columns, values, warnings)
    return machine, found

"""iostat's reports of devices: text of every sysstat, with or without -x, and JSON.

What it is: what `iostat`, `iostat -x` (also -d -k -m -t -N -s --human, LC_ALL of any decimal sign) and `iostat -o JSON`
print: rates and means of each device for each interval, without a load of anybody's.
What is read: columns go by their names, so every layout from sysstat 9 to 12 is understood; kB and MB are of 1024, the
old avgrq-sz counts sectors. The first of several reports covers all time since boot and is left out (also of
iostat -y, which does not say so). Nothing is made of svctm.
What it cannot see: who did the I/O, and any percentile: these are means of intervals. %util says nothing about
devices that serve many requests at once.
What is refused: a column that is not known, a device line of another length than its heading, a value that is no
number. A last line that is cut is left out with a warning.
"""

from __future__ import annotations

import json
import re
from typing import Any

from iocast.imports.device_reports import Report, host_of, metrics, observation
from iocast.imports.source_files import Head, read_text, refuse
from iocast.imports.stated_rows import UNKNOWN_HOST, Row, run
from iocast.model.run import Host, Run, Source

HEADING = re.compile(r"^\s*(?:Device:?\s|.*\sDevice:?\s*$)")
CPU = re.compile(r"^\s*avg-cpu:")
SINCE_BOOT = "The first report, of all time since boot, is left out (of iostat -y it was an interval like the others)."
ONLY_ONE = "There is one report only: unless iostat was called with -y, it is the mean of all time since boot."


def sniff(head: Head) -> bool:
    """A heading of devices after the line of the machine, or sysstat's JSON with disks."""
    if head.text.lstrip().startswith("{"):
        return '"sysstat"' in head.text and '"disk_device"' in head.text
    lines = list(head.lines())
    return any(HEADING.match(line) and re.search(r"\b(tps|r/s)\b", line) for line in lines)


def read(paths: tuple[str, ...]) -> Run:
    """The reports of each file, as the phases of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    host = UNKNOWN_HOST
    for path in paths:
        text = read_text(path)
        machine, reports = _from_json(path, text) if text.lstrip().startswith("{") else _from_text(path, text, warnings)
        host = machine or host
        if not any(report.devices for report in reports):
            raise refuse(path, 0, "there is no report of a device in it")
        if len(reports) > 1:
            reports = reports[1:]
            warnings.append(SINCE_BOOT)
        else:
            warnings.append(ONLY_ONE)
        row, said = observation("iostat", "iostat", reports)
        rows.append(row)
        warnings += said
    return run(Source(tool="iostat", files=paths), rows, warnings=warnings, host=host)


def _from_text(path: str, text: str, warnings: list[str]) -> tuple[Host | None, list[Report]]:
    machine: Host | None = None
    reports: list[Report] = []
    names: list[str] | None = None
    stamp = ""
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            names = None
        elif HEADING.match(line):
            names = [word.rstrip(":") for word in words]
            reports.append(Report(stamp, {}))
        elif names is not None:
            if len(words) != len(names):
                if at == len(lines) and not text.endswith("\n"):
                    warnings.append(f"{path}:{at}: the last line is cut: left out")
                    break
                raise refuse(path, at, f"{len(words)} values under {len(names)} headings")
            place = names.index("Device")
            rest, columns = words[:place] + words[place + 1 :], names[:place] + names[place + 1 :]
            reports[-1].devices[words[place]] = metrics(path, at, columns, rest)
        elif not CPU.match(line) and (found := host_of(line)):
            machine = found
        elif re.search(r"\d[:.]\d\d[:.]\d\d", line):
            stamp = line.strip()
    return machine, reports


def _from_json(path: str, text: str) -> tuple[Host | None, list[Report]]:
    try:
        hosts: list[dict[str, Any]] = json.loads(text)["sysstat"]["hosts"]
        first = hosts[0]
        machine = Host(
            name=str(first.get("nodename", "")),
            kernel=f"{first.get('sysname', '')} {first.get('release', '')}".strip(),
            cpus=int(first.get("number-of-cpus", 0)),
            cpu_model="",
            memory_bytes=0,
        )
        reports = [
            Report(
                str(each.get("timestamp", "")),
                {str(disk["disk_device"]): _disk(path, disk) for disk in each.get("disk", [])},
            )
            for each in first["statistics"]
        ]
    except json.JSONDecodeError as error:
        raise refuse(path, error.lineno, f"the JSON is cut or damaged: {error.msg}") from None
    except RecursionError:
        raise refuse(path, 0, "the JSON is damaged: it is nested without end") from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise refuse(path, 0, f"the JSON is not that of iostat: {str(error)[:80]}") from None
    return machine, reports


def _disk(path: str, disk: dict[str, Any]) -> dict[str, float]:
    names = [name for name in disk if name != "disk_device"]
    return metrics(path, 0, names, [str(disk[name]) for name in names])

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

from collections.abc import Sequence

from iocast.model.run import Host, Run
from iocast.tools.device_series import observed
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.sysstat.device_reports import Report, iostat_json, iostat_text, is_iostat

SINCE_BOOT = "The first report covers the time since boot and is left out (with iostat -y it was a normal interval)."
ONLY_ONE = "Only one report: unless iostat ran with -y, it is the mean since boot."


def sniff(head: Head) -> bool:
    """A heading of devices after the line of the machine, or sysstat's JSON with disks."""
    if head.text.lstrip().startswith("{"):
        return '"sysstat"' in head.text and '"disk_device"' in head.text
    return is_iostat(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The reports of each machine, as the phases of one run. Raises SourceError."""
    warnings: list[str] = []
    machines: list[tuple[Host | None, Sequence[Report]]] = []
    for path in paths:
        text = read_text(path)
        found = (
            iostat_json(path, text, warnings) if text.lstrip().startswith("{") else [iostat_text(path, text, warnings)]
        )
        found = [(host, reports) for host, reports in found if any(report.devices for report in reports)]
        if not found:
            raise refuse(path, 0, "it has no device report")
        for host, reports in found:
            warnings.append(SINCE_BOOT if len(reports) > 1 else ONLY_ONE)
            machines.append((host, reports[1:] or reports))
    return observed("iostat", paths, machines, warnings)

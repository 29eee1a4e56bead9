"""iostat's reports of devices: text of every sysstat, with or without -x, and JSON.

What it is: what `iostat`, `iostat -x` (also -d -k -m -t -N -s --human, LC_ALL of any decimal sign) and `iostat -o JSON`
print: rates and means of each device for each interval; the load is unknown.
What is read: columns are found by name, so every layout from sysstat 9 to 12 is understood; kB and MB are of 1024, the
old avgrq-sz counts sectors. The first of several reports covers the time since boot and is left out (also with
iostat -y, which does not say so). svctm is ignored.
What it cannot see: who did the I/O, and any percentile: these are means of intervals. %util says nothing about
devices that serve many requests in parallel.
What is refused: an unknown column, a device line of another length than its heading, a value that is not a
number. A truncated last line is left out with a warning.
"""

from __future__ import annotations

from iocast.formats.source_files import Head, read_text, refuse
from iocast.formats.sysstat.device_reports import iostat_json, iostat_text, is_iostat
from iocast.imports.device_series import observation
from iocast.imports.stated_rows import UNKNOWN_HOST, Row, run
from iocast.model.run import Run, Source

SINCE_BOOT = "The first report covers the time since boot and is left out (with iostat -y it was a normal interval)."
ONLY_ONE = "Only one report: unless iostat ran with -y, it is the mean since boot."


def sniff(head: Head) -> bool:
    """A heading of devices after the line of the machine, or sysstat's JSON with disks."""
    if head.text.lstrip().startswith("{"):
        return '"sysstat"' in head.text and '"disk_device"' in head.text
    return is_iostat(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The reports of each file, as the phases of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    host = UNKNOWN_HOST
    for path in paths:
        text = read_text(path)
        machine, reports = (
            iostat_json(path, text) if text.lstrip().startswith("{") else iostat_text(path, text, warnings)
        )
        host = machine or host
        if not any(report.devices for report in reports):
            raise refuse(path, 0, "it has no device report")
        if len(reports) > 1:
            reports = reports[1:]
            warnings.append(SINCE_BOOT)
        else:
            warnings.append(ONLY_ONE)
        row, said = observation("iostat", reports)
        rows.append(row)
        warnings += said
    return run(Source(tool="iostat", files=paths), rows, warnings=warnings, host=host)

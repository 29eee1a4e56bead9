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

from collections.abc import Sequence

from iocast.model.run import Host, Run
from iocast.tools.device_series import observed
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.sysstat.device_reports import Report, is_sar, sar_text
from iocast.tools.sysstat.sadf_exports import is_sadf, sadf_reports


def sniff(head: Head) -> bool:
    """A heading of -d or -b after a time of day, or an export of sadf."""
    return is_sadf(head.text) or is_sar(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The intervals of each machine, as the phases of one run. Raises SourceError."""
    warnings: list[str] = []
    machines: list[tuple[Host | None, Sequence[Report]]] = []
    for path in paths:
        text = read_text(path)
        found = sadf_reports(path, text, warnings) if is_sadf(text) else [sar_text(path, text, warnings)]
        found = [(host, reports) for host, reports in found if reports]
        if not found:
            raise refuse(path, 0, "it has no interval")
        machines += found
    return observed("sar", paths, machines, warnings)

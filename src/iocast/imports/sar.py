"""sar's text: -d (devices) and -b (all devices together).

What it is: what `sar -d` and `sar -b` print, from a live machine or a daily file: means of each interval.
What is read: columns are found by name; sectors and blocks are of 512 bytes, kB of 1024. -b becomes one device "all".
The averages at the end are left out (they are computed from the intervals), and so are restart lines.
What it cannot see: who did the I/O, and any percentile.
What is refused: an unknown column, a line of another length than its heading, a value that is not a number.
A truncated last line is left out with a warning. Other sar reports in the file (-u, -r ...) are skipped.
"""

from __future__ import annotations

from iocast.formats.source_files import Head, read_text, refuse
from iocast.formats.sysstat.device_reports import is_sar, sar_text
from iocast.imports.device_series import observation
from iocast.imports.stated_rows import UNKNOWN_HOST, Row, run
from iocast.model.run import Run, Source


def sniff(head: Head) -> bool:
    """A heading of -d or -b after a time of day."""
    return is_sar(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The intervals of each file, as the phases of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    host = UNKNOWN_HOST
    for path in paths:
        machine, reports = sar_text(path, read_text(path), warnings)
        host = machine or host
        if not reports:
            raise refuse(path, 0, "it has no interval")
        row, said = observation("sar", reports)
        rows.append(row)
        warnings += said
    return run(Source(tool="sar", files=paths), rows, warnings=warnings, host=host)

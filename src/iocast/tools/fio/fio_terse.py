"""fio's terse output ("minimal"), versions 2 to 5.

What it is: one line per job, fields separated by semicolons, as `fio --minimal` or --output-format=terse writes it.
What is read: the fields are found by where the percentiles stand (twenty for each direction), so that version 2
with and without trims, disks and a description at the end are all understood. Times are microseconds in every
version, amounts KiB.
What it cannot see: rw=, sizes, users, depth, and the number of I/Os: it is KiB over a size when exactly one
multiple of 512 bytes agrees with the printed rate, else rate x time.
Of several states of the same jobs (--status-interval) the last one counts.
What is refused: a line with another number of fields than its version has; a version that is not 2 to 5.
"""

from __future__ import annotations

from iocast.model.run import Run, Source
from iocast.tools.fio.fio_load import Load
from iocast.tools.fio.fio_rows import CLOCK_NOTE, PACE_NOTE, notes_on, rows_of
from iocast.tools.fio.terse_lines import is_line, last_states, lines
from iocast.tools.source_files import Head, read_text
from iocast.tools.stated_rows import Row, run


def sniff(head: Head) -> bool:
    """A line that begins with the version and ends in percentiles."""
    return any(is_line(line) and "%=" in line for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The jobs of all these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    versions: dict[str, None] = {}
    warnings: list[str] = []
    for path in paths:
        found = list(lines(path, read_text(path)))
        last = last_states(found)
        if len(last) < len(found):
            warnings.append(f"{path}: {len(found) - len(last)} earlier states of the unfinished run are left out")
        for line in last:
            rows += rows_of(line.result(), Load(fsync_every=0), warnings)
            versions |= {line.version: None} if line.version else {}
    source = Source(tool="fio", version=", ".join(versions), files=paths, notes=notes_on(rows, CLOCK_NOTE, PACE_NOTE))
    return run(source, rows, warnings=warnings)

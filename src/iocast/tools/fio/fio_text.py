"""fio's normal output for people, of fio 1.50 to 3.x.

What it is: what fio prints when no other format is asked for, also with a client's <host> before each line.
What is read: each job (or group) is a row; I/Os from its `issued` line, bytes, run time, latencies in whatever unit
each line says, percentiles, latency buckets, fsync times; from the head line rw=, sizes, engine and depth.
What it cannot see: whether I/O was direct, which file was used, whether a rate was given.
What is refused: a job without its `issued` line is truncated: it is left out with a warning, and the file is refused
when no complete job is left; so is one that reports reads and writes as one (unified_rw_reporting=mixed). The minb and
maxb of fio 1 and 2 are never read: they count KB of 1000, all others of 1024.
"""

from __future__ import annotations

from iocast.model.run import Run, Source
from iocast.tools.fio.fio_load import told_by_start
from iocast.tools.fio.fio_rows import CLOCK_NOTE, PACE_NOTE, groups_of, notes_on, rows_of
from iocast.tools.fio.normal_text import Output, begins
from iocast.tools.fio.results import ALL
from iocast.tools.source_files import Head, read_text
from iocast.tools.stated_rows import Row, at_once, run


def sniff(head: Head) -> bool:
    """A head line of a job, or the line that begins its result."""
    return begins(head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The jobs of all these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    versions: dict[str, None] = {}
    dates: dict[str, None] = {}
    for order, path in enumerate(paths, 1):
        place = f"file {order}, output " if len(paths) > 1 else "output "
        output = Output(path, read_text(path))
        jobs = output.finished()
        warnings += output.warnings
        versions |= dict.fromkeys(output.versions)
        dates |= dict.fromkeys(job.date for job in jobs if job.date)
        own: list[Row] = []
        groups: list[str] = []
        for job in jobs:
            row_list = rows_of(job.result(), told_by_start(job.start, job.jobs), warnings)
            own += row_list
            groups += groups_of(row_list, "" if job.name == ALL else f"group {job.group} of {place}{job.output}")
        rows += at_once(own, groups)
    notes = notes_on(rows, CLOCK_NOTE, PACE_NOTE)
    if dates:
        notes += (f"fio printed the end time {next(iter(dates))}, without a time zone.",)
    source = Source(tool="fio", version=", ".join(versions), files=paths, notes=notes)
    return run(source, rows, warnings=warnings)

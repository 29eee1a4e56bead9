"""report: a tape is summed up in one pass over its reels."""

from __future__ import annotations

from iocast.model.report import Report
from iocast.sessions.live.playing import Playing


def report_of_tape(folder: str, *, charts: bool = False) -> Report:
    """The report of a tape. Raises ArchiveError, SourceError."""
    from iocast.analyse.live.tape_summary import summarise
    from iocast.report.tape_report import tape_report

    playing = Playing(folder)
    phases = playing.run.phases
    began = [record.measurement.started_unix_ns for record in phases]
    ends = [record.measurement.started_unix_ns + record.measurement.elapsed_ns for record in phases]
    length_ns = max(ends, default=0) - min(began, default=0)
    summary = summarise(playing.moments(lambda: False), playing.interval_ns, length_ns)
    return tape_report(playing.run, summary, charts=charts)

"""SLOB: the table that its awr_info.sh makes of the AWR reports of several runs.

What it is: "FILE|SESSIONS|ELAPSED|...|TOP WAIT|" and a line for each report, of SLOB 2.1 to 2.5 (statspack_info.sh
makes the same).
What is read: a row for each report, with as many users as sessions: reads and writes a second with their MB/s, over
the elapsed time. The mean of the reads is that of "db file sequential read", where no read was waited for otherwise
(direct path, db file parallel read): else it is the mean of a part, and left out.
What it cannot see: percentiles; how long the sessions were not waiting for a read, so that nothing follows from their
number; the database's own cache; the sessions, where the files did not end in their number (awr.txt.128).
Give the reports themselves for their histograms.
What is refused: columns that are not awr_info.sh's; figures that are not numbers.
"""

from __future__ import annotations

from typing import Final

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Coarse
from iocast.model.workload import Op
from iocast.text import counted
from iocast.tools.foreign_numbers import number
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

NEEDED: Final = ("FILE", "SESSIONS", "ELAPSED", "PREADS", "READ_MBS", "PWRITES", "WRITE_MBS")
MEAN: Final = "DFSR_LAT"
OTHERWISE: Final = ("DPR_LAT", "DFPR_LAT")
MIB: Final = 1 << 20  # READ_MBS is bytes / 2^20
MIXED_NOTE: Final = "No mean is given where reads were also waited for by direct path or in parallel: it is of a part."


def sniff(head: Head) -> bool:
    """The line of columns."""
    return any(_columns(line) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The reports of these tables, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    rows = [row for path in paths for row in _rows(path, read_whole_lines(path, warnings))]
    return run(Source(tool="SLOB", files=paths, notes=(MIXED_NOTE,)), rows, warnings=warnings)


def _columns(line: str) -> list[str]:
    names = [each.strip() for each in line.strip().split("|")]
    return names if set(NEEDED) <= set(names) else []


def _rows(path: str, text: str) -> list[Row]:
    columns: list[str] = []
    rows = []
    for at, line in enumerate(text.splitlines(), 1):
        if column_texts := _columns(line):
            columns = column_texts
        elif columns and line.count("|") >= len(NEEDED):
            cells = [each.strip() for each in line.strip().split("|")]
            if len(cells) != len(columns):
                raise refuse(path, at, f"{len(cells)} cells under {len(columns)} columns")
            rows.append(_row(path, at, dict(zip(columns, cells, strict=True))))
    if not rows:
        raise refuse(path, 0, "columns without a report: awr_info.sh found none")
    return rows


def _figure(path: str, at: int, cells: dict[str, str], name: str) -> float:
    """A figure; 0 where awr_info.sh left it blank."""
    text = cells.get(name, "").replace(",", "")
    return number(path, at, text, name) if text else 0.0


def _row(path: str, at: int, cells: dict[str, str]) -> Row:
    elapsed_s = _figure(path, at, cells, "ELAPSED")
    if not elapsed_s:
        raise refuse(path, at, "no elapsed time")
    sessions = round(_figure(path, at, cells, "SESSIONS"))
    mean_us = 0.0 if any(_figure(path, at, cells, each) for each in OTHERWISE) else _figure(path, at, cells, MEAN)
    sides: tuple[tuple[Op, str, str, float], ...] = (
        ("read", "PREADS", "READ_MBS", mean_us),
        ("write", "PWRITES", "WRITE_MBS", 0.0),
    )
    ops = []
    for op, rate, size, mean in sides:
        ios = round(_figure(path, at, cells, rate) * elapsed_s)
        moved = round(_figure(path, at, cells, size) * elapsed_s * MIB)
        times = stated(Coarse(total=ios, mean_ns=mean * 1e3)) if mean and ios else Histogram()
        if ios:
            ops.append(OpFigures(op=op, ios=ios, bytes=moved, times=times))
    return Row(
        name=counted(sessions, "session") if sessions else cells["FILE"],
        test="+".join(each.op for each in ops) or "idle",
        ops=tuple(ops),
        elapsed_ns=round(elapsed_s * SECOND_NS),
        users=sessions or None,
        derived=("ios", "size"),
    )

"""The report of `iocast runs`: a table with a line for each run."""

from __future__ import annotations

import shlex
from pathlib import PurePath

from iocast import text
from iocast.archive.catalogue import Found
from iocast.model.report import Cell, Column, Report, Row, Table
from iocast.model.summary import DEAD
from iocast.report.wording import section
from iocast.text import shown

COLUMNS = (
    Column("run", "run"),
    Column("started", "started", spare=1),
    Column("job", "job", spare=2),
    Column("target", "target"),
    Column("host", "host", spare=4),
    Column("rows", "rows"),
    Column("best_rate", "max IOPS", "rate", spare=3),
    Column("best_throughput", "max MB/s", "bytes_per_s", spare=3),
    Column("grade", "grade", "grade"),
    Column("trust", "trust", "grade"),
    Column("status", "status"),
)
NOTES = (Column("tags", "tags", "names", spare=3), Column("note", "note", spare=5))  # only where a run has some


def listing(runs: tuple[Found, ...], total: int, directory: str, inside: str = "") -> Report:
    """The runs as one table; those that cannot be read say why. `inside` is the option by which names are found."""
    rows = tuple(_row(run) for run in runs)
    more = () if total == len(runs) else (f"{text.counted(total - len(runs), 'older run')} not shown.",)
    columns = (*COLUMNS, *(column for column in NOTES if any(row.cells.get(column.key) for row in rows)))
    table = Table("", columns, rows, key="runs", notes=more)
    dead = any(run.summary and run.summary.status == DEAD for run in runs)
    return Report(
        title=f"Runs · {shown(str(PurePath(directory)))}",
        verdict=f"{text.counted(total, 'run')}, newest first.",
        sections=(section("runs", tables=(table,)),),
        kind="listing",
        next_steps=(
            f"To see one: iocast show RUN{inside}. To compare: iocast compare RUN RUN{inside}.",
            *([f"To close dead runs: iocast runs --mend {shlex.quote(directory)}"] if dead else []),
        ),
    )


def _row(run: Found) -> Row:
    line = run.summary
    notes: dict[str, Cell] = {"tags": run.notes.tags, "note": " ".join(run.notes.note.split())}
    if line is None:
        cells: dict[str, Cell] = {"run": run.name, "folder": shown(run.folder), "status": "unreadable", "why": run.why}
        return Row({**cells, **notes}, note=run.why)
    return Row(
        {
            "run": run.name,
            "folder": shown(run.folder),
            "run_id": line.run_id,
            "started": text.instant(line.started_unix_ns) if line.started_unix_ns else "",  # an import may not know
            "started_unix_ns": line.started_unix_ns,
            "done_rows": line.rows,
            "planned_rows": line.planned,
            "job": line.name,
            "target": line.target,
            "host": line.host,
            "rows": f"{line.rows} of {line.planned}" if line.rows != line.planned else str(line.rows),
            "best_rate": line.best_rate_per_s,
            "best_throughput": line.best_bytes_per_s,
            "grade": line.grade or "",
            "trust": line.trust or "",
            "status": line.status,
            "verdict": line.verdict,
            **notes,
        }
    )

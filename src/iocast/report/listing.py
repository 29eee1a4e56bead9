"""The report of `iocast runs`: a table with a line for each run."""

from __future__ import annotations

import shlex
from pathlib import PurePath

from iocast import text
from iocast.archive.catalogue import CatalogueEntry
from iocast.model.report import Report
from iocast.model.results.listing import ListedRun, Listing
from iocast.model.summary import DEAD
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.text import iso, shown


def listing(runs: tuple[CatalogueEntry, ...], total: int, directory: str, inside: str = "") -> Report:
    """The runs as one table; those that cannot be read say why. `inside` is the option by which names are found."""
    result = Listing(runs=tuple(map(_listed, runs)))
    more = () if total == len(runs) else (f"{text.counted(total - len(runs), 'older run')} not shown.",)
    nowhere = tuple(name for name in ("tags", "note") if not any(getattr(run, name) for run in result.runs))
    table = result_table(ListedRun, result.runs, key="runs", words={"rows": _done}, notes=more, leave=nowhere)
    dead = any(run.summary and run.summary.status == DEAD for run in runs)
    return Report(
        title=f"Runs · {shown(str(PurePath(directory)))}",
        verdict=f"{text.counted(total, 'run')}, newest first.",
        sections=(section("runs", tables=(table,)),),
        kind="listing",
        result=result,
        next_steps=(
            f"To see one: iocast show RUN{inside}. To compare: iocast compare RUN RUN{inside}.",
            *([f"To close dead runs: iocast runs --mend {shlex.quote(directory)}"] if dead else []),
        ),
    )


def _listed(run: CatalogueEntry) -> ListedRun:
    line, notes = run.summary, run.notes
    note = " ".join(notes.note.split()) or None
    tags = notes.tags or None
    folder = shown(run.folder)
    if line is None:
        return ListedRun(run=run.name, folder=folder, status="unreadable", why=run.why or None, note=note, tags=tags)
    return ListedRun(
        run=run.name,
        folder=folder,
        run_id=line.run_id or None,
        started=iso(line.started_unix_ns),
        started_unix_ns=line.started_unix_ns or None,  # an import may not know
        job=line.name or None,
        target=line.target or None,
        host=line.host or None,
        rows=line.rows,
        planned_rows=line.planned or None,
        best_rate_per_s=line.best_rate_per_s,
        best_throughput_bytes_per_s=line.best_bytes_per_s,
        grade=line.grade or None,
        trust=line.trust or None,
        status=line.status,
        verdict=line.verdict or None,
        note=note,
        tags=tags,
    )


def _done(run: ListedRun) -> str:
    if run.rows is None or run.planned_rows in (run.rows, None):
        return "" if run.rows is None else str(run.rows)
    return f"{run.rows} of {run.planned_rows}"

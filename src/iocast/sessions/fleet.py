"""fleet: the hosts of many run folders beside each other; what each run keeps of its rows is added up by SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from iocast import archive
from iocast.analyse.fleet_table import entries_of, fleet_table, host_rows, host_scores
from iocast.archive.file_names import SPILL
from iocast.archive.fleet_runs import LINES, FleetRun, as_read, fleet_runs, refuse_no_run, run_name, table_lines
from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import ArchiveError
from iocast.model.codes import CountingEngine
from iocast.model.report import Report
from iocast.report.fleet_report import FleetNotes, fleet_report
from iocast.results.fleet import Member, fleet_of, judged_rows, slow_subjects
from iocast.sessions.events import RunsReadWhole
from iocast.sessions.listener import Listener, Quiet
from iocast.sessions.run_card import open_card

NAMED = 3  # jobs that an error names


class FleetRequest(Struct, frozen=True, kw_only=True):
    """Directories of run folders; the job that hosts are compared by, "" for that of most hosts; who counts."""

    directories: tuple[str, ...]
    job: str = ""
    engine: CountingEngine = "duckdb"


def fleet(request: FleetRequest, listener: Listener | None = None) -> Report:
    """Who is slow for its load, what differs there, and all hosts, the fastest first.

    Raises ArchiveError where no finished run of that job is there, AnalysisError where the engine is not.
    """
    every = list(fleet_runs(request.directories))
    done = [run for run in every if run.status in ("done", "")]
    runs, others = _of_job(_with_figures(done, listener or Quiet()), request)
    subjects = {subject: number for number, subject in enumerate(dict.fromkeys(run.subject for run in runs))}
    with temporary_room(SPILL) as room:
        room.put(LINES, table_lines(runs, subjects))
        with fleet_table(room.place / LINES, room.place, request.engine) as table:
            rows = host_rows(table)
            judged = judged_rows(rows)
            entries, scores = entries_of(table, slow_subjects(judged)), host_scores(table)
    result = fleet_of(runs[0].name, _members(runs, request.directories), judged, scores, entries)
    notes = FleetNotes(
        other_jobs=others,
        unfinished=len(every) - len(done),
        load_unknown=any(row.busy_per_s is None for row in rows),
        directories=request.directories,
    )
    return fleet_report(result, notes)


def _with_figures(runs: Sequence[FleetRun], listener: Listener) -> list[FleetRun]:
    """The finished runs with figures; those of runs that keep none are made anew, which takes a while."""
    lacking = sum(run.figures is None for run in runs)
    if lacking:
        listener.tell(RunsReadWhole(lacking))
    return [run for run in map(_figured, runs) if run is not None and run.status == "done"]


def _figured(run: FleetRun) -> FleetRun | None:
    """The run with its figures; None for one that is damaged, or has no rows."""
    if run.figures is not None:
        return run
    with suppress(ArchiveError):
        line = archive.read_summary(run.folder)
        figures = as_read(open_card(run.folder).judged.figures())
        return FleetRun(
            name=line.name,
            target=line.target,
            host=line.host,
            status=line.status,
            started_unix_ns=line.started_unix_ns,
            run_id=line.run_id,
            figures=figures,
            folder=run.folder,
        )
    return None


def _of_job(runs: Sequence[FleetRun], request: FleetRequest) -> tuple[list[FleetRun], tuple[str, ...]]:
    """The runs of one job in the order of time, and the names of other jobs, the one of most hosts first."""
    if not runs:
        raise refuse_no_run(request.directories)
    hosts = Counter(name for name, _ in dict.fromkeys((run.name, run.subject) for run in runs))
    newest = {run.name: run.started_unix_ns for run in sorted(runs, key=lambda run: run.started_unix_ns)}
    jobs = sorted(hosts, key=lambda name: (-hosts[name], -newest[name]))
    job = request.job or jobs[0]
    if job not in hosts:
        named = ", ".join(f'"{name}"' for name in jobs[:NAMED])
        raise ArchiveError(
            f'no finished run of the job "{job}" in {", ".join(request.directories)}', f"hosts ran {named}"
        )
    own = sorted((run for run in runs if run.name == job), key=lambda run: (run.started_unix_ns, run.folder))
    return own, tuple(name for name in jobs if name != job)


def _members(runs: Sequence[FleetRun], directories: Sequence[str]) -> list[Member]:
    """A line for each subject, by its number; runs are in the order of time."""
    newest, counts = {run.subject: run for run in runs}, Counter(run.subject for run in runs)
    return list(_each_member(dict.fromkeys(run.subject for run in runs), newest, counts, directories))


def _each_member(
    subjects: dict[tuple[str, str], None],
    newest: dict[tuple[str, str], FleetRun],
    counts: Counter[tuple[str, str]],
    directories: Sequence[str],
) -> Iterator[Member]:
    for subject in subjects:
        run = newest[subject]
        yield Member(
            host=run.host,
            target=run.target,
            model=run.figures.model if run.figures else None,
            setting=run.figures.setting if run.figures else {},
            runs=counts[subject],
            run=run_name(run.folder, directories),
            folder=run.folder,
        )

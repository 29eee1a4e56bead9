"""What `card`, `run` and `plan` share: the plan of a job on a target, carried out and shown."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from iocast.commands.targets import only_read, with_direct_tried
from iocast.errors import LoadError, SpecError, TargetError
from iocast.jobs import FileSize, Job
from iocast.load import Layout
from iocast.model.plan import Phase, Plan
from iocast.model.target import Target

if TYPE_CHECKING:
    from iocast.model.grading import GradeAsked
    from iocast.model.report import Report
    from iocast.report.card.judged import Judged
    from iocast.runner import Performed

FORMATS = ("terminal", "classic", "json")
RUNS = "iocast-runs"
_MIB = 1 << 20


def adjust(job: Job, size: str | None, time: str | None) -> Job:
    """The job with the size of its work files and the time of its rows changed. Raises SpecError."""
    from iocast.units import parse_duration, parse_size

    if size is not None:
        size_bytes = option_value("--size", size, parse_size)
        if size_bytes < _MIB:
            raise SpecError(f"--size {size}: work files have at least 1MiB", "for example --size 512MiB")
        job = replace(job, file_size=FileSize(size_bytes=size_bytes // _MIB * _MIB))
    if time is not None:
        duration_ns = option_value("--time", time, parse_duration)
        if duration_ns <= 0:
            raise SpecError(f"--time {time}: a row needs some time", "for example --time 10s")
        job = replace(job, phases=tuple(_with_time(phase, duration_ns / 1e9) for phase in job.phases))
    return job


def option_value(name: str, text: str, parse: Callable[[str], int]) -> int:
    """What `parse` makes of an option's value; its complaint names the option. Raises SpecError."""
    try:
        return parse(text)
    except SpecError as error:
        raise SpecError(f"{name}: {error.message}", error.hint) from None


def _with_time(phase: Phase, seconds: float) -> Phase:
    if phase.length.seconds is None:
        return phase
    return replace(phase, length=replace(phase.length, seconds=seconds), until=None)


def is_card(job: Job) -> bool:
    """True for the card and the survey: they measure what the target allows. A job of one's own is run as it is."""
    return job.source == "preset survey" or job.source.startswith("preset card-")


def make_plan(job: Job, target: Target, seed: int, *, dry: bool = False) -> tuple[Plan, tuple[str, ...]]:
    """The plan of a job on a target, and notes on how it differs from the job.

    With `dry` nothing at all is tried on the target. Raises IocastError.
    """
    from iocast import jobs
    from iocast.load.work_files import own_file
    from iocast.observe.host import describe_host

    reading = only_read(target)
    writing = [phase.name for phase in job.phases if phase.workload.writes]
    if target.kind == "block" and writing and not (reading and is_card(job)):
        from iocast.observe.target.overwriting import refuse_overwriting

        refuse_overwriting(target, writing)
    job, target, notes = _with_access(job, target if dry else with_direct_tried(target))
    if target.size_bytes == 0:
        raise TargetError(f"{target.path} is empty: there is nothing to read", _OTHER_TARGET)
    try:
        plan, omitted = jobs.plan(
            job,
            target,
            seed=seed,
            memory_bytes=describe_host().memory_bytes,
            own_file=target.kind == "file" and own_file(target.path),
            read_only=reading and is_card(job),
        )
    except TargetError as error:
        if reading and is_card(job):
            raise TargetError(error.message, _OTHER_TARGET) from None
        raise
    if omitted:
        notes += (f"{target.path} is only read: {len(omitted)} rows that write are left out ({', '.join(omitted)})",)
    return plan, (*job.notes, *notes)


_OTHER_TARGET = "give a larger file, or a directory: iocast lays out files of its own there"


def _with_access(job: Job, target: Target) -> tuple[Job, Target, tuple[str, ...]]:
    """A card goes through the page cache where O_DIRECT is refused, and says so; a job of one's own does not."""
    direct = [phase.name for phase in job.phases if phase.workload.direct]
    if target.direct is not False or not direct:
        return job, target, ()
    why = f"{target.path} takes no direct I/O: {target.direct_why_not or 'O_DIRECT is refused'}"
    if not is_card(job):
        raise TargetError(
            f'{why}; phase "{direct[0]}" asks for it',
            "write direct = false in the job file, and read the results as those of the page cache",
        )
    phases = tuple(replace(phase, workload=replace(phase.workload, direct=False)) for phase in job.phases)
    note = f"{why}. All rows went through the page cache: they show memory wherever it held the data"
    return replace(job, phases=phases), replace(target, notes=(*target.notes, note)), (note,)


def perform(
    job: Job,
    target: Target,
    seed: int,
    size: str | None,
    out: str,
    form: str,
    page: bool,
    asked: GradeAsked,
    *,
    diagnosing: bool = False,
) -> int:
    """Plans, announces, runs, tests what looks abnormal if asked to, and shows; returns the exit code.

    Raises IocastError.
    """
    failed = False
    done, code = carry_out(job, target, seed, size, out)
    if diagnosing and done.folder is not None and not code and done.error is None:
        from iocast.commands.inquiry import diagnose_run
        from iocast.diagnose.experiments.next_step import USUAL_BUDGET

        code = diagnose_run(str(done.folder), USUAL_BUDGET)
    if done.folder is not None:
        from iocast.report.card.judged import judge

        page = page and done.run.status == "done"
        if page:
            from iocast.report.charts.drawing import engine

            engine.get_ready()  # it warms up while the card is made
        judged = judge(done.run, os.path.relpath(done.folder), asked)
        show(judged, form, keep=True)
        failed = not passed(judged, asked)
        if page:
            from iocast.commands.writing import leave_page

            sys.stdout.flush()  # the card can be read while the page is drawn
            say(leave_page(judged))
    measured = done.run.measured
    nothing = bool(measured) and not any(record.measurement.ios for record in measured)
    if nothing and (done.error is None or isinstance(done.error, LoadError)):
        raise LoadError("not one I/O of any row succeeded", "the card above names the errors")
    if done.error is not None:
        raise done.error
    return code or int(failed or any(each.bad_blocks for each in done.run.verifications[-1:]))


def carry_out(job: Job, target: Target, seed: int, size: str | None, out: str) -> tuple[Performed, int]:
    """Plans, announces and runs; returns what came of it, and the exit code. Raises IocastError."""
    from iocast import load, runner
    from iocast.analyse.steady import accepts
    from iocast.commands.interrupts import Interrupts
    from iocast.commands.progress import progress

    plan, notes = make_plan(job, target, seed)
    layout = load.lay_out(plan)
    if size is not None and not layout.own:
        notes += (f"--size {size} says nothing here: {target.path} is taken as it is",)
    announce(plan, layout, notes)
    with Interrupts() as interrupts:
        done = runner.perform(plan, layout, out, progress(interrupts.stopped), interrupts.stopped, accepts)
    measured, planned = len(done.run.measured), sum(phase.role == "measure" for phase in plan.phases)
    if interrupts.stopped():
        rows = f"{measured} of {planned} rows {'was' if measured == 1 else 'were'} measured and kept"
        say(f"stopped: {rows if measured else 'nothing was measured yet, and nothing is left behind'}")
    return done, interrupts.exit_code


def announce(plan: Plan, layout: Layout, notes: tuple[str, ...]) -> None:
    """Says what will be done before it is done."""
    from iocast.text import capacity

    fill = f"lays out {capacity(layout.fill_bytes)} of work files, then " if layout.fill_bytes else ""
    rows = f"{len(plan.phases)} row" + ("s" if len(plan.phases) != 1 else "")
    say(f"{plan.name} on {plan.target.path}: {fill}measures {rows}: {lasting(plan)}")
    for note in (*layout.notes, *notes):
        say(f"note: {note}")


def lasting(plan: Plan) -> str:
    """How long a plan takes, as far as that is known: "36 s", "10 s, and 2 that end by their I/Os or bytes"."""
    timed = any(phase.length.seconds is not None for phase in plan.phases)
    counted = sum(phase.length.seconds is None and not phase.length.follows for phase in plan.phases)
    most = "at most " if any(phase.until for phase in plan.phases) else ""
    clock = " of virtual time" if plan.target.kind == "sim" else ""
    parts = [f"{most}{about(plan.expected_seconds)}{clock}"] if timed or not counted else []
    if counted:
        parts.append(
            f"{counted} that end by their I/Os or bytes" if counted > 1 else "1 that ends by its I/Os or bytes"
        )
    return ", and ".join(parts)


def about(seconds: float) -> str:
    """A length of time as one plans with it: "40 s", "22 min", "2.1 h"."""
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"


def show(judged: Judged, form: str, *, keep: bool = False) -> None:
    """Prints the card of a run on stdout in one of FORMATS. With `keep` its grade goes into the folder, for lists."""
    report = judged.report()
    if keep:  # before anything is printed: who reads may stop after a page
        from pathlib import Path

        from iocast.archive import save_summary
        from iocast.errors import ArchiveError

        with contextlib.suppress(ArchiveError):  # a full disk: the list of runs does without the grade
            save_summary(Path(judged.folder), judged.summary(report))
    if form == "classic":
        from iocast.report.renderers.classic import render_run

        render_run(judged.run, sys.stdout)
        say(f"run folder: {judged.folder}")
    else:
        present(report, form)


def passed(judged: Judged, asked: GradeAsked) -> bool:
    """False, with a word, when a run misses the grade asked for."""
    if asked.floor is None:
        return True
    from iocast.diagnose.grades import passes

    grades = judged.grades
    if grades is not None and passes(grades, asked.floor):
        return True
    got = f"is {grades.overall}" if grades and grades.overall else "could not be given"
    why = grades.says if grades else "nothing was measured"
    say(f"{judged.folder or judged.run.plan.name}: grade {asked.floor} was asked for; the grade {got}: {why}")
    return False


def present(report: Report, form: str) -> None:
    """Prints any report on stdout in one of the renderers' forms."""
    from iocast.report.renderers import RENDERERS

    RENDERERS[form].render(report, sys.stdout, colour=_colour(), width=_width())


def _colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((120, 24)).columns


def say(text: str) -> None:
    """A message for the person at the terminal: stderr, so that stdout is data only."""
    print(text, file=sys.stderr, flush=True)

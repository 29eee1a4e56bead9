"""What `card` and `run` share: plan, announce, perform, examine, show."""

from __future__ import annotations

import os
import sys

import msgspec

from iocast.errors import IocastError, SpecError
from iocast.model.plan import Phase, Plan
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.spec import FileSize, Job

FORMATS = ("terminal", "classic", "json")
RUNS = "iocast-runs"


def adjust(job: Job, size: str | None, time: str | None) -> Job:
    """The job with the size of its work files and the time of its rows changed. Raises SpecError."""
    from iocast.units import parse_duration, parse_size

    if size is not None:
        job = msgspec.structs.replace(job, file_size=FileSize(size_bytes=_whole_blocks(parse_size(size), size)))
    if time is not None:
        seconds = parse_duration(time) / 1e9
        if seconds <= 0:
            raise SpecError(f"--time {time}: a row needs some time", "for example --time 10s")
        phases = tuple(_with_time(phase, seconds) for phase in job.phases)
        job = msgspec.structs.replace(job, phases=phases)
    return job


def _whole_blocks(size_bytes: int, text: str) -> int:
    if size_bytes < 1 << 20:
        raise SpecError(f"--size {text}: work files have at least 1MiB", "for example --size 512MiB")
    return size_bytes // (1 << 20) * (1 << 20)


def _with_time(phase: Phase, seconds: float) -> Phase:
    if phase.length.seconds is None:
        return phase
    return msgspec.structs.replace(phase, length=msgspec.structs.replace(phase.length, seconds=seconds))


def make_plan(job: Job, target: Target, seed: int, read_only: bool) -> tuple[Plan, list[str]]:
    """The plan of a job on a target, and the phases that were left out because they write."""
    from iocast import spec
    from iocast.commands.targets import made_by_iocast
    from iocast.observe.host import describe_host

    memory = describe_host().memory_bytes
    return spec.plan(job, target, seed=seed, memory_bytes=memory, own_file=made_by_iocast(target), read_only=read_only)


def perform(plan: Plan, omitted: list[str], out: str, form: str) -> int:
    """Runs a plan, archives it, shows its card; returns the exit code. Raises IocastError."""
    from iocast import runner
    from iocast.archive import RunFolder
    from iocast.commands.interrupts import Interrupts
    from iocast.commands.progress import progress

    announce(plan, omitted)
    folder = RunFolder.create(out, plan.name)
    with Interrupts() as interrupts:
        try:
            run = runner.perform(plan, folder, progress(), interrupts.stopped)
        except IocastError:
            if not os.path.exists(folder.path / "run.json"):
                folder.discard()
            raise
    if not run.measured:
        say("stopped before anything was measured; nothing is left behind")
        return interrupts.exit_code or 2
    if interrupts.stopped():
        say(f"stopped; {len(run.measured)} of {len(plan.phases)} rows were measured and kept")
    show(run, os.path.relpath(folder.path), form)
    return interrupts.exit_code


def announce(plan: Plan, omitted: list[str]) -> None:
    """Says what will be done before it is done."""
    from iocast import load
    from iocast.report.format import capacity
    from iocast.runner import expected_seconds

    layout = load.lay_out(plan)
    seconds = sum(expected_seconds(phase) for phase in plan.phases)
    fill = f"lays out {capacity(layout.fill_bytes)} of work files, then " if layout.fill_bytes else ""
    clock = "simulated " if plan.target.kind == "sim" else ""
    about = f"{round(seconds)} s" if seconds < 100 else f"{seconds / 60:.0f} min"
    say(f"{plan.name} on {plan.target.path}: {fill}measures {len(plan.phases)} rows in about {about} {clock}".rstrip())
    for note in layout.notes:
        say(f"note: {note}")
    if omitted:
        say(f"note: {len(omitted)} rows that write are left out: {', '.join(omitted)}")


def show(run: Run, folder: str, form: str) -> None:
    """Prints the card of a run on stdout in one of FORMATS."""
    from iocast.diagnose import examine
    from iocast.report import RENDERERS, card

    if form == "classic":
        from iocast.report.classic import render_run

        render_run(run, sys.stdout)
        say(f"run folder: {folder}")
        return
    report = card.card(run, examine(run), folder)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    RENDERERS[form].render(report, sys.stdout, colour=colour, width=_width())


def _width() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((120, 24)).columns if sys.stdout.isatty() or "COLUMNS" in os.environ else 120


def say(text: str) -> None:
    """A message for the person at the terminal: stderr, so that stdout is data only."""
    print(text, file=sys.stderr, flush=True)

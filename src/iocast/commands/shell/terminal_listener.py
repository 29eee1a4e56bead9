"""Listens to a session for a person at a terminal: each event becomes its words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING

from iocast.commands.shell.interrupts import Interrupts
from iocast.commands.shell.showing import Into, deliver_report, present, say, show_card, tell_report
from iocast.commands.shell.streams import work_goes_on
from iocast.errors import IocastError
from iocast.model.grading import LEVEL_KEPT
from iocast.sessions import events
from iocast.text import counted
from iocast.units import duration_text

if TYPE_CHECKING:
    from iocast.commands.database.build_progress import BuildProgress
    from iocast.sessions.listener import Progress

MIB = 1 << 20
_SHORT = ("screen", "screen_with_rows")


class TerminalListener:
    """Says what happens on stderr, prints cards on stdout in `form` or writes them `into` a file, and asks a session
    to stop at a signal."""

    def __init__(self, form: str = "terminal", into: Into | None = None) -> None:
        self.exit_code = 0  # of the signal that stopped the work
        self._form = form
        self._into = into
        self._build: BuildProgress | None = None  # of a data set, while it is being built

    @contextmanager
    def working(self) -> Iterator[Callable[[], bool]]:
        """Signals only ask to stop while load runs."""
        with Interrupts() as interrupts:
            try:
                yield interrupts.stopped
            finally:
                self.exit_code = interrupts.exit_code

    def progress(self, stopping: Callable[[], bool]) -> Progress:
        """The progress that suits where stderr goes."""
        from iocast.commands.shell.progress import progress

        return progress(stopping)

    def tell(self, event: events.Event) -> None:
        """Says it, or prints it where it is what was asked for; who reads may leave, and stdout be full: it goes on."""
        with work_goes_on(quote(event.card.folder) if isinstance(event, events.CardReady) else ""):
            self._tell(event)

    def _tell(self, event: events.Event) -> None:
        if self._build is not None and not isinstance(event, events.BuildStep):
            self._build.clear()
            self._build = None
        match event:
            case events.BuildStep():
                self._show_build(event)
            case events.CardReady() if self._into is not None:
                _write_card(event, self._form, self._into)
            case events.CardReady():
                # What cannot be shown later is shown whole.
                form = self._form if event.kept or self._form not in _SHORT else "terminal"
                show_card(event.card, event.report, form)
            case events.RowsUnkept():
                tell_report(event.report)
            case events.AnswerReady():
                present(event.report, self._form)
            case _:
                for line in lines(event):
                    say(line)

    def _show_build(self, step: events.BuildStep) -> None:
        if self._build is None:
            from iocast.commands.database.build_progress import BuildProgress

            self._build = BuildProgress()
        self._build.show(step)


def _write_card(event: events.CardReady, form: str, into: Into) -> None:
    """A card with charts into a file; where the run is is said even if that cannot be written. Raises IocastError."""
    try:
        # Charts are drawn from the folder.
        deliver_report(event.card.judged.charted(event.report) if event.kept else event.report, form, into)
    except IocastError:
        say(f"to see the card: iocast report {quote(event.card.folder)}")
        raise


def lines(event: events.Worded) -> Iterator[str]:
    """An event in words."""
    from iocast.commands.shell.plan_lines import planned_lines

    match event:
        case events.Planned() | events.QuietAwaited() | events.QuietEnded():
            yield from planned_lines(event)
        case events.Stopped(0, _, kept):
            yield "stopped: no row was finished" + ("" if kept else "; nothing was kept")
        case events.Stopped(measured, planned, _, cut):
            how = f"kept, {cut} of them cut short" if cut else "finished and kept"
            yield f"stopped: {measured} of {planned} rows {how}"
        case events.HostsSaid() | events.HostLost():
            yield _hosts(event)
        case events.RunBegun(number, of, side, path):
            yield f"round {number} of {of}: {side}, {path}" if side else f"run {number} of {of}"
        case events.FloorMissed(name, floor, grades):
            got = f"is {grades.overall}" if grades and grades.overall else "is missing"
            why = grades.says if grades else "nothing was measured"
            missed = floor == LEVEL_KEPT and grades is not None and grades.scale == "slo" and grades.overall is not None
            yield f"{name}: {'service level missed' if missed else f'below grade {floor}: the grade {got}'}: {why}"
        case events.Imported(folder):
            yield f"run folder: {folder}"
        case events.RunsReadWhole(count):
            yield f"reading {counted(count, 'run')} in full (no row figures in summary.json): up to a second each"
        case events.Interrupted():
            yield "note: this machine was restarted since the run: only durable writes are checked"
        case events.NotKept(error):
            yield f"note: result not saved: {error.message}"
        case events.CaptureBegun() | events.CaptureEnded() | events.CommandGoesOn() | events.CountersLogged():
            from iocast.commands.shell.capture_lines import capture_lines

            yield from capture_lines(event)
        case events.WatchBegun() | events.LiveBegun() | events.TapeSaved():
            yield from _live(event)
        case events.BuildStopped() | events.BuildEnded() | events.DatabaseNoted() | events.DataSetDropped():
            from iocast.commands.database.database_lines import database_lines

            yield from database_lines(event)
        case events.FileWritten() | events.PageWritten() | events.PageFailed():
            yield _file(event)
        case (
            events.TrialBegun()
            | events.TrialPlanned()
            | events.TrialFailed()
            | events.ImageAnnounced()
            | events.ImageLeftOut()
        ):
            yield _trial(event)
        case events.StudyBegun() | events.StudyRunBegun() | events.StudyRunFailed():
            from iocast.commands.shell.study_lines import study_lines

            yield from study_lines(event)
        case events.CopyPlanned() | events.CopyReady():
            from iocast.commands.shell.copy_lines import copy_lines

            yield from copy_lines(event)
        case _:
            yield from _inquiry(event)


def lines_of(event: events.Event) -> Iterator[str]:
    """The same of any event: what was asked for has no words, and progress is none of them."""
    if not isinstance(event, events.CardReady | events.RowsUnkept | events.AnswerReady | events.BuildStep):
        yield from lines(event)


def _hosts(event: events.HostEvent) -> str:
    match event:
        case events.HostsSaid(hosts, of, line):
            who = f"all {of} hosts" if len(hosts) == of > 1 else ", ".join(hosts)
            return f"{who}: {line}"
        case events.HostLost(host, why):
            return f"{host} is lost: {why}; the run ends on all hosts"


def _live(event: events.LiveEvent) -> Iterator[str]:
    match event:
        case events.WatchBegun(devices, interval_ns, notes):
            yield from (f"note: {note}" for note in notes)
            said, every = ", ".join(devices) or "all devices", duration_text(interval_ns)
            yield f"tracing requests of {said}, every {every}; press Ctrl-C to stop"
        case events.LiveBegun(sources, _, blind, cost):
            yield from (f"watching {source}" for source in sources)
            yield from (f"tracing costs {cost}",) if cost else ()
            yield from (f"note: {each.observer}: {each.why}" for each in blind)
        case events.TapeSaved(folder):
            yield f"tape: {folder}"
            yield f"to play it: iocast top {folder}"


def _file(event: events.FileEvent) -> str:
    match event:
        case events.FileWritten(path):
            return f"wrote {path}"
        case events.PageWritten(path):
            return f"report: {os.path.relpath(path)}"
        case events.PageFailed(why):
            return f"note: report.html not written: {why.message}"


def _trial(
    event: events.TrialBegun | events.TrialPlanned | events.TrialFailed | events.ImageAnnounced | events.ImageLeftOut,
) -> str:
    """What happens while a named experiment is made."""
    from iocast.commands.shell.plan_lines import writing_line

    match event:
        case events.TrialBegun(name, question):
            return f"experiment {name}: {question}"
        case events.TrialPlanned(phases):
            return writing_line(phases)
        case events.TrialFailed(why):
            return f"note: {why.message}"
        case events.ImageAnnounced(directory, size_bytes):
            return f"note: creates an image of {size_bytes // MIB} MiB in {directory} and removes it at the end"
        case events.ImageLeftOut(kind, why):
            return f"note: {kind} skipped: {why.message}"


def _inquiry(event: events.InquiryEvent) -> Iterator[str]:
    """What happens while a run is diagnosed."""
    match event:
        case events.Suspected(finding):
            where = f" in {finding.phase}" if finding.phase else ""
            yield f"\nfinding{where}: {finding.says}"
            if finding.hypothesis:
                yield f"  hypothesis ({finding.confidence:.0%}): {finding.hypothesis}"
        case events.Untested(_, why, again):
            yield f"  not tested{' again' if again else ''}: {why}"
        case events.ExperimentBegun(_, experiment):
            yield f"  experiment: {experiment.question}"
        case events.ExperimentFailed(error):
            yield f"  experiment failed: {error.message}"
        case events.Decided(_, outcome):
            yield f"  {outcome.verdict}: {outcome.says}"
        case events.Diagnosed():
            yield ""

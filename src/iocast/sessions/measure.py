"""card, run: a job is planned and run, the run is judged, and its card told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive import change_notes
from iocast.diagnose.experiments.next_step import USUAL_BUDGET
from iocast.errors import IocastError
from iocast.model.job import Job
from iocast.model.report import Report, Section
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.sessions.anonymous.anonymous_copies import copies_of
from iocast.sessions.card import Card
from iocast.sessions.events import CardReady
from iocast.sessions.fitted_plan import asked_job, where
from iocast.sessions.inquire import diagnose_run
from iocast.sessions.job_run import plan, run
from iocast.sessions.listener import Listener
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.run_card import check_floor, judge, keep_summary, leave_page, open_card, shown_folder
from iocast.sessions.target_finding import find_target


class MeasuredJob(Struct, frozen=True):
    """What came of it: the run, and its card; None where nothing was measured."""

    run: Run
    card: Card | None
    passed: bool = True  # the grade asked for was earned, and nothing that was verified is bad


# What else is measured once a run is whole, and told in its card.
Beside = Callable[[Card], Section | None]


def measure(request: MeasureRequest, listener: Listener) -> MeasuredJob:
    """A job on a path, with a database beside it where one is asked for. Raises IocastError."""
    job, path = where(asked_job(request.job, request.options, request.path), request.path)
    target = find_target(path, request.options.destroy)
    if not request.server:
        return measure_job(job, target, request, listener)
    from iocast.sessions.database.with_server import plan_server

    job, beside = plan_server(job, target, request, listener)
    return measure_job(job, target, request, listener, beside)


def measure_job(
    job: Job, target: Target, request: MeasureRequest, listener: Listener, beside: Beside | None = None
) -> MeasuredJob:
    """A job that was read, on a target that was found. What `beside` raises is raised after the card was told without
    it. Raises IocastError."""
    work = plan(job, target, request.options, listener)
    ran = run(work, listener, request.options.beside)
    if ran.folder is None:
        ran.or_error()
        return MeasuredJob(ran.run, None)
    undiagnosed = _diagnose(ran.whole, listener) if request.diagnosing else None
    card = judge(ran.run, shown_folder(ran.folder), request.grade_request)
    untagged = tag(card.folder, request.options.label)
    report = (card if ran.kept else replace(card, judged=card.judged._replace(folder=""))).report()
    keep_summary(card, report)  # before anything is shown: who reads may stop after a page
    added, failed = _added(card, beside if ran.whole else None)
    card = replace(card, beside=added)
    passed = tell_card(card, card.with_beside(report), request, listener, kept=ran.kept)
    ran.or_error()
    for error in (undiagnosed, failed, untagged):
        if error is not None:
            raise error
    return MeasuredJob(ran.run, card, passed)


def _diagnose(folder: Path | None, listener: Listener) -> IocastError | None:
    """Diagnoses a whole run before its card is told, or why that could not be done."""
    try:
        if folder is not None:
            diagnose_run(str(folder), USUAL_BUDGET, listener)
    except IocastError as error:
        return error
    return None


def tell_card(card: Card, report: Report, request: MeasureRequest, listener: Listener, *, kept: bool) -> bool:
    """Tells the card, of a copy where names are hidden, and leaves its page last: the card can be read meanwhile.
    Whether the card has what was asked for."""
    page = request.page and card.run.status == "done" and kept
    with copies_of((card.folder,), request.names) as copied:
        shown = card
        if request.names is not None:
            shown = replace(open_card(copied.folders[0], request.grade_request), beside=card.beside)
            report = shown.report()
        listener.tell(CardReady(shown, copied.without_rooms(report), kept))
        passed = check_floor(card, request.grade_request.floor, listener) and not card.bad_blocks
        if page:
            leave_page(shown, report, listener, card.folder, copied.without_rooms)
    return passed


def tag(folder: str, label: str | None) -> IocastError | None:
    """Tags the run before its card is told, which shows that; or why it could not be."""
    if label is not None:
        try:
            change_notes(folder, None, add=(label,))
        except IocastError as error:
            return error
    return None


def _added(card: Card, beside: Beside | None) -> tuple[tuple[Section, ...], IocastError | None]:
    """What is measured beside a run, or why it could not be."""
    try:
        section_or_error = beside(card) if beside else None
    except IocastError as error:
        return (), error
    return ((section_or_error,) if section_or_error else ()), None

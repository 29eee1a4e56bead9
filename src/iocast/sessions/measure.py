"""card, run: a job is carried out, what looks abnormal is tested if asked for, and the run becomes a card."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import IocastError
from iocast.model.job import Job
from iocast.model.report import Section
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.sessions.anonymous.anonymous_copies import copies_of
from iocast.sessions.card import Card
from iocast.sessions.carry_out import Carried, carry_out
from iocast.sessions.events import CardMade
from iocast.sessions.listener import Listener
from iocast.sessions.requests import MeasureRequest, asked_job
from iocast.sessions.run_card import check_floor, keep_summary, leave_page, make_card, open_card, shown_folder
from iocast.sessions.target_finding import find_target


class Measured(Struct, frozen=True):
    """What came of it: the run, and its card; None where nothing was measured."""

    run: Run
    card: Card | None
    passed: bool = True  # the grade asked for was earned, and nothing that was verified is bad


def measure(request: MeasureRequest, listener: Listener) -> Measured:
    """Plans, announces, lays out, performs, tests, judges, leaves a page. Raises IocastError."""
    job = asked_job(request.job, request.options)
    target = find_target(request.path, request.options.destroy)
    return measured_on(job, target, request, listener)


# What else is measured once a run is whole, and told in its card.
Beside = Callable[[Card], Section | None]


def measured_on(
    job: Job, target: Target, request: MeasureRequest, listener: Listener, beside: Beside | None = None
) -> Measured:
    """The same for a job that was read and a target that was found. What `beside` raises is raised after the card was
    told without it. Raises IocastError."""
    done = carry_out(job, target, request.options, listener)
    if request.diagnosing and done.whole is not None:
        from iocast.diagnose.experiments.next_step import USUAL_BUDGET
        from iocast.sessions.inquire import diagnose_run

        diagnose_run(str(done.whole), USUAL_BUDGET, listener)
    measured, failed = _judged(done, request, listener, beside if done.whole else None)
    done.or_error()
    if failed is not None:
        raise failed
    return measured


def _judged(
    done: Carried, request: MeasureRequest, listener: Listener, beside: Beside | None
) -> tuple[Measured, IocastError | None]:
    """Judges the run, saves its line for lists, and leaves the page last: the card can be read meanwhile."""
    if done.folder is None:
        return Measured(done.run, None), None
    page = request.page and done.run.status == "done"
    folder = shown_folder(done.folder)
    card = make_card(done.run, folder, request.asked)
    keep_summary(card, card.report())  # before anything is shown: who reads may stop after a page
    added, failed = _added(card, beside)
    with copies_of((folder,), request.names) as copied:
        shown = card if request.names is None else open_card(copied.folders[0], request.asked)
        card, shown = replace(card, beside=added), replace(shown, beside=added)
        listener.tell(CardMade(shown, copied.told(shown.report())))
        passed = check_floor(card, request.asked.floor, listener) and not card.bad_blocks
        if page:
            leave_page(shown, listener, folder, copied.told)
    return Measured(done.run, card, passed), failed


def _added(card: Card, beside: Beside | None) -> tuple[tuple[Section, ...], IocastError | None]:
    """What is measured beside a run, or why it could not be."""
    try:
        found = beside(card) if beside else None
    except IocastError as error:
        return (), error
    return ((found,) if found else ()), None

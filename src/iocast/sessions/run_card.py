"""A run is judged: its card, and the page and the summary that are left in its folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from iocast import archive
from iocast.analyse.facts import Facts
from iocast.archive import REPORT_PAGE, open_run
from iocast.errors import ArchiveError, IocastError
from iocast.model.grading import GradeRequest, Letter
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.report.card import judged
from iocast.sessions.card import Card
from iocast.sessions.events import FloorMissed, PageFailed, PageWritten
from iocast.sessions.listener import Listener
from iocast.sessions.report_files import put_page


def judge(run: Run | Facts, folder: str, grade_request: GradeRequest | None = None) -> Card:
    """Examines and grades the run in `folder`. Raises ArchiveError for a damaged folder."""
    return Card(judged.judge(run, folder, grade_request))


def open_card(folder: str, grade_request: GradeRequest | None = None) -> Card:
    """The card of the run in a folder, which is only read. Raises ArchiveError."""
    return judge(archive.load(folder), folder, grade_request)


def keep_summary(card: Card, report: Report) -> None:
    """Puts the grade into the folder, for lists of runs; they do without it where the disk is full."""
    with contextlib.suppress(ArchiveError):
        archive.keep_summary(card.folder, card.judged.summary(report), card.judged.figures())


def keep_judgement(folder: Path) -> None:
    """The same for a run whose card nobody makes: judged, and its letters kept. Raises ArchiveError."""
    card = open_card(str(folder))
    keep_summary(card, card.report())


def check_floor(card: Card, floor: Letter | None, listener: Listener) -> bool:
    """Whether the card earns the letter asked for; tells when not."""
    if card.reaches(floor) or floor is None:
        return True
    listener.tell(FloorMissed(card.folder or card.run.plan.name, floor, card.grades))
    return False


def leave_page(
    card: Card,
    report: Report,
    listener: Listener,
    folder: str = "",
    change_report: Callable[[Report], Report] = lambda report: report,
) -> None:
    """Writes the page of a card, whose report was made, into the run folder; the measurement is safe in any case.

    `folder` is that of the run where the card is of a copy, `change_report` what becomes of its report then.
    """
    folder = folder or card.folder
    try:
        put_page(change_report(card.judged.charted(report)), open_run(folder, card.run.run_id))
    except IocastError as error:
        listener.tell(PageFailed(error))
    else:
        listener.tell(PageWritten(Path(folder, REPORT_PAGE)))


def shown_folder(folder: Path) -> str:
    """A run folder as it is named to people: from where they stand."""
    return os.path.relpath(folder)

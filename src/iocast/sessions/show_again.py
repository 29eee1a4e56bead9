"""report, show: the cards of finished runs, from their folders alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.archive.catalogue import run_folders, runs_in
from iocast.archive.copy_folder import is_copy
from iocast.archive.study_folder import is_study
from iocast.errors import ArchiveError, SpecError
from iocast.model.grading import GradeRequest
from iocast.model.report import Report
from iocast.sessions.anonymous.anonymous_copies import copies_of
from iocast.sessions.card import Card
from iocast.sessions.comparing import SIDES, Comparison, Repeats, compare, repeats_in
from iocast.sessions.copy_experiment import CopiedFile, open_copies
from iocast.sessions.events import AnswerReady, CardReady, FileWritten
from iocast.sessions.listener import Listener
from iocast.sessions.live.tape_card import report_of_tape
from iocast.sessions.report_files import check_file, form_of, write_file, write_flatfile
from iocast.sessions.run_card import check_floor, judge
from iocast.sessions.study_runs import Studied, open_study

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms


class ReportFile(Struct, frozen=True):
    """A file that cards go into, whose suffix says the form, the colours of pictures, whether any file is replaced."""

    path: Path
    theme: str = "light"
    force: bool = False
    brief: bool = False


def show_again(
    folder: str,
    grade_request: GradeRequest,
    listener: Listener,
    names: Pseudonyms | None = None,
    *,
    brief: bool = False,
) -> bool:
    """Tells the card of a run, or the report of a group of runs, with `names` without any name; returns whether it
    earned the grade asked for. `brief`: its head alone.

    Raises ArchiveError.
    """
    with copies_of((folder,), names) as copied:
        (place,) = copied.folders
        card = _card(place, grade_request)
        if card is None:
            report = copied.without_rooms(_report(place, grade_request))
            listener.tell(AnswerReady(report.brief() if brief else report))
            return True
        report = copied.without_rooms(card.report())
        listener.tell(CardReady(card, report.brief() if brief else report))
        return check_floor(card, grade_request.floor, listener)


def write_again(
    folders: tuple[str, ...],
    into: ReportFile,
    grade_request: GradeRequest,
    listener: Listener,
    names: Pseudonyms | None = None,
) -> list[bool]:
    """Writes the card of each run, with charts, into a file of its own; returns which earned the grade asked for.

    Raises IocastError.
    """
    passed = []
    with copies_of(folders, names) as copied:
        files = _files(into.path, copied.folders)
        for file in files:
            check_file(file, force=into.force)  # all of them, before the first is written
        for folder, file in zip(copied.folders, files, strict=True):
            card = _card(folder, grade_request)
            if card is not None and form_of(file) == "flatfile":
                write_flatfile(card.run, folder, file, force=into.force)
                listener.tell(FileWritten(file))
            else:
                report = card.report(charts=True) if card else _report(folder, grade_request, charts=True)
                report = report.brief() if into.brief else report
                for written in write_file(copied.without_rooms(report), file, into.theme, force=into.force):
                    listener.tell(FileWritten(written))
            if card is not None:
                passed.append(check_floor(card, grade_request.floor, listener))
    return passed


def _card(folder: str, grade_request: GradeRequest) -> Card | None:
    """The card of a run of load; None for all else that a folder may have. Raises ArchiveError."""
    if is_copy(folder) or is_study(folder) or is_group(folder):
        return None
    run = archive.load(folder)
    return None if run.tape is not None else judge(run, folder, grade_request)


def _report(folder: str, grade_request: GradeRequest, *, charts: bool = False) -> Report:
    """The report of what has no card: copies, a study, a group of runs, a tape. Raises ArchiveError, SpecError."""
    if is_copy(folder):
        return _copies(folder, grade_request).report(charts=charts)
    if is_study(folder):
        return _study(folder, grade_request).report(charts=charts)
    if is_group(folder):
        return group_of(folder, grade_request).report(charts=charts)
    _refuse_grade(folder, grade_request)
    return report_of_tape(folder, charts=charts)


def _copies(folder: str, grade_request: GradeRequest) -> CopiedFile:
    """The copies of a folder. Raises ArchiveError, SpecError."""
    if grade_request.floor is not None:
        raise SpecError(f"{folder} has copies of a file, which have no grade", "omit --fail-under")
    return open_copies(folder)


def _study(folder: str, grade_request: GradeRequest) -> Studied:
    """The study of a folder. Raises ArchiveError, SpecError."""
    if grade_request.floor is not None:
        raise SpecError(f"{folder} is a study, which has no grade", "omit --fail-under, or name one run")
    return open_study(folder)


def _refuse_grade(folder: str, grade_request: GradeRequest) -> None:
    if grade_request.floor is not None:
        raise SpecError(f"{folder} is a tape: no load was made, so it has no grade", "omit --fail-under")


def is_group(folder: str) -> bool:
    """True for a folder that is no run, and has runs below it."""
    if not os.path.isdir(folder) or os.path.exists(os.path.join(folder, archive.RUN_FILE)):
        return False
    return next(run_folders(folder), None) is not None


def group_of(folder: str, grade_request: GradeRequest) -> Repeats | Comparison:
    """The repeats of a job, or its runs on two targets. Raises ArchiveError, SpecError."""
    if grade_request.floor is not None:
        raise SpecError(f"{folder} is a group of runs, which has no grade", "omit --fail-under, or name one run")
    sides = [str(Path(folder, name)) for name in SIDES]
    if all(is_group(each) for each in sides):
        return replace(compare(tuple(sides)), folder=folder)
    runs = runs_in(folder)
    if len({(run.plan.name, run.plan.target.path) for run in runs}) > 1:
        raise ArchiveError(
            f"{folder} contains {len(runs)} runs of different jobs or targets", f"`iocast runs {folder}` lists them"
        )
    return repeats_in(folder)


def _files(output: Path, folders: tuple[str, ...]) -> tuple[Path, ...]:
    """One for each folder, with its name in it, and a number where that is taken."""
    from iocast.report.unique_names import numbered

    if len(folders) == 1:
        return (output,)
    stems = numbered(f"{output.stem}-{Path(folder).resolve().name}" for folder in folders)
    return tuple(output.with_name(f"{stem}{output.suffix}") for stem in stems)

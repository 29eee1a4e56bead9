"""report, show: the cards of finished runs, from their folders alone."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from iocast import archive
from iocast.model.grading import GradeAsked
from iocast.sessions.events import CardMade, FileWritten
from iocast.sessions.listener import Listener
from iocast.sessions.report_files import begin_page, get_ready, write_file
from iocast.sessions.run_card import check_floor, make_card, open_card


class ReportFile(Struct, frozen=True):
    """A file that cards go into, whose suffix says the form, and the colours of pictures."""

    path: Path
    theme: str = "light"


def show_again(folder: str, asked: GradeAsked, listener: Listener) -> bool:
    """Tells the card of a run; returns whether it earned the grade asked for. Raises ArchiveError."""
    card = open_card(folder, asked)
    listener.tell(CardMade(card, card.report()))
    return check_floor(card, asked.floor, listener)


def write_again(folders: tuple[str, ...], into: ReportFile, asked: GradeAsked, listener: Listener) -> list[bool]:
    """Writes the card of each run, with charts, into a file of its own; returns which earned the grade asked for.

    Raises IocastError.
    """
    get_ready(into.path)
    passed = []
    for folder, file in zip(folders, _files(into.path, folders), strict=True):
        run = archive.load(folder)
        begin_page(into.path, run)
        card = make_card(run, folder, asked)
        for written in write_file(card.report(charts=True), file, into.theme):
            listener.tell(FileWritten(written))
        passed.append(check_floor(card, asked.floor, listener))
    return passed


def _files(output: Path, folders: tuple[str, ...]) -> tuple[Path, ...]:
    """One for each folder, with its name in it, and a number where that is taken."""
    from iocast.report.unique_names import numbered

    if len(folders) == 1:
        return (output,)
    stems = numbered(f"{output.stem}-{Path(folder).resolve().name}" for folder in folders)
    return tuple(output.with_name(f"{stem}{output.suffix}") for stem in stems)

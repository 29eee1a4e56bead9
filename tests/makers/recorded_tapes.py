"""Reels as they are written, moment by moment, without a run around them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from iocast.archive.tapes.open_reel import OpenReel
from iocast.archive.tapes.unfinished_reels import ReelNote
from iocast.archive.writing.held_folder import open_folder
from iocast.model.live.moment import Moment
from iocast.model.workload import Closed
from iocast.tools.stated_rows import Row, record


def reel_of(folder: Path, moments: Iterable[Moment]) -> OpenReel:
    """The first reel of a folder, to which more can be added."""
    folder.mkdir(exist_ok=True)
    phase = record(Row(name="reel", test="watch", ops=(), elapsed_ns=0, arrival=Closed(), role="probe"))
    reel = OpenReel(open_folder(folder), 0, phase, ReelNote())
    for moment in moments:
        reel.add(moment)
    return reel


def written_reel(folder: Path, moments: Iterable[Moment]) -> Path:
    """The folder of a reel that was left open."""
    reel_of(folder, moments).close()
    return folder

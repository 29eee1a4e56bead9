"""Tapes: what was watched is a run folder, reel by reel, and plays again as it was."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from makers.live_moments import SECOND_NS, device, moment
from makers.saved_runs import empty_run

from iocast import archive, metrics
from iocast.errors import ArchiveError, SourceError
from iocast.model.live.moment import Moment
from iocast.model.run import Blind
from iocast.sessions.listener import Quiet
from iocast.sessions.live.asked_sources import Asked
from iocast.sessions.live.line_watch import TapeRequest, watched
from iocast.sessions.live.playing import Playing
from iocast.sessions.live.recording import REEL_NS, Recorder
from iocast.sessions.live.watching import LiveRequest, Stopping

VDA = (metrics.DISKSTATS, "vda")


class Made:
    """A reel of moments whose counters are known."""

    interval_ns = SECOND_NS
    texts: Mapping[str, str] = {"sql|1": "select 1"}
    sources = ("PostgreSQL 18.1 on db1",)
    blind = (Blind("nfs", "nothing is mounted by NFS"),)

    def __init__(self, count: int, every_ns: int = SECOND_NS) -> None:
        self._made = [moment(at, {VDA: device(reads=at * 10)}, every_ns) for at in range(count)]

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        yield from self._made


def _recorded(place: Path, reel: Made) -> Path:
    recorder = Recorder(str(place), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    recorder.close()
    return recorder.path


def test_a_tape_plays_what_was_watched(tmp_path: Path) -> None:
    reel = Made(5)
    tape = Playing(str(_recorded(tmp_path, reel)))
    assert list(tape.moments(lambda: False)) == list(reel.moments(lambda: False))
    assert (tape.sources, tape.texts, tape.blind) == (reel.sources, reel.texts, reel.blind)
    assert tape.run.tape is not None
    assert tape.run.tape.provenance == "real"


def test_reels_are_saved_while_it_runs_and_no_interval_between_them_is_lost(tmp_path: Path) -> None:
    """What a machine that goes down loses is one reel at most."""
    reel = Made(9, every_ns=REEL_NS // 4)
    recorder = Recorder(str(tmp_path), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    saved = archive.load(str(recorder.path))
    assert (saved.status, len(saved.phases)) == ("running", 1)
    assert len(list(Playing(str(recorder.path)).moments(lambda: False))) == 5
    recorder.close()
    tape = Playing(str(recorder.path))
    assert list(tape.moments(lambda: False)) == list(reel.moments(lambda: False))
    assert (tape.run.status, len(tape.run.phases)) == ("done", 2)


def test_closing_twice_adds_nothing(tmp_path: Path) -> None:
    reel = Made(2)
    recorder = Recorder(str(tmp_path), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    recorder.close()
    recorder.close()
    assert len(list(Playing(str(recorder.path)).moments(lambda: False))) == 2


def test_it_stops_when_asked(tmp_path: Path) -> None:
    tape = Playing(str(_recorded(tmp_path, Made(5))))
    asked = iter((False, False, True))
    assert len(list(tape.moments(lambda: next(asked)))) == 2


def test_a_run_that_is_no_tape_is_refused(tmp_path: Path) -> None:
    folder = archive.RunFolder.create(str(tmp_path), empty_run())
    with pytest.raises(SourceError, match="no tape"):
        Playing(str(folder.path))


def test_a_damaged_reel_names_its_file(tmp_path: Path) -> None:
    folder = _recorded(tmp_path, Made(3))
    (folder / "samples" / "000.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ArchiveError, match=r"000\.parquet"):
        list(Playing(str(folder)).moments(lambda: False))


def test_this_machine_is_watched_and_recorded(tmp_path: Path) -> None:
    request = LiveRequest(
        asked=Asked(observers=(metrics.CPU,)), interval_ns=100_000_000, count=2, record_to=str(tmp_path)
    )
    live = [each for _, each in watched(request, Quiet())]
    assert len(live) == 3
    assert all(each.values(metrics.CPU) for each in live)
    (folder,) = tmp_path.iterdir()
    assert [each for _, each in watched(TapeRequest(folder=str(folder)), Quiet())] == live

"""Tapes: what was watched is a run folder, reel by reel, and plays again as it was."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from makers.live_moments import SECOND_NS, device, moment
from makers.saved_runs import empty_run
from msgspec.structs import replace

from iocast import archive, metrics
from iocast.archive.file_names import SAMPLES
from iocast.archive.tapes import open_reel, tape_folder
from iocast.archive.tapes.open_reel import LONGEST_NS
from iocast.errors import ArchiveError, SourceError
from iocast.model.live.moment import Moment
from iocast.model.run import Blind
from iocast.sessions.listener import Quiet
from iocast.sessions.live.line_watch import TapeRequest, watched
from iocast.sessions.live.playing import Playing
from iocast.sessions.live.recording import Recorded, Recorder
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.live.watching import LiveRequest, Stopping

VDA = (metrics.DISKSTATS, "vda")


class Made:
    """A reel of moments whose counters are known."""

    interval_ns = SECOND_NS
    texts: Mapping[str, str] = {"sql|1": "select 1"}
    sources = ("PostgreSQL 18.1 on db1",)
    blind: tuple[Blind, ...] = (Blind("nfs", "nothing is mounted by NFS"),)

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


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / SAMPLES).iterdir())


def test_reels_become_tables_while_it_runs_and_no_interval_is_lost(tmp_path: Path) -> None:
    reel = Made(9, every_ns=LONGEST_NS // 4)
    recorder = Recorder(str(tmp_path), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    assert list(Playing(str(recorder.path)).moments(lambda: False)) == list(reel.moments(lambda: False))
    saved = archive.load(str(recorder.path))
    assert (saved.status, len(saved.phases)) == ("running", 3)
    assert [phase.name[:6] for phase in saved.plan.phases] == ["reel 1", "reel 2", "reel 3"]
    assert "000.parquet" in _names(recorder.path)
    assert "002.jsonl" in _names(recorder.path)
    recorder.close()
    assert _names(recorder.path) == ["000.parquet", "001.parquet", "002.parquet"]
    tape = Playing(str(recorder.path))
    assert list(tape.moments(lambda: False)) == list(reel.moments(lambda: False))
    assert tape.run == replace(saved, status="done")


@pytest.mark.parametrize(("bound", "value"), [("MOST_BYTES", 2500), ("MOST_SAMPLES", 20)])
def test_reels_end_by_their_size_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int) -> None:
    monkeypatch.setattr(open_reel, bound, value)
    reel = Made(60)
    tape = Playing(str(_recorded(tmp_path, reel)))
    assert len(tape.run.phases) > 3
    assert list(tape.moments(lambda: False)) == list(reel.moments(lambda: False))


def test_texts_that_were_shown_and_what_went_blind_are_kept_without_a_table(tmp_path: Path) -> None:
    """A screen asks for texts; what a killed recorder has said to it is in the open reel."""
    reel = Made(3)
    recorder = Recorder(str(tmp_path), reel)
    recorded = Recorded(reel, recorder)
    for at, _ in enumerate(recorded.moments(lambda: False)):
        reel.texts = {**reel.texts, f"sql|{at}": f"select {at}"}
        reel.blind = (*reel.blind, Blind("network", f"it went blind {at}"))
        assert recorded.texts == reel.texts
    tape = Playing(str(recorder.path))
    assert (tape.texts, tape.blind) == (reel.texts, reel.blind)
    recorder.close()
    assert Playing(str(recorder.path)).run == replace(tape.run, status="done")


def test_a_reel_that_could_not_become_a_table_stays_and_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as on a disk that is full."""
    reel = Made(9, every_ns=LONGEST_NS // 4)
    recorder = Recorder(str(tmp_path), reel)

    def full(self: archive.RunFolder, number: int, phase: str) -> None:
        raise ArchiveError("cannot write it: No space left on device", "free some space")

    with monkeypatch.context() as patched:
        patched.setattr(archive.RunFolder, "save_reel", full)
        with pytest.raises(ArchiveError, match="No space left"):
            list(map(recorder.add, reel.moments(lambda: False)))
        with pytest.raises(ArchiveError, match="No space left"):
            recorder.close()
        kept = list(Playing(str(recorder.path)).moments(lambda: False))
        assert kept == list(reel.moments(lambda: False))[: len(kept)]
        assert len(kept) >= 5
    recorder.close()
    assert list(Playing(str(recorder.path)).moments(lambda: False)) == kept


def test_texts_beyond_the_bound_are_not_kept_and_the_tape_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape_folder, "MOST_TEXT", 5000)
    reel = Made(3)
    recorder = Recorder(str(tmp_path), reel)
    for at, each in enumerate(reel.moments(lambda: False)):
        recorder.add(each)
        reel.texts = {**reel.texts, **{f"sql|{at}.{number}": "x" * 900 for number in range(4)}}
        recorder.keep_texts(reel.texts)
    recorder.close()
    tape = Playing(str(recorder.path))
    assert 4 <= len(tape.texts) <= 6
    assert tape_folder.CUT_TEXTS in tape.blind


def test_a_tape_of_too_many_reels_goes_on_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tape_folder, "MOST_REELS", 2)
    reel = Made(40, every_ns=LONGEST_NS // 4)
    _recorded(tmp_path, reel)
    tapes = [Playing(str(folder)) for folder in tmp_path.iterdir()]
    tapes.sort(key=lambda tape: tape.run.phases[0].measurement.started_unix_ns)
    assert len(tapes) > 2
    assert all(2 <= len(tape.run.phases) <= 4 for tape in tapes[:-1])
    played = [list(tape.moments(lambda: False)) for tape in tapes]
    assert [each for moments in played for each in moments[1:]] == list(reel.moments(lambda: False))[1:]
    assert all(after[0] == before[-1] for before, after in pairwise(played)), "no interval lies between two tapes"


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
    with pytest.raises(SourceError, match="is not a tape"):
        Playing(str(folder.path))


def test_a_damaged_reel_names_its_file(tmp_path: Path) -> None:
    folder = _recorded(tmp_path, Made(3))
    (folder / "samples" / "000.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ArchiveError, match=r"000\.parquet"):
        list(Playing(str(folder)).moments(lambda: False))


def test_this_machine_is_watched_and_recorded(tmp_path: Path) -> None:
    request = LiveRequest(
        sources=WatchedSources(observers=(metrics.CPU,)), interval_ns=100_000_000, count=2, record_to=str(tmp_path)
    )
    live = [each for _, each in watched(request, Quiet())]
    assert len(live) == 3
    assert all(each.values(metrics.CPU) for each in live)
    (folder,) = tmp_path.iterdir()
    assert [each for _, each in watched(TapeRequest(folder=str(folder)), Quiet())] == live

"""Hours of watching on an accelerated tape: memory holds a moment and notes, and the report sums all of it up."""

from __future__ import annotations

import tracemalloc
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from makers.live_moments import SECOND_NS, device, histogram, moment

from iocast import metrics
from iocast.archive.file_names import ROWS_FILE, RUN_FILE
from iocast.model.live.moment import Moment
from iocast.model.run import Blind
from iocast.sessions.live.playing import Playing
from iocast.sessions.live.recording import Recorder
from iocast.sessions.live.tape_card import report_of_tape
from iocast.sessions.live.watching import Stopping

HOUR_NS, EVERY_NS = 3600 * SECOND_NS, 60 * SECOND_NS
LOST_AT, LOST = 100, 17
REELS_AN_HOUR, NOTE_BYTES = 12, 4 << 10


class Day:
    """So many hours of a disk that reads 100 times a second; once the trace lost records."""

    interval_ns = EVERY_NS
    texts: Mapping[str, str] = {}
    sources: tuple[str, ...] = ()
    blind: tuple[Blind, ...] = ()

    def __init__(self, hours: int) -> None:
        self._count = hours * HOUR_NS // EVERY_NS + 1

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        for at in range(self._count):
            reads = at * 6000
            layers = {**histogram({128: reads - at, 16_384: at}, sum_ns=reads * 90_000), "count": float(reads)}
            lost = {metrics.LOST_EVENTS: LOST * (at >= LOST_AT), metrics.TRACED_NS: at * EVERY_NS}
            yield moment(
                at,
                {
                    (metrics.DISKSTATS, "vda"): device(reads=reads, read_bytes=reads * 8192, read_ns=reads * 90_000),
                    (metrics.BLOCK_LAYER, "vda|driver|read|8192"): layers,
                    (metrics.KERNEL_LAYERS, ""): lost,
                },
                EVERY_NS,
            )


def recorded(place: Path, hours: int) -> Path:
    """The tape."""
    reel = Day(hours)
    recorder = Recorder(str(place), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    recorder.close()
    return recorder.path


def most_bytes(place: Path, hours: int) -> int:
    """The most memory that recording takes until it is closed."""
    reel = Day(hours)
    tracemalloc.start()
    recorder = Recorder(str(place), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    recorder.close()
    return most


@pytest.mark.long
def test_memory_holds_a_moment_and_a_note_of_each_reel(tmp_path: Path) -> None:
    recorded(tmp_path / "first", 1)  # what is imported for it counts for none
    # Many reels: how long the writing of one takes beside the next moves the peak by some ten kilobytes.
    few, many = most_bytes(tmp_path / "few", 2), most_bytes(tmp_path / "many", 14)
    assert (many - few) / (12 * REELS_AN_HOUR) < NOTE_BYTES, (few, many)


@pytest.mark.long
def test_nothing_of_hours_is_lost(tmp_path: Path) -> None:
    tape = recorded(tmp_path / "hours", 8)
    assert sum(1 for _ in Playing(str(tape)).moments(lambda: False)) == 8 * HOUR_NS // EVERY_NS + 1
    report = report_of_tape(str(tape))
    assert report.verdict.startswith("Watched for 8 h from")
    (layers,) = [each for each in report.sections if each.code == "layers"]
    assert layers.paragraphs == (f"The trace lost {LOST} records: what the layers counted is too low.",)
    (row,) = layers.tables[0].rows
    assert row.cells["rate_per_s"] == 100


class Growing(Day):
    """Its statements become more from hour to hour."""

    def __init__(self, hours: int) -> None:
        super().__init__(hours)
        self.texts: Mapping[str, str] = {}

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        for at, each in enumerate(super().moments(stopping)):
            self.texts = {**self.texts, f"sql|{at}": f"select {at}"}
            yield each


def test_a_tape_that_is_under_way_only_grows_and_is_whole(tmp_path: Path) -> None:
    """run.json is not written again with each reel; what a killed recorder has written is all there."""
    reel = Growing(3)
    recorder = Recorder(str(tmp_path), reel)
    document, written = recorder.path / RUN_FILE, set()
    for each in reel.moments(lambda: False):
        recorder.add(each)
        written.add((document.stat().st_ino, document.stat().st_size))
    assert len(written) == 1
    playing = Playing(str(recorder.path))
    phases = playing.run.phases
    assert len(phases) == 3 * REELS_AN_HOUR + 1
    assert [phase.name for phase in playing.run.plan.phases] == [record.phase.name for record in phases]
    assert sum(1 for _ in playing.moments(lambda: False)) == 3 * HOUR_NS // EVERY_NS + 1
    reels = HOUR_NS // REELS_AN_HOUR // EVERY_NS
    assert len(playing.texts) > len(reel.texts) - reels, "they are asked for when a reel begins"
    assert playing.texts == {f"sql|{at}": f"select {at}" for at in range(len(playing.texts))}
    lines = (recorder.path / ROWS_FILE).read_text().splitlines()
    assert max(len(line) for line in lines) < 2 * min(len(line) for line in lines), (
        "a reel does not repeat what was told"
    )
    recorder.close()
    assert dict(Playing(str(recorder.path)).texts) == dict(reel.texts)
    assert not (recorder.path / ROWS_FILE).exists()

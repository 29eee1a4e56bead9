"""A day of watching on an accelerated tape: memory holds one reel, and the report of the day sums all of it up."""

from __future__ import annotations

import tracemalloc
from collections.abc import Generator, Mapping
from pathlib import Path

from makers.live_moments import SECOND_NS, device, histogram, moment

from iocast import metrics
from iocast.model.live.moment import Moment
from iocast.model.run import Blind
from iocast.sessions.live.playing import Playing
from iocast.sessions.live.recording import Recorder
from iocast.sessions.live.tape_card import report_of_tape
from iocast.sessions.live.watching import Stopping

HOUR_NS, EVERY_NS = 3600 * SECOND_NS, 60 * SECOND_NS
LOST_AT, LOST = 1000, 17


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


def recorded(place: Path, hours: int) -> tuple[Path, int]:
    """The tape, and the most memory that recording it took."""
    tracemalloc.start()
    reel = Day(hours)
    recorder = Recorder(str(place), reel)
    for each in reel.moments(lambda: False):
        recorder.add(each)
    recorder.close()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return recorder.path, most


def test_a_day_takes_the_memory_of_an_hour_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    _, of_an_hour = recorded(tmp_path / "hour", 1)
    tape, of_a_day = recorded(tmp_path / "day", 24)
    assert of_a_day < 2 * of_an_hour, (of_a_day, of_an_hour)
    assert sum(1 for _ in Playing(str(tape)).moments(lambda: False)) == 24 * HOUR_NS // EVERY_NS + 1
    report = report_of_tape(str(tape))
    assert report.verdict.startswith("Watched for 24 h from")
    (layers,) = [each for each in report.sections if each.code == "layers"]
    assert layers.paragraphs == (f"The trace lost {LOST} records: what the layers counted is too low.",)
    (row,) = layers.tables[0].rows
    assert row.cells["rate"] == 100

"""A live watch, or a tape, as what a page asks for: the lines of `iocast top`, and new columns of its heat maps."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

from iocast import archive
from iocast.analyse.live.latency_columns import HeatMap, Latencies, grid_of
from iocast.errors import IocastError
from iocast.model.live.moment import Interval
from iocast.model.live.newest_moments import NewestMoments
from iocast.report.live.latency.heat_lines import bound_label
from iocast.report.live.latency.histogram_choice import Choice, bounds_of, histograms, label, latencies_of
from iocast.report.live.layers_view import overview
from iocast.sessions.live.playing import Playing
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.live.watching import LiveRequest, SampleSource, watching
from iocast.starting import starting
from iocast.text import harmless_line, instant

KEPT: Final = 900  # intervals: a quarter of an hour at one a second, a day of a tape in steps of 96 s
BOUNDS_NS: Final = tuple((1 << power) * 1_000 for power in range(3, 18))  # 8 us to 131 ms
NARROWEST, WIDEST = 60, 300
FIRST_S: Final = 2.0  # a tape is read meanwhile, before it is shown first


class Frames:
    """The newest intervals of a source, in bounded memory; a thread reads it. Of `every` moments one is kept."""

    def __init__(self, source: SampleSource, says: str, every: int = 1) -> None:
        self._source, self._says, self._every = source, says, max(1, every)
        self._moments = NewestMoments(KEPT + 1)
        self._newest = -1  # number of the newest interval: that before the first moment is none
        self._over = ""
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, name="iocast-frames", daemon=True)

    def start(self) -> Frames:
        """Begins to read. Raises LoadError."""
        with starting():
            self._thread.start()
        return self

    def stop(self) -> None:
        """Ends; the moments stay."""
        self._ended.set()
        self._thread.join(timeout=10)

    def _read(self) -> None:
        why = "the tape is over"
        try:
            with closing(self._source.moments(self._ended.is_set)) as moments:
                for number, moment in enumerate(moments):
                    if number % self._every == 0:
                        with self._guard:
                            self._moments.add(moment)
                            self._newest += 1
        except IocastError as error:
            why = error.message
        self._over = why

    def wait(self, seconds: float) -> None:
        """Until the source is over, at most so long: a tape is read as fast as it can be."""
        until = time.monotonic() + seconds
        while not self._over and time.monotonic() < until:
            time.sleep(0.01)

    def frame(self, after: int, at: int | None, width: int, chosen: str) -> dict[str, Any]:
        """The interval `at` (None: the newest) as lines, and a column for each interval after number `after`.

        Columns are of the histogram `chosen` ("observer subject"), or of the one that gained most in that interval.
        """
        with self._guard:
            moments, newest = self._moments.between(0, len(self._moments)), self._newest
        oldest = newest - len(moments) + 2
        frame: dict[str, Any] = {"says": self._says, "over": self._over, "newest": newest, "oldest": oldest}
        if len(moments) < 2:
            return frame | {"lines": [], "columns": [], "histograms": [], "at": newest}

        def interval(number: int) -> Interval:
            place = number - oldest + 1
            return Interval(moments[place - 1], moments[place])

        shown = min(max(newest if at is None else at, oldest), newest)
        here = interval(shown)
        choices = histograms(here)
        choice = next((each for each in (*choices, *histograms(interval(newest))) if _name(each) == chosen), None)
        choice = choice or _chosen(chosen) or (choices[0] if choices else None)
        grid = BOUNDS_NS if choice is None else grid_of(bounds_of(moments[-1], choice), BOUNDS_NS)
        lines = overview(here, self._source.texts, min(max(width, NARROWEST), WIDEST))
        columns = (
            []
            if choice is None
            else [
                _column(number, interval(number), choice, grid) for number in range(max(oldest, after + 1), newest + 1)
            ]
        )
        return frame | {
            "at": shown,
            "clock": instant(here.after.time_ns),
            "lines": [[[harmless_line(piece.text), piece.style] for piece in each] for each in lines],
            "histograms": [[_name(each), harmless_line(label(each))] for each in sorted(choices, key=label)],
            "chosen": "" if choice is None else _name(choice),
            "bounds": [bound_label(number, grid) for number in range(len(grid) + 1)],
            "columns": columns,
        }


@contextmanager
def live_frames(sources: WatchedSources) -> Iterator[Frames]:
    """This machine, and the databases that are named, while entered. Raises IocastError where one cannot be."""
    with watching(LiveRequest(sources=sources)) as live:
        frames = Frames(live, ", ".join(("This machine", *live.sources))).start()
        try:
            yield frames
        finally:
            frames.stop()


class Tapes:
    """Tapes that are looked at, the last ones; each in bounded memory, however long it is."""

    def __init__(self, most: int = 2) -> None:
        self._kept: dict[str, Frames] = {}
        self._most = most
        self._guard = threading.Lock()

    def of(self, folder: str) -> Frames:
        """The frames of a tape, read as fast as it can be. Raises ArchiveError, SourceError for what is none."""
        with self._guard:
            if folder not in self._kept:
                tape = Playing(folder)
                while len(self._kept) >= self._most:
                    self._kept.pop(next(iter(self._kept))).stop()
                elapsed_ns = sum(record.measurement.elapsed_ns for record in tape.run.phases)
                every = math.ceil(elapsed_ns / max(1, tape.interval_ns) / KEPT)
                self._kept[folder] = Frames(tape, f"Tape {os.path.basename(folder)}", every).start()
                self._kept[folder].wait(FIRST_S)
            return self._kept[folder]


def is_tape(folder: str) -> bool:
    """Whether a run folder is a tape of a watch. Raises ArchiveError for a damaged one."""
    return not archive.read_summary(folder).rows and archive.load(folder).tape is not None


def _name(choice: Choice) -> str:
    return " ".join(choice)


def _chosen(name: str) -> Choice | None:
    """One that gained nothing just now; nothing of what it names is looked up anywhere but among samples."""
    observer, blank, subject = name.partition(" ")
    return (observer, subject) if blank else None


def _column(number: int, interval: Interval, choice: Choice, grid: tuple[int, ...]) -> dict[str, Any]:
    latencies: Latencies | None = latencies_of(interval, choice)
    heat = HeatMap(grid, 1)
    heat.add(latencies)
    return {
        "number": number,
        "clock": instant(interval.after.time_ns),
        "frequency": heat.frequencies()[0],
        "intensity": heat.intensities()[0],
        "mean_ns": None if latencies is None else latencies.mean_ns,
    }

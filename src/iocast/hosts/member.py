"""Member: the run of one rank, which tells all that it does to whoever collects."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from iocast.archive.file_names import ROWS_FILE
from iocast.hosts.launcher_link import LauncherLink
from iocast.hosts.messages import Begun, Channel, FolderFeed, Moved, PhaseBegun, PhaseEnded
from iocast.hosts.ranks import Ranks, Together
from iocast.load import Loader
from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord, Run, Series
from iocast.runner import Progress
from iocast.starting import starting

HEARD_EVERY_S = 0.5
_LOOKS_EVERY = 3  # beats, at whether anybody hears


class RankMember:
    """The runner's member and the listener's progress in one: what the runner says goes out as messages."""

    def __init__(self, ranks: Ranks, channel: Channel, beside: Progress) -> None:
        self._ranks, self._channel, self._beside = ranks, channel, beside
        self._together: Together | None = None
        self._feed = FolderFeed(channel)
        self._folder: Path | None = None
        self._phases = 0
        self.moved = Moved()

    def loader(self, loader: Loader) -> Loader:
        """The loader, waiting for those of the others."""
        self._together = Together(loader, self._ranks)
        return self._together

    def begun(self, run: Run, folder: Path) -> None:
        """The run has a folder."""
        self._folder = folder
        self._channel.tell(Begun(run=run))
        self.feed()

    def feed(self) -> None:
        """What is new in the folder goes out."""
        if self._folder is not None:
            self._feed.tell(self._folder, ROWS_FILE)

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        """A phase begins."""
        self._beside.begin(phase, number, total, seconds_left)
        if self._together is not None:
            self._together.count = phase.hosts or self._ranks.size
        self._channel.tell(PhaseBegun(number=number, total=total, phase=phase, seconds_left=seconds_left))

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """About ten times a second."""
        self._beside.tick(elapsed_ns, ios, bytes_moved, errors)
        self.moved = Moved(elapsed_ns=elapsed_ns, ios=ios, bytes=bytes_moved, errors=errors)

    def end(self, record: PhaseRecord) -> None:
        """A phase was saved; with those that ran at the same time."""
        self.moved = Moved()
        self._beside.end(record)
        if not record.measurement.ios and record.measurement.stopped == "interrupted":
            return  # nothing of it was kept
        instant = self._together.last if self._together else None
        self.feed()
        self._channel.tell(
            PhaseEnded(
                record=replace(record, series=Series()),
                number=self._phases,
                started_ns=instant.started_ns if instant else 0,
                clock_error_ns=instant.clock_error_ns if instant else 0,
            )
        )
        self._phases += 1

    def close(self) -> None:
        """No more phases."""
        self._beside.close()


class Heartbeat:
    """While it is entered, something is told twice a second: who is not heard has stopped, or its cable is cut."""

    def __init__(self, channel: Channel, moved: Callable[[], Moved]) -> None:
        self.unheard = False  # nobody hears it any more: it is to end by itself
        self._channel, self._moved = channel, moved
        self._link = LauncherLink()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def _beat(self) -> None:
        for beat in itertools.count():
            if self._over.wait(HEARD_EVERY_S):
                return
            self._channel.tell(self._moved())
            if beat % _LOOKS_EVERY == 0:  # hosts with thousands of connections have long tables of them
                self.unheard = self.unheard or self._link.is_cut()

    def __enter__(self) -> Heartbeat:
        with starting():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

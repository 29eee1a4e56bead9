"""A tape is played: its moments come again, in their own time or faster, into the same screens and lines."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

from iocast import archive
from iocast.archive.file_names import RUN_FILE, folder_of
from iocast.errors import SourceError
from iocast.model.live.moment import Moment, moments_of
from iocast.model.run import Blind, Run, Sample, Tape
from iocast.sessions.live.watching import Stopping

_LOOK_S = 0.05
_LONGEST_WAIT_NS = 60_000_000_000  # a gap in a tape (a machine that slept) is not waited for


class Playing:
    """A tape as a reel, or a file of another tool that becomes one.

    `speed` 2 is twice as fast as it was, 0 as fast as it can be read.
    """

    def __init__(self, folder: str, speed: float = 0.0) -> None:
        self._path: Path | None = None
        if os.path.isfile(folder) and os.path.basename(folder) != RUN_FILE:
            from iocast.tools import importers

            (self._run,) = importers.read((folder,))
        else:
            self._path, self._run = folder_of(folder), archive.load(folder)
        if self._run.tape is None:
            raise SourceError(f"{folder} is not a tape of a watch", "record one with `iocast watch --record`")
        self._tape: Tape = self._run.tape
        self._speed = speed
        self.interval_ns = self._tape.interval_ns

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        """Its moments, each after the time that lay before it. Raises ArchiveError where a reel is damaged."""
        before_ns: int | None = None
        for moment in moments_of(self._samples()):
            if self._speed and before_ns is not None:
                _wait(min(moment.time_ns - before_ns, _LONGEST_WAIT_NS) / self._speed, stopping)
            if stopping():
                return
            before_ns = moment.time_ns
            yield moment

    def _samples(self) -> Iterable[Sample]:
        if self._path is not None:
            return archive.reel_samples(self._path)
        return (sample for record in self._run.phases for sample in record.samples)

    @property
    def run(self) -> Run:
        """The run of its folder, without samples."""
        return self._run

    @property
    def texts(self) -> Mapping[str, str]:
        """Those it was recorded with."""
        return self._tape.texts

    @property
    def sources(self) -> tuple[str, ...]:
        """Those it was recorded from."""
        return self._tape.sources

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What could not be seen when it was recorded."""
        return self._run.blind


def _wait(wait_ns: float, stopping: Stopping) -> None:
    due_ns = time.monotonic_ns() + wait_ns
    while (left_ns := due_ns - time.monotonic_ns()) > 0 and not stopping():
        time.sleep(min(_LOOK_S, left_ns / 1e9))

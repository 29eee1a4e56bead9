"""samples/NNN.jsonl: a reel of a tape while it is recorded, a line for each moment; in the end it becomes a table.

A moment is in the file before anybody is shown it: a process that is killed loses nothing that it showed. A line says
what changed since the line before, since on a machine of thousands of processes most counters stand still. The core
reads it (crates/iocast-core/src/guarded_tables/open_reel.rs).
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import weakref
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.file_names import SAMPLES, open_reel_name
from iocast.archive.json_files import unwritable
from iocast.archive.tapes.unfinished_reels import ReelNote, lasting
from iocast.archive.writing.held_folder import ForeignFile, HeldFolder
from iocast.archive.writing.whole_files import write_all
from iocast.model.live.moment import Moment
from iocast.model.run import PhaseRecord, Sample

LONGEST_NS: Final = 300_000_000_000
MOST_BYTES: Final = 64 << 20
MOST_SAMPLES: Final = 10_000_000  # a table of them takes 10 s of CPU time
_Names = tuple[list[str], list[str], list[str]]  # observers, subjects and metrics of the rows of a line
_Rows = list[tuple[int, int] | tuple[str, str, list[str]]]


class _Line(Struct, frozen=True, omit_defaults=True):
    """A moment."""

    at: int
    times: list[tuple[int, int]]  # a time since `at`, and how many rows have it
    rows: _Rows | None = None  # (first, count) of the line before, or new ones; None: the same rows
    skip: list[int] = []  # before each of `values`: rows whose value stands still
    values: list[float] = []


class OpenReel:
    """A reel that moments are added to. Memory holds the last moment. Raises ArchiveError where it cannot be begun."""

    def __init__(self, folder: HeldFolder, number: int, phase: PhaseRecord, first: ReelNote) -> None:
        self.number = number
        self._phase, self._name = phase, open_reel_name(number)
        try:
            self._folder = folder.folder(SAMPLES)
            self._folder.remove(self._name)
            self._file = self._folder.open_to_append(self._name)
        except OSError as error:
            raise unwritable(folder.path / SAMPLES / self._name, error) from error
        self.close = weakref.finalize(self, os.close, self._file)
        self._names: _Names = ([], [], [])
        self._values: list[float] = []
        self._began_ns = self._ended_ns = self._bytes = self._samples = 0
        self.note(replace(first, phase=phase))

    @property
    def phase(self) -> PhaseRecord:
        """Itself as a phase of a run, as long as it is by now."""
        return lasting(self._phase, self._ended_ns - self._began_ns)

    def is_full(self, now_ns: int) -> bool:
        """Whether a moment of this time belongs to the next reel."""
        too_long = bool(self._samples) and now_ns - self._began_ns >= LONGEST_NS
        return too_long or self._bytes >= MOST_BYTES or self._samples >= MOST_SAMPLES

    def note(self, note: ReelNote) -> None:
        """Adds what is no moment. Raises ArchiveError."""
        self._append(msgspec.json.encode(note))

    def add(self, moment: Moment) -> None:
        """Adds a moment. Raises ArchiveError."""
        samples: Sequence[Sample] = moment.samples
        line, names, values = self._line(moment.time_ns, samples)
        if not all(map(math.isfinite, line.values)):  # no counter: a table that has one is refused
            samples = [each for each in samples if math.isfinite(each.value)]
            line, names, values = self._line(moment.time_ns, samples)
        self._append(msgspec.json.encode(line))
        self._began_ns = self._began_ns or moment.time_ns
        self._ended_ns = moment.time_ns
        self._samples += len(samples)
        self._names, self._values = names, values

    def _line(self, at: int, samples: Sequence[Sample]) -> tuple[_Line, _Names, list[float]]:
        names = (
            [each.observer for each in samples],
            [each.subject for each in samples],
            [each.metric for each in samples],
        )
        values = [each.value for each in samples]
        rows, before = (None, self._values) if names == self._names else self._arranged(names)
        changed = [row for row, (new, old) in enumerate(zip(values, before, strict=True)) if new != old]
        line = _Line(
            at,
            times=[(time_ns - at, sum(1 for _ in same)) for time_ns, same in groupby(each.time_ns for each in samples)],
            rows=rows,
            skip=[row - former - 1 for former, row in pairwise((-1, *changed))],
            values=[values[row] for row in changed],
        )
        return line, names, values

    def _arranged(self, names: _Names) -> tuple[_Rows, list[float | None]]:
        """Where these are in the line before, or what they are called; and the values that they had there."""
        known = dict(zip(zip(*self._names, strict=True), range(len(self._values)), strict=True))
        rows: _Rows = []
        values: list[float | None] = []
        first = count = 0  # of rows that stand together in the line before
        for name in zip(*names, strict=True):
            row = known.get(name)
            if row is not None and count and row == first + count:
                count += 1
            else:
                if count:
                    rows.append((first, count))
                first, count = (0, 0) if row is None else (row, 1)
                if row is None:
                    _add_new(rows, *name)
            values.append(None if row is None else self._values[row])
        if count:
            rows.append((first, count))
        return rows, values

    def remove(self) -> None:
        """The table has it all, and the run knows of the table."""
        with contextlib.suppress(OSError):
            self._folder.remove(self._name)

    def _append(self, text: bytes) -> None:
        try:
            if not self._folder.has(self._name, self._file):
                raise ForeignFile(errno.EPERM, f"{self._name} is not the file that was begun: move what is there away")
            before = os.fstat(self._file).st_size
            try:
                write_all(self._file, text + b"\n")
            except OSError:
                with contextlib.suppress(OSError):  # half a line must not stand before the next one
                    os.ftruncate(self._file, before)
                raise
        except OSError as error:
            raise unwritable(self._folder.path / self._name, error) from error
        self._bytes += len(text) + 1


def _add_new(rows: _Rows, observer: str, subject: str, metric: str) -> None:
    """A row of its own, or one more metric of a subject that is new as well."""
    if rows and rows[-1][:2] == (observer, subject):
        rows[-1][2].append(metric)  # type: ignore[misc]
    else:
        rows.append((observer, subject, [metric]))

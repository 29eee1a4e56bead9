"""RunFolder: a run folder while it is written, phase by phase."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from iocast import metrics
from iocast.archive.file_names import INTERVALS, RUN_FILE, SAMPLES, UNDER_WAY_FILE
from iocast.archive.interval_tables import INTERVAL_COLUMNS, Part, save_added_intervals, save_intervals
from iocast.archive.json_files import put_readable
from iocast.archive.opening import load
from iocast.archive.own_files import open_run_folder
from iocast.archive.ownership import this_process
from iocast.archive.parquet import ArrowStream, Identity, reason, unreadable, write
from iocast.archive.regular_file import regular_bytes
from iocast.archive.run_document import document_of, version_of
from iocast.archive.run_id import new_run_id
from iocast.archive.sample_tables import SAMPLE_COLUMNS, save_reel, save_samples
from iocast.archive.saved_rows import SavedRows
from iocast.archive.summary_file import save_summary
from iocast.archive.under_way_file import save_under_way
from iocast.archive.writing.brought_directories import BroughtDirectories
from iocast.archive.writing.growing_folders import growing_folder
from iocast.archive.writing.held_folder import HeldFolder, numbered
from iocast.archive.writing.leftovers import sweep_run
from iocast.errors import ArchiveError
from iocast.model.plan import Left, Length
from iocast.model.run import SCHEMA_VERSION, Run, Sample
from iocast.model.summary import Owner, RowSoFar, UnderWay, row_so_far, summary_of
from iocast.model.view import View

_TELL_EVERY_NS = 1_000_000_000
_MOST_POINTS = 120  # of the course of a phase
Course = tuple[tuple[int, float], ...]


class TimeLeft(msgspec.Struct, frozen=True):
    """How long a run will take from the start of a phase on, as far as lengths are stated."""

    planned_ns: int  # of this phase and of all that follow
    length: Length  # of this phase
    kind: Left = "exactly"

    def after(self, elapsed_ns: int, bytes_moved: int) -> int | None:
        """What is left after a part of the phase; None while nothing says how long it will take."""
        if self.length.seconds:
            return max(0, self.planned_ns - min(elapsed_ns, round(self.length.seconds * 1e9)))
        if self.length.bytes and bytes_moved:
            ahead = max(0, self.length.bytes - bytes_moved)
            return self.planned_ns + elapsed_ns * ahead // bytes_moved
        return None


class RunFolder:
    """A folder that is being written: `create` it, `save_phase` and `save` after every phase."""

    def __init__(self, held: HeldFolder, brought: BroughtDirectories | None = None, run_id: str = "") -> None:
        self.held = held
        self._saved_rows = SavedRows(held)
        self._run_id = run_id  # "": that of the run that is in the folder already
        self._whose: Identity | None = None
        self._brought = brought  # directories above it
        self._owner: Owner | None = None
        self._rows: tuple[RowSoFar, ...] = ()
        self._document: Run | None = None  # what run.json says while the run is under way: all but its phases
        self._appended = 0  # phases
        self._texts: dict[str, str] = {}  # of a tape, that are in the folder already
        self._now = UnderWay()
        self._told = (0, 0, 0)
        self._left: TimeLeft | None = None
        sweep_run(held)

    @classmethod
    def open(cls, folder: str | Path) -> RunFolder:
        """The folder of a run that was made before. Raises ArchiveError."""
        return cls(open_run_folder(folder))

    @classmethod
    def create(cls, base: str, run: Run, *, private: bool = False) -> RunFolder:
        """Makes `base/<time>-<name>`, never one that exists, with its run.json. Raises ArchiveError.

        It appears whole, by a rename: whoever sees the folder can read it. `private`: it will hold names of files,
        processes or statements of others, and only its owner may look into it; what root makes is always so.
        """
        root = Path(base)
        started_s = run.started_unix_ns / 1e9 if run.started_unix_ns else time.time()  # an import may not know
        stamp = time.strftime("%Y-%m-%dT%H%M%S", time.localtime(started_s))
        slug = re.sub(r"[^a-z0-9]+", "-", run.plan.name.lower()).strip("-")[:40] or "run"
        private = private or run.tape is not None
        with (
            BroughtDirectories(root) as brought,
            growing_folder(root, numbered(f"{stamp}-{slug}"), private=private) as held,
        ):
            folder = cls(held, brought, run.run_id or new_run_id(run.started_unix_ns))
            folder.save(run)
            folder._own(run)
        return folder

    @property
    def path(self) -> Path:
        """Where the folder is by now."""
        return self.held.find()

    def _own(self, run: Run) -> None:
        """A run that is only beginning says whose it is, so that it is known for dead when its process is."""
        if run.status == "running":
            self._owner = this_process(host=run.host.name if run.tape else None)  # it may be hidden
            self._tell(self._now)

    @property
    def run_id(self) -> str:
        """The id of the run in the folder. Raises ArchiveError where it can no longer be read."""
        return self._identity().run_id

    def _identity(self) -> Identity:
        if self._whose is None:
            self._whose = _identity_of(load(str(self.held.place)))
        return self._whose

    def _schema(self) -> int:
        path = self.held.place / RUN_FILE
        return version_of(path, regular_bytes(path)) if path.exists() else SCHEMA_VERSION

    def save(self, run: Run) -> None:
        """Writes run.json; call it whenever the run has changed. Raises ArchiveError."""
        if not run.run_id:
            run = msgspec.structs.replace(run, run_id=self._run_id or self._identity().run_id)
        older = not self._run_id and self._schema() < SCHEMA_VERSION
        self._whose = _identity_of(run)
        if older:
            renew_tables(self.held, run, self._whose)
        self._run_id = run.run_id
        self._rows += tuple(row_so_far(record) for record in run.measured[len(self._rows) :])
        if run.status == "running":
            self._save_what_is_new(run)
        else:
            put_readable(self.held, RUN_FILE, document_of(run))
            self._saved_rows.remove()
        save_summary(self.held, summary_of(run))

    def _save_what_is_new(self, run: Run) -> None:
        """The phases go into a file of their own, one after the other, and are not written again."""
        known = self._document
        if known is None:
            self._saved_rows.remove()
        rest = msgspec.structs.replace(run, phases=())
        new = len(run.phases) > self._appended
        if new and known is not None:  # the line of a phase has them, too
            rest = msgspec.structs.replace(rest, warnings=known.warnings, blind=known.blind)
            if run.tape is not None:
                rest = msgspec.structs.replace(rest, plan=known.plan, tape=known.tape)
        texts = {} if run.tape is None else dict(run.tape.texts)
        if rest != known:
            put_readable(self.held, RUN_FILE, document_of(rest))
            self._document = rest
            self._texts |= {} if rest.tape is None else rest.tape.texts
        if new:
            fresh = {subject: text for subject, text in texts.items() if self._texts.get(subject) != text}
            self._saved_rows.append(run, self._appended, fresh)
            self._appended = len(run.phases)
            self._texts |= fresh

    def save_phase(self, number: int, name: str, intervals: ArrowStream | None, samples: tuple[Sample, ...]) -> None:
        """Writes the series (an imported phase has none) and the samples of one phase. Raises ArchiveError."""
        if intervals is not None:
            save_intervals(self.held, number, self._identity(), name, intervals)
        if samples:
            save_samples(self.held, number, self._identity(), name, samples)

    def save_added(self, number: int, name: str, interval_ns: int, parts: Sequence[Part]) -> None:
        """Writes the series of a phase that several loads made at once, of theirs. Raises ArchiveError."""
        save_added_intervals(self.held, number, self._identity(), name, interval_ns, parts)

    def save_reel(self, number: int, phase: str) -> None:
        """Makes a reel of a tape, which was written moment by moment, the table of that phase. Raises ArchiveError."""
        save_reel(self.held, number, self._identity(), phase)

    def begin(self, phase: str, number: int, total: int, left: TimeLeft | None = None) -> None:
        """A phase begins: whoever follows the run is told by `tick` how far it is."""
        self._left = left
        left_ns = left.after(0, 0) if left else None
        self._now = UnderWay(phase, number, total, left_ns=left_ns, left_is=left.kind if left else "exactly")
        self._told = (0, 0, 0)
        self._tell(self._now)

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """How far the phase is; written down at most once a second."""
        at, ios_before, bytes_before = self._told
        since_ns = elapsed_ns - at
        if since_ns < _TELL_EVERY_NS:
            return
        self._told = (elapsed_ns, ios, bytes_moved)
        since = View("", since_ns, {metrics.IOS: ios - ios_before, metrics.BYTES: bytes_moved - bytes_before})
        rate, throughput = (since.per_s(metric) or 0.0 for metric in (metrics.IOS, metrics.BYTES))
        self._now = msgspec.structs.replace(
            self._now,
            elapsed_ns=elapsed_ns,
            rate_per_s=rate,
            bytes_per_s=throughput,
            errors=errors,
            left_ns=self._left.after(elapsed_ns, bytes_moved) if self._left else None,
            course=_thinned((*self._now.course, (elapsed_ns // 1_000_000, round(rate, 1)))),
        )
        self._tell(self._now)

    def unkept(self) -> str:
        """Waits until storage holds the folder; why it does not, "" where it does."""
        try:
            self.held.make_durable()
        except OSError as error:
            return error.strerror or str(error)
        return ""

    def end(self) -> None:
        """Nothing is under way any more."""
        with contextlib.suppress(OSError):
            self.held.remove(UNDER_WAY_FILE)

    def _tell(self, now: UnderWay) -> None:
        with contextlib.suppress(ArchiveError):  # a run does not fail for those who watch it
            save_under_way(self.held, msgspec.structs.replace(now, rows=self._rows, owner=self._owner))

    def discard(self) -> None:
        """Removes a folder in which nothing was measured, and the empty ones above it that it brought."""
        self.held.discard()
        if self._brought is not None:
            self._brought.remove()


def _thinned(course: Course) -> Course:
    """Neighbours together where there are more points than are drawn: the file that is written every second stays
    small.
    """
    if len(course) <= _MOST_POINTS:
        return course
    (_, first), before = course[0], course[0][0]
    kept = [(before, first)]
    for (middle, one), (end, other) in zip(course[1::2], course[2::2], strict=False):
        kept.append((end, round((one * (middle - before) + other * (end - middle)) / (end - before), 1)))
        before = end
    return (*kept, *(course[-1:] if course[-1][0] > before else ()))


def _identity_of(run: Run) -> Identity:
    return Identity(run.run_id, run.host.name, run.plan.target.path, run.plan.name)


_TABLES = {INTERVALS: INTERVAL_COLUMNS, SAMPLES: SAMPLE_COLUMNS}


def renew_tables(folder: HeldFolder, run: Run, whose: Identity) -> None:
    """Writes every table of the run anew. Raises ArchiveError."""
    from iocast._core import CoreError, Tables

    for number, record in enumerate(run.phases):
        for name, columns in _TABLES.items():
            file = folder.place / name / f"{number:03}.parquet"
            if os.path.isfile(file):
                try:
                    rows = Tables([str(file)], [column.name for column in columns])
                except CoreError as error:
                    raise unreadable(file, reason(error), "this table") from error
                write(folder, f"{name}/{file.name}", columns, "rows", whose, record.phase.name, rows)

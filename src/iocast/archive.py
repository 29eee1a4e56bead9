"""Run folders: a Run becomes run.json and Parquet files, phase by phase, and is read back from them.

    run.json                  the Run without its samples and series: plan, host, phases with their histograms
    summary.json              one line of it, for lists of thousands of runs; made anew when it is missing
    intervals/NNN.parquet     the series of phase NNN: interval x op x size, sparse histograms
    diagnosis.json            what was tested about it, if anything was
    under_way.json            while it runs: the phase of this second
    samples/NNN.parquet       what the observers saw during phase NNN

Every file is written beside its place and then renamed, so a folder is valid at any moment.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from iocast.errors import ArchiveError
from iocast.model.experiment import Diagnosis
from iocast.model.histogram import Histogram
from iocast.model.intervals import Course, Interval
from iocast.model.measurement import Measurement
from iocast.model.run import SCHEMA_VERSION, PhaseRecord, Run, Sample, Series, at_once
from iocast.model.summary import Summary, UnderWay, summary_of
from iocast.text import is_text, shown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RUN_FILE = "run.json"
SUMMARY_FILE = "summary.json"
DIAGNOSIS_FILE = "diagnosis.json"
EXPERIMENTS = "experiments"  # runs made because of a run are in this folder of it
UNDER_WAY_FILE = "under_way.json"
_TELL_EVERY_NS = 1_000_000_000


class ArrowStream(Protocol):
    """Anything that hands its columns over as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream."""


class RunFolder:
    """A folder that is being written: `create` it, `save_phase` and `save` after every phase."""

    def __init__(self, path: Path, made: tuple[Path, ...] = ()) -> None:
        self.path = path
        self._made = made  # folders above it that were not there before
        self._now = UnderWay("", 0, 0)
        self._told = (0, 0, 0)

    @classmethod
    def create(cls, base: str, run: Run) -> RunFolder:
        """Makes `base/<time>-<name>`, never one that exists, with its run.json. Raises ArchiveError.

        It appears whole, by a rename: whoever sees the folder can read it.
        """
        root = Path(base)
        made = tuple(folder for folder in (root, *root.parents) if not folder.exists())
        started_s = run.started_unix_ns / 1e9 if run.started_unix_ns else time.time()  # an import may not know
        stamp = time.strftime("%Y-%m-%dT%H%M%S", time.localtime(started_s))
        slug = re.sub(r"[^a-z0-9]+", "-", run.plan.name.lower()).strip("-")[:40] or "run"
        fresh = root / f".{stamp}-{slug}.{os.getpid()}.new"
        try:
            root.mkdir(parents=True, exist_ok=True)
            fresh.mkdir()
            folder = cls(fresh, made)
            folder.save(run)
            folder._rename(root, f"{stamp}-{slug}")
        except OSError as error:
            shutil.rmtree(fresh, ignore_errors=True)
            raise ArchiveError(
                f"cannot make a run folder in {base}: {error.strerror}",
                "say where run folders go with --out DIR",
            ) from error
        return folder

    def _rename(self, root: Path, name: str) -> None:
        for attempt in range(1, 1000):
            path = root / (name if attempt == 1 else f"{name}-{attempt}")
            try:
                if not path.exists():
                    self.path = self.path.rename(path)
                    return
            except OSError as error:
                # Another iocast took the name between the question and the answer.
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
        raise FileExistsError(errno.EEXIST, "a thousand folders of this second are there")

    def save(self, run: Run) -> None:
        """Writes run.json; call it whenever the run has changed. Raises ArchiveError."""
        bare = msgspec.structs.replace(
            run, phases=tuple(msgspec.structs.replace(record, samples=(), series=Series()) for record in run.phases)
        )
        _put(self.path / RUN_FILE, msgspec.json.format(msgspec.json.encode(bare), indent=1))
        save_summary(self.path, summary_of(run))

    def save_phase(self, number: int, name: str, intervals: ArrowStream | None, samples: tuple[Sample, ...]) -> None:
        """Writes the series (an imported phase has none) and the samples of one phase."""
        if intervals is not None:
            series = "SELECT ?::VARCHAR AS phase, * FROM intervals"
            _write(self.path / "intervals" / f"{number:03}.parquet", series, [name], intervals)
        if samples:
            columns: list[object] = [
                [sample.time_ns for sample in samples],
                [sample.observer for sample in samples],
                [sample.subject for sample in samples],
                [sample.metric for sample in samples],
                [sample.value for sample in samples],
            ]
            rows = (
                "SELECT ?::VARCHAR AS phase, unnest(?::BIGINT[]) AS time_ns, unnest(?::VARCHAR[]) AS observer, "
                "unnest(?::VARCHAR[]) AS subject, unnest(?::VARCHAR[]) AS metric, unnest(?::DOUBLE[]) AS value"
            )
            _write(self.path / "samples" / f"{number:03}.parquet", rows, [name, *columns], None)

    def begin(self, phase: str, number: int, total: int) -> None:
        """A phase begins: whoever follows the run is told by `tick` how far it is."""
        self._now = UnderWay(phase, number, total)
        self._told = (0, 0, 0)
        self._tell(self._now)

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """How far the phase is; written down at most once a second."""
        at, ios_before, bytes_before = self._told
        since_ns = elapsed_ns - at
        if since_ns < _TELL_EVERY_NS:
            return
        self._told = (elapsed_ns, ios, bytes_moved)
        rate, throughput = (
            (new - old) * 1e9 / since_ns for new, old in ((ios, ios_before), (bytes_moved, bytes_before))
        )
        self._tell(UnderWay(self._now.phase, self._now.number, self._now.total, elapsed_ns, rate, throughput, errors))

    def end(self) -> None:
        """Nothing is under way any more."""
        with contextlib.suppress(OSError):
            (self.path / UNDER_WAY_FILE).unlink(missing_ok=True)

    def _tell(self, now: UnderWay) -> None:
        with contextlib.suppress(ArchiveError):  # a run does not fail for those who watch it
            _put(self.path / UNDER_WAY_FILE, msgspec.json.encode(now))

    def discard(self) -> None:
        """Removes a folder in which nothing was measured, and the empty ones above it that it brought."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):  # not empty: another run is in it
            for folder in self._made:
                folder.rmdir()


def save_summary(folder: Path, summary: Summary) -> None:
    """Writes the line that lists show of a run. Raises ArchiveError."""
    _put(folder / SUMMARY_FILE, msgspec.json.encode(summary))


def _put(path: Path, text: bytes) -> None:
    """Writes a file beside its place and renames it: it is there whole, or as it was."""
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_bytes(text + b"\n")
        os.replace(fresh, path)
    except OSError as error:
        raise _unwritable(path.parent, error.strerror or str(error)) from error


def _unwritable(path: Path, why: str) -> ArchiveError:
    return ArchiveError(f"cannot write {path}: {why}", "make room there, or say where run folders go with --out DIR")


@functools.cache
def _database() -> DuckDBPyConnection:
    """The database of this process: to make one takes longer than to write or read a phase. It keeps no file's data."""
    import duckdb

    return duckdb.connect(config={"enable_external_file_cache": False})


def _write(path: Path, query: str, values: list[object], intervals: ArrowStream | None) -> None:
    """Writes the rows of a query as one Parquet file. DuckDB scans `intervals` by its Arrow stream."""
    import duckdb

    fresh = path.with_suffix(".new")
    target = str(fresh).replace("'", "''")
    try:
        path.parent.mkdir(exist_ok=True)
        with _database().cursor() as connection:
            connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)", values)
        os.replace(fresh, path)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    except duckdb.Error as error:
        raise _unwritable(path, str(error)) from error


def load(folder: str) -> Run:
    """Reads a run folder (or its run.json). Raises ArchiveError when it is none, or of a newer iocast."""
    path = Path(folder)
    path = path if path.name == RUN_FILE else path / RUN_FILE
    if not is_text(folder):  # the database reads no such file, and no page can show it
        raise ArchiveError(
            f"the name {shown(folder)} is not UTF-8 text", "rename the folder, or read it by a symbolic link"
        )
    try:
        text = path.read_bytes()
    except OSError as error:
        absent = isinstance(error, FileNotFoundError) and path.parent.exists()
        why = f"it has no {RUN_FILE}" if absent else error.strerror
        raise ArchiveError(
            f"{folder} is not a run folder: {why}",
            "give the folder that `iocast card` or `iocast run` named when it ended",
        ) from error
    try:
        version = msgspec.json.decode(text, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise ArchiveError(
                f"{path} was written by a newer iocast (schema {version}; this one reads up to {SCHEMA_VERSION})",
                "read it with the iocast that wrote it, or a newer one",
            )
        run = msgspec.json.decode(text, type=Run)
    except msgspec.MsgspecError as error:
        raise ArchiveError(f"{path} cannot be understood: {error}", "the file was changed or cut short") from error
    return msgspec.structs.replace(run, phases=tuple(_with_series(run, path.parent)))


def _with_series(run: Run, folder: Path) -> Iterator[PhaseRecord]:
    """The phases with series and samples; of those that ran at once the first has the samples of all in the folder."""
    samples = _load_samples(folder)
    courses = _rows(folder / "intervals", _SERIES.format("read_parquet(?)"), "its series")
    before: PhaseRecord | None = None
    for number, record in enumerate(run.phases):
        shared = before.samples if before is not None and at_once(before, record) else ()
        seen = samples.get(number, shared)
        rows = courses.get(number)
        course = Series() if rows is None else _whole(rows, record.plan.interval_ns, record.measurement)
        before = msgspec.structs.replace(record, samples=seen, series=course)
        yield before


def series(intervals: ArrowStream, interval_ns: int, did: Measurement) -> Series:
    """The whole intervals in which I/Os were issued, over all operations and sizes together."""
    with _database().cursor() as connection:
        return _whole(connection.execute(_SERIES.format("intervals")).fetchall(), interval_ns, did)


_SERIES = "SELECT interval, sum(ios), sum(bytes), sum(response_sum_ns) FROM {} GROUP BY interval"


def _whole(rows: list[tuple[int, int, int, int]], interval_ns: int, did: Measurement) -> Series:
    # An interval in which nothing was completed has no row.
    seen = {row[0]: row[1:] for row in rows}
    all_of_them = [seen.get(number, (0, 0, 0)) for number in range(did.issuing_ns // interval_ns)]
    ios, moved, response_ns = (tuple(int(row[column]) for row in all_of_them) for column in range(3))
    return Series(interval_ns=interval_ns, ios=ios, bytes=moved, response_ns=response_ns)


def _rows(folder: Path, query: str, what: str) -> dict[int, list[tuple[Any, ...]]]:
    """What the query gives for the file of each phase, by the number of the phase. Raises ArchiveError."""
    files = sorted(folder.glob("[0-9]*.parquet"))
    if not files:
        return {}
    import duckdb

    found: dict[int, list[tuple[Any, ...]]] = {}
    with _database().cursor() as connection:
        for file in files:
            try:
                found[int(file.stem)] = connection.execute(query, [str(file)]).fetchall()
            except duckdb.Error as error:
                said = str(error).partition("\n")[0]
                raise ArchiveError(
                    f"{file} cannot be read: {said}", f"remove the file to see the card without {what}"
                ) from error
    return found


def save_diagnosis(folder: Path, diagnosis: Diagnosis) -> None:
    """Keeps what was tested about a run beside it. Raises ArchiveError."""
    _put(folder / DIAGNOSIS_FILE, msgspec.json.format(msgspec.json.encode(diagnosis), indent=1))


def load_diagnosis(folder: str) -> Diagnosis | None:
    """What was tested about a run; None when nothing was. Raises ArchiveError."""
    path = Path(folder.removesuffix(RUN_FILE), DIAGNOSIS_FILE)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Diagnosis)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise ArchiveError(f"{path} cannot be understood: {error}", "remove it, and diagnose again") from error


def load_under_way(folder: str) -> UnderWay | None:
    """How far a run is that is under way; None when it is not, or has not said yet."""
    try:
        return msgspec.json.decode(Path(folder, UNDER_WAY_FILE).read_bytes(), type=UnderWay)
    except (OSError, msgspec.MsgspecError):
        return None


class _Version(msgspec.Struct):
    schema_version: int = 0


def load_courses(folder: str) -> dict[int, Course]:
    """The course of every phase of a run folder, by the number of the phase. Raises ArchiveError.

    A phase whose file is not there has none; so has a folder of a run that was imported.
    """
    path = Path(folder)
    path = path.parent if path.name == RUN_FILE else path
    # Lists come as text: to make their values one by one, as the database does, takes twice as long.
    columns = ", ".join(f"response_{part}{'::VARCHAR' * (part in _LISTS)}" for part in _HISTOGRAM)
    query = f"SELECT start_ns, op, size_bytes, bytes, errors, {columns} FROM read_parquet(?) ORDER BY interval"
    found = _rows(path / "intervals", query, "its course over time")
    return {number: tuple(_interval(row) for row in rows) for number, rows in found.items()}


_LISTS = ("index", "count")
_HISTOGRAM = (*_LISTS, "sum_ns", "sum_squares", "min_ns", "max_ns")
_numbers = msgspec.json.Decoder(tuple[int, ...]).decode


def _interval(row: tuple[Any, ...]) -> Interval:
    start_ns, op, size_bytes, moved, errors, index, count, *rest = row
    return Interval(start_ns, op, size_bytes, moved, errors, Histogram(_numbers(index), _numbers(count), *rest))


def _load_samples(folder: Path) -> dict[int, tuple[Sample, ...]]:
    # In the order in which they were written, which is that of time.
    query = "SELECT time_ns, observer, subject, metric, value FROM read_parquet(?)"
    found = _rows(folder / "samples", query, "what was observed then")
    return {number: tuple(Sample(*row) for row in rows) for number, rows in found.items()}

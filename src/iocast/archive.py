"""Run folders: a Run becomes run.json and Parquet files, phase by phase, and is read back from them.

    run.json                  the Run without its samples: plan, host, phases with their histograms
    intervals/NNN.parquet     the series of phase NNN: interval x op x size, sparse histograms
    samples/NNN.parquet       what the observers saw during phase NNN

Every file is written beside its place and then renamed, so a folder is valid at any moment.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Protocol

import msgspec

from iocast.errors import ArchiveError
from iocast.model.run import SCHEMA_VERSION, Run, Sample

RUN_FILE = "run.json"


class ArrowStream(Protocol):
    """Anything that hands its columns over as an Arrow C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the stream."""


class RunFolder:
    """A folder that is being written. Create it with `create`; `save` after every phase."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, base: str, name: str) -> RunFolder:
        """Makes `base/<time>-<name>`, never one that exists. Raises ArchiveError."""
        stamp = time.strftime("%Y-%m-%dT%H%M%S")
        slug = "".join(c if c.isalnum() else "-" for c in name.lower()).strip("-")
        for attempt in range(1, 1000):
            suffix = "" if attempt == 1 else f"-{attempt}"
            path = Path(base) / f"{stamp}-{slug}{suffix}"
            try:
                path.mkdir(parents=True, exist_ok=False)
            except FileExistsError:
                continue
            except OSError as error:
                raise ArchiveError(
                    f"{path}: cannot make the run folder: {error.strerror}",
                    "say where run folders go with --out DIR",
                ) from error
            return cls(path)
        raise ArchiveError(f"{base}: no free name for a run folder", "say where run folders go with --out DIR")

    def save(self, run: Run) -> None:
        """Writes run.json; call it whenever the run has changed."""
        bare = msgspec.structs.replace(
            run, phases=tuple(msgspec.structs.replace(record, samples=()) for record in run.phases)
        )
        text = msgspec.json.format(msgspec.json.encode(bare), indent=1)
        fresh = self.path / (RUN_FILE + ".new")
        try:
            fresh.write_bytes(text + b"\n")
            os.replace(fresh, self.path / RUN_FILE)
        except OSError as error:
            raise ArchiveError(f"{self.path}: cannot write: {error.strerror}", "make room, or use --out DIR") from error

    def save_phase(self, number: int, name: str, intervals: ArrowStream, samples: tuple[Sample, ...]) -> None:
        """Writes the series and the samples of one phase."""
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

    def discard(self) -> None:
        """Removes a folder in which nothing was measured."""
        shutil.rmtree(self.path, ignore_errors=True)


def _write(path: Path, query: str, values: list[object], intervals: ArrowStream | None) -> None:
    """Writes the rows of a query as one Parquet file. DuckDB scans `intervals` by its Arrow stream."""
    import duckdb

    fresh = path.with_suffix(".new")
    target = str(fresh).replace("'", "''")
    try:
        path.parent.mkdir(exist_ok=True)
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)", values)
        os.replace(fresh, path)
    except (OSError, duckdb.IOException) as error:
        raise ArchiveError(f"{path}: cannot write: {error}", "make room, or use --out DIR") from error


def load(folder: str) -> Run:
    """Reads a run folder. Raises ArchiveError when it is none, or of a newer iocast."""
    path = Path(folder) / RUN_FILE
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ArchiveError(
            f"{folder} is not a run folder: {error.strerror}",
            "give the folder that `iocast run` or `card` named",
        ) from error
    try:
        version = msgspec.json.decode(text, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise ArchiveError(
                f"{path}: written by a newer iocast (schema {version}, this one reads up to {SCHEMA_VERSION})",
                "read it with the iocast that wrote it, or a newer one",
            )
        run = msgspec.json.decode(text, type=Run)
    except msgspec.MsgspecError as error:
        raise ArchiveError(f"{path}: {error}", "the file was changed or cut short") from error
    samples = _load_samples(Path(folder))
    phases = tuple(
        msgspec.structs.replace(record, samples=samples.get(number, ())) for number, record in enumerate(run.phases)
    )
    return msgspec.structs.replace(run, phases=phases)


class _Version(msgspec.Struct):
    schema_version: int = 0


def _load_samples(folder: Path) -> dict[int, tuple[Sample, ...]]:
    files = sorted((folder / "samples").glob("*.parquet"))
    if not files:
        return {}
    import duckdb

    found: dict[int, tuple[Sample, ...]] = {}
    with duckdb.connect() as connection:
        for file in files:
            rows = connection.execute(
                "SELECT time_ns, observer, subject, metric, value FROM read_parquet(?) ORDER BY time_ns",
                [str(file)],
            ).fetchall()
            found[int(file.stem)] = tuple(Sample(*row) for row in rows)
    return found

"""fio's JSON and JSON+ output, of fio 2 and 3.

What it is: what `fio --output-format=json` (or json+, or normal,json) writes, also by a client of several servers.
What is read: each job (or group of jobs) is a row; I/Os, bytes, run time, total and completion latency,
stated percentiles, json+ bins, fsync times, errors, and the load from the job options. Times are microseconds
before fio 3 and nanoseconds since, io_bytes is in KiB before fio 3.
What it cannot see: which I/O was slow; in a mix, which latency buckets are reads; for an entry that sums up
different jobs (group_reporting, "All clients"), how many they were and the load of each.
What is refused: a truncated document, or one without jobs; reads and writes reported as one
(unified_rw_reporting=mixed); an impossible figure. Of several documents of one growing run (--status-interval) the last
is used.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from iocast.errors import SourceError
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket
from iocast.tools.fio.fio_load import Load, Options, size_of_all
from iocast.tools.fio.fio_rows import CLOCK_NOTE, groups_of, notes_on, rows_of
from iocast.tools.fio.job_options import OPS, Op
from iocast.tools.fio.latency_bins import bin_of, buckets, from_bins
from iocast.tools.fio.results import ALL, MIXED_HINT, MIXED_ONLY, JobResult, Side, ios_by_rate
from iocast.tools.foreign_numbers import bounded, number, number_of, whole
from iocast.tools.source_files import WRONG_FILE, Head, read_text, refuse
from iocast.tools.stated_rows import Row, at_once, run

Json = dict[str, Any]
BINS = "FIO_IO_U_PLAT_"  # constants that stand among the bins of fio 2
LINES = " lines"  # where the jobs of a document begin
_JOB = re.compile(r'"jobname"\s*:')
_PERCENTILE = re.compile(r"[0-9]{1,400}(?:\.[0-9]{1,400})?")
_BIN = re.compile(r"[0-9]{1,20}")
_BEGIN = re.compile(r"^[^\S\n]*\{", re.MULTILINE)  # within its line: blank lines are looked at once
_NO_NUMBER = re.compile(r'(":\s*)-?(?:nan|inf)\b')


def documents(path: str, text: str) -> tuple[list[Json], list[str]]:
    """Every whole document; of one that grew (the same jobs, more time) the last state."""
    text = _NO_NUMBER.sub(r"\1null", text)
    decoder = json.JSONDecoder(object_pairs_hook=_pairs)
    parsed: list[Json] = []
    warnings: list[str] = []
    at = _next(text, 0)
    first, counted = 1, 0  # the line on which a document begins, counted up to `counted`
    while at >= 0:
        first, counted = first + text.count("\n", counted, at), at
        try:
            document, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as fault:
            error = (
                fault
                if isinstance(fault, json.JSONDecodeError)
                else json.JSONDecodeError("a number or nesting", text, at)
            )
            line = first + text.count("\n", counted, error.pos)
            if not parsed:
                raise refuse(path, line, f"the document is truncated or damaged: {error.msg}") from None
            warnings.append(f"{path}:{line}: a document is truncated or damaged; the documents before it were read")
            break
        if isinstance(document, dict) and "fio version" in document:
            parsed.append(document | {LINES: tuple(_lines(text, first, at, end))})
        at = _next(text, end)
    if not parsed:
        raise refuse(path, 0, "it contains no fio document")
    grown = [now for now, after in zip(parsed, [*parsed[1:], None], strict=True) if not _grows(now, after)]
    if len(grown) < len(parsed):
        warnings.append(f"{path}: {len(parsed) - len(grown)} earlier states of the unfinished run are left out")
    return grown, warnings


def _lines(text: str, line: int, start: int, end: int) -> Iterator[int]:
    """The line of each job of a document that stands between `start`, on that line, and `end`."""
    counted = start
    for job in _JOB.finditer(text, start, end):
        line, counted = line + text.count("\n", counted, job.start()), job.start()
        yield line


def _next(text: str, start: int) -> int:
    match = _BEGIN.search(text, start)
    return match.end() - 1 if match else -1


def _pairs(pairs: list[tuple[str, Any]]) -> Json:
    """fio repeats "filename" once for each file."""
    fields: Json = {}
    for key, value in pairs:
        fields[key] = f"{fields[key]}:{value}" if key == "filename" and fields.get(key, value) != value else value
    return fields


def _grows(now: Json, after: Json | None) -> bool:
    """True when `after` is a later state of the same jobs."""
    if after is None:
        return False
    mine, theirs = (each.get("jobs") or [] for each in (now, after))
    if not all(isinstance(job, dict) for jobs in (mine, theirs) for job in (jobs if isinstance(jobs, list) else [0])):
        return False  # it is refused later
    same = [job.get("jobname") for job in mine] == [job.get("jobname") for job in theirs]
    if not _began_before(now, after, theirs):
        return False
    return bool(mine) and same and all(_done(one) <= _done(two) for one, two in zip(mine, theirs, strict=True))


def _began_before(now: Json, after: Json, jobs: list[Json]) -> bool:
    """False when the run of `after` began when `now` had been printed; True where no times are stated."""
    printed, ended = (each.get("timestamp_ms") for each in (now, after))
    elapsed_s = max((each for job in jobs if isinstance(each := job.get("elapsed"), int)), default=None)
    if not isinstance(printed, int) or not isinstance(ended, int) or elapsed_s is None:
        return True
    return ended - (elapsed_s - 1) * 1000 <= printed  # fio rounds it up


def _done(job: Json) -> tuple[float, ...]:
    parts = (part for name in OPS if isinstance(part := job.get(name), dict))
    figures = (job.get("elapsed"), *(part.get("total_ios") for part in parts))
    elapsed, *ios = (number_of(each) or 0.0 for each in figures)
    return (elapsed, sum(ios))


def jobs_of(path: str, document: Json) -> list[Job]:
    """The jobs of a document, of each server its own. Raises SourceError when it has none."""
    jobs = document.get("jobs") or document.get("client_stats", document.get("jobs"))
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise refuse(path, 0, 'a document has no "jobs" list')
    lines = document[LINES] if len(document[LINES]) == len(jobs) else [0] * len(jobs)
    who = [(str(job.get("jobname")), str(job.get("hostname"))) for job in jobs]
    alike = Counter(who)
    return [Job(path, line, document, job, alike[each]) for line, job, each in zip(lines, jobs, who, strict=True)]


class Job:
    """One job of a document; `alike` counts those of its name and host, each of which is one of its numjobs."""

    def __init__(self, path: str, line: int, document: Json, job: Json, alike: int) -> None:
        self.path, self.line, self.document, self.job, self.alike = path, line, document, job, alike
        self.name = str(job.get("jobname", "job"))
        if job.get("hostname") and self.name != ALL:
            self.name = f"{self.name} on {job['hostname']}"
        self.common, self.own = (
            self._part(at, key) for at, key in ((document, "global options"), (job, "job options"))
        )
        self.parts: dict[Op, Json] = {op: self._part(job, op) for op in OPS if op in job}
        self.nanoseconds = any("lat_ns" in part or "clat_ns" in part for part in self.parts.values())

    @property
    def threads_ms(self) -> float:
        """The time of all its threads together; 0 when it is not stated."""
        return self._number(self.job, "job_runtime") or 0

    @property
    def runtime_ms(self) -> float:
        """The time of the operation that took longest."""
        return max((self._number(part, "runtime") or 0 for part in self.parts.values()), default=0)

    @property
    def did(self) -> set[Op]:
        """The operations of which it did any."""
        return {op for op, part in self.parts.items() if self._number(part, "total_ios") or self._of_2_1(part)}

    @property
    def group(self) -> int | None:
        """The number of its group, whose jobs start together."""
        own = self.job.get("groupid")
        return own if isinstance(own, int) else None

    @property
    def started_unix_ms(self) -> int:
        """When it began; 0 when it is not stated."""
        start, end = self._number(self.job, "job_start"), self._number(self.document, "timestamp_ms")
        return round(start or (end - self.runtime_ms if end else 0))

    def result(self) -> JobResult:
        """What it states. Raises SourceError."""
        if not self.parts:
            if "mixed" in self.job:
                raise self._refuse(f": {MIXED_ONLY}", MIXED_HINT)
            raise self._refuse(" states no reads or writes")
        stated = (round(self._number(self.job, name) or 0) for name in ("error", "total_err", "first_err"))
        number, total, first = stated
        return JobResult(
            path=self.path,
            line=self.line,
            name=self.name,
            runtime_ms=self.runtime_ms,
            sides={op: side for op, part in self.parts.items() if (side := self._side(op, part, self.did <= {op}))},
            flushes=self._flushes(),
            data_only=self._counted_as_reads > 0,
            error=number or first,
            errors=total,
        )

    def _side(self, op: Op, part: Json, alone: bool) -> Side | None:
        ios, moved = self._number(part, "total_ios"), self._number(part, "io_bytes")
        by_rate = self._of_2_1(part)
        if by_rate:
            runtime_ms, rate_per_s = self._number(part, "runtime") or 0, self._number(part, "iops") or 0
            ios, size = ios_by_rate(round(moved or 0) * 1024, rate_per_s, runtime_ms)
            by_rate = size is None
        elif ios is None and moved:
            raise self._refuse(f" does not state the number of {op}s (total_ios)")
        if not ios:
            return None
        if moved is None or ios % 1:
            raise self._refuse(
                f" does not state the bytes of its {op}s (io_bytes), or their number (total_ios) is not whole"
            )
        unit_ns, suffix = (1, "_ns") if self.nanoseconds else (1000, "")
        slat, clat, lat = (self._part(part, f"{kind}{suffix}") for kind in ("slat", "clat", "lat"))
        source = lat if lat.get("percentile") and not clat.get("percentile") else clat
        shares, whole = self._bins(self._table(source, "bins"), unit_ns)
        if not shares and alone:
            shares, whole = self._buckets(), 100.0
        return Side(
            ios=round(ios),
            bytes=round(moved * (1 if "io_kbytes" in part else 1024)),  # fio 2 means KiB by io_bytes
            short_ios=round(self._number(part, "short_ios") or 0),
            runtime_ms=self._number(part, "runtime") or 0,
            rate_per_s=self._number(part, "iops"),
            ios_by_rate=by_rate,
            lat=self._spread(lat, unit_ns),
            means_ns=tuple(self._spread(each, unit_ns)["mean"] for each in (slat, clat, lat)),  # type: ignore[arg-type]
            quantiles=self._quantiles(source, unit_ns),
            buckets=shares,
            whole=whole,
        )

    @staticmethod
    def _of_2_1(part: Json) -> bool:
        """Whether it moved bytes and states a rate, but no number of I/Os: fio 2.1 does."""
        return "total_ios" not in part and all(part.get(key) for key in ("io_bytes", "iops", "runtime"))

    def _flushes(self) -> Side | None:
        part = self._part(self.job, "sync")
        ios = self._number(part, "total_ios") or self._counted_as_reads
        if not ios:
            return None
        lat = self._part(part, "lat_ns")
        shares, whole = self._bins(self._table(lat, "bins"), 1)
        return Side(
            ios=round(ios),
            size_bytes=0,
            lat=self._spread(lat, 1),
            quantiles=self._quantiles(lat, 1),
            buckets=shares,
            whole=whole,
        )

    @property
    def _counted_as_reads(self) -> float:
        """The fdatasyncs, which fio counts among short reads: their times say how many there were."""
        part = self._part(self.job, "sync")
        return 0 if self._number(part, "total_ios") else self._number(self._part(part, "lat_ns"), "N") or 0

    def _spread(self, part: Json, unit_ns: int) -> dict[str, float | None]:
        figures = {key: self._number(part, key) for key in ("min", "max", "mean", "stddev")}
        return {key: None if value is None else value * unit_ns for key, value in figures.items()}

    def _table(self, part: Json, key: str) -> dict[str, float]:
        """The numbers under `key`, by their names; those that fio could not state are left out."""
        table = self._part(part, key)
        return {name: value for name in table if (value := self._number(table, name)) is not None}

    def _quantiles(self, part: Json, unit_ns: int) -> list[tuple[float, float]]:
        stated = self._table(part, "percentile")
        for name in stated:
            if not _PERCENTILE.fullmatch(name):
                raise self._refuse(f': "{name[:40]}" is not a percentile')
        return [
            (number(self.path, self.line, name, "a percentile") / 100, value * unit_ns)
            for name, value in stated.items()
        ]

    def _bins(self, bins: Mapping[str, float], unit_ns: int) -> tuple[tuple[Bucket, ...], float]:
        """json+ bins: fio 3 names them by a value inside, fio 2 by their number."""
        numbered = any(key.startswith(BINS) for key in bins)
        counts: dict[int, int] = {}
        for key, count in bins.items():
            if _BIN.fullmatch(key):
                named = whole(self.path, self.line, key, "a bin")
                index = named if numbered else bin_of(named)
                counts[index] = counts.get(index, 0) + round(count)
        coarse = from_bins(counts, unit_ns)
        return coarse.buckets, coarse.whole

    def _buckets(self) -> tuple[Bucket, ...]:
        units = {unit: self._table(self.job, f"latency_{unit}") for unit in ("ns", "us", "ms")}
        return buckets({(unit, edge): share for unit, each in units.items() for edge, share in each.items()})

    def _refuse(self, what: str, hint: str = WRONG_FILE) -> SourceError:
        return refuse(self.path, self.line, f"job {self.name[:80]}{what}", hint)

    def _part(self, within: Json, key: str) -> Json:
        """A table of the document, {} when it is not there. Raises SourceError when it is something else."""
        part = within.get(key)
        if not isinstance(part, dict | None):
            raise self._refuse(f': "{key}" is not a table')
        return part or {}

    def _number(self, part: Json, key: str) -> float | None:
        value = part.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return bounded(self.path, self.line, value, f'job {self.name[:80]}: "{key}"')
        if value is not None:  # fio's nan and inf have become None
            raise self._refuse(f': "{key[:40]}" is not a number')
        return None


GROUP_SLACK = 1.5  # of job_runtime, which sums up the threads of an entry


def sniff(head: Head) -> bool:
    """fio names itself in the first lines of a document."""
    return '"fio version"' in head.text


def read(paths: tuple[str, ...]) -> Run:
    """The jobs of all documents in these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    versions: dict[str, None] = {}
    outputs = 0
    for path in paths:
        jsons, said = documents(path, read_text(path))
        warnings += said
        for document in jsons:
            versions[str(document.get("fio version", "")).removeprefix("fio-")] = None
            outputs += 1
            own: list[Row] = []
            groups: list[str] = []
            for job in jobs_of(path, document):
                row_list = _rows(job, warnings)
                own += row_list
                groups += groups_of(
                    row_list, f"group {job.group} of output {outputs}" if _starts_with_group(job) else ""
                )
            rows += at_once(own, groups)
    if not rows:
        raise refuse(paths[0], 0, "it has no job")
    source = Source(
        tool="fio", version=", ".join(filter(None, versions)), files=paths, notes=notes_on(rows, CLOCK_NOTE)
    )
    return run(source, rows, warnings=warnings)


def _rows(job: Job, warnings: list[str]) -> list[Row]:
    result = job.result()
    options = None if _of_several(job) else Options(job.common, job.own, job.alike)
    for op, side in result.sides.items():
        sized = options.size if options else size_of_all
        side.size_bytes = sized(op, side.bytes, side.ios)
    first = next((side.size_bytes for side in result.sides.values()), None)
    load = options.load(first) if options else Load()
    started_ns = job.started_unix_ms * 1_000_000
    return rows_of(result, load, warnings, started_unix_ns=started_ns, test=job.name if options else "")


def _of_several(job: Job) -> bool:
    """True when this entry sums up unlike sections: its options are those of one of them, or of none."""
    options = Options(job.common, job.own, job.alike)
    more = bool(job.runtime_ms) and job.threads_ms > GROUP_SLACK * (options.users or 1) * job.runtime_ms
    others = job.did - {*options.ops} - ({"read"} if options.on("verify") else set())
    return job.name == ALL or more or bool(options.ops and others)


def _starts_with_group(job: Job) -> bool:
    """False for a sum, and for one that starts later."""
    return job.name != ALL and job.group is not None and not Options(job.common, job.own).on("startdelay")

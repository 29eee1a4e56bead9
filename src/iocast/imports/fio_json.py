"""fio's JSON and JSON+ output, of fio 2 and 3.

What it is: what `fio --output-format=json` (or json+, or normal,json) writes, also by a client of several servers.
What is read: each job (or group of jobs) is a row; I/Os, bytes, run time, the whole and the completion latency,
stated percentiles, json+ bins, fsync times, errors, and from the job options the load. Times are microseconds
before fio 3 and nanoseconds since, io_bytes is in KiB before fio 3.
What it cannot see: which I/O was slow, and, of a mix, which of its latency buckets are reads; of an entry that sums up
unlike jobs (group_reporting, "All clients") how many they were and what load each made.
What is refused: a document that is cut, or without jobs; reads and writes told as one (unified_rw_reporting=mixed);
a figure that no tool can have measured. Of several documents of one growing run
(--status-interval) the last is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from iocast.errors import SourceError
from iocast.imports import consistency
from iocast.imports.fio_options import Options, Untold
from iocast.imports.fio_words import (
    ALL,
    ALL_NOTE,
    CLOCK_NOTE,
    MIXED_HINT,
    MIXED_NOTE,
    MIXED_ONLY,
    bin_of,
    buckets,
    from_bins,
    times,
    writes_per_flush,
)
from iocast.imports.source_files import WRONG_FILE, Head, bounded, read_text, refuse
from iocast.imports.stated_rows import OpFigures, Row, at_once, run
from iocast.model.measurement import ErrorCount
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket
from iocast.model.workload import Op

Json = dict[str, Any]
OPS: tuple[Op, ...] = ("read", "write", "trim")
BINS = "FIO_IO_U_PLAT_"  # constants that stand among the bins of fio 2
LINES = " lines"  # where the jobs of a document begin
JOB = re.compile(r'"jobname"\s*:')
GROUP_SLACK = 1.5  # of job_runtime, which sums up the threads of an entry
_NO_NUMBER = re.compile(r'(":\s*)-?(?:nan|inf)\b')


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
        documents, said = _documents(path, read_text(path))
        warnings += said
        for document in documents:
            versions[str(document.get("fio version", "")).removeprefix("fio-")] = None
            readers = [_Job(path, document, job, place) for place, job in enumerate(_jobs(path, document))]
            own = [reader.row() for reader in readers]
            outputs += 1
            rows += at_once(own, [reader.group(outputs) for reader in readers])
            for reader, row in zip(readers, own, strict=True):
                warnings += [*reader.warnings, *consistency.inconsistencies(row)]
    if not rows:
        raise refuse(paths[0], 0, "there is no job in it")
    notes = (CLOCK_NOTE, MIXED_NOTE) if any(len(row.ops) > 1 for row in rows) else (CLOCK_NOTE,)
    source = Source(tool="fio", version=", ".join(filter(None, versions)), files=paths, notes=notes)
    return run(source, rows, warnings=warnings)


def _documents(path: str, text: str) -> tuple[list[Json], list[str]]:
    """Every whole document; of one that grew (the same jobs, more time) the last state."""
    text = _NO_NUMBER.sub(r"\1null", text)
    decoder = json.JSONDecoder(object_pairs_hook=_pairs)
    found: list[Json] = []
    warnings: list[str] = []
    at = _next(text, 0)
    while at >= 0:
        try:
            document, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as fault:
            error = (
                fault
                if isinstance(fault, json.JSONDecodeError)
                else json.JSONDecodeError("a number or nesting", text, at)
            )
            line = text.count("\n", 0, error.pos) + 1
            if not found:
                raise refuse(path, line, f"the document is cut or damaged: {error.msg}") from None
            warnings.append(f"{path}:{line}: a document is cut or damaged; those before it were read")
            break
        if isinstance(document, dict) and "fio version" in document:
            places = (text.count("\n", 0, at + job.start()) + 1 for job in JOB.finditer(text[at:end]))
            found.append(document | {LINES: tuple(places)})
        at = _next(text, end)
    if not found:
        raise refuse(path, 0, "there is no document of fio in it")
    grown = [now for now, after in zip(found, [*found[1:], None], strict=True) if not _grows(now, after)]
    if len(grown) < len(found):
        warnings.append(f"{path}: {len(found) - len(grown)} earlier states of a run still going on are left out")
    return grown, warnings


def _next(text: str, start: int) -> int:
    found = re.compile(r"^\s*\{", re.MULTILINE).search(text, start)
    return found.end() - 1 if found else -1


def _pairs(pairs: list[tuple[str, Any]]) -> Json:
    """fio repeats "filename" once for each file."""
    found: Json = {}
    for key, value in pairs:
        found[key] = f"{found[key]}:{value}" if key == "filename" and found.get(key, value) != value else value
    return found


def _grows(now: Json, after: Json | None) -> bool:
    """True when `after` is a later state of the same jobs."""
    if after is None:
        return False
    mine, theirs = (each.get("jobs") or [] for each in (now, after))
    if not all(isinstance(job, dict) for jobs in (mine, theirs) for job in (jobs if isinstance(jobs, list) else [0])):
        return False  # it is refused later
    same = [job.get("jobname") for job in mine] == [job.get("jobname") for job in theirs]
    return bool(mine) and same and all(_done(one) <= _done(two) for one, two in zip(mine, theirs, strict=True))


def _done(job: Json) -> tuple[float, ...]:
    parts = (part for name in OPS if isinstance(part := job.get(name), dict))
    figures = (job.get("elapsed"), *(part.get("total_ios") for part in parts))
    elapsed, *ios = (float(each) if isinstance(each, int | float) else 0.0 for each in figures)
    return (elapsed, sum(ios))


def _jobs(path: str, document: Json) -> list[Json]:
    jobs = document.get("jobs") or document.get("client_stats", document.get("jobs"))
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise refuse(path, 0, 'a document has no list "jobs"')
    return jobs


class _Job:
    """One job of a document being read."""

    def __init__(self, path: str, document: Json, job: Json, place: int) -> None:
        self.path, self.document, self.job = path, document, job
        lines = document[LINES]
        self.line: int = lines[place] if len(lines) == len(_jobs(path, document)) else 0
        self.name = str(job.get("jobname", "job"))
        if job.get("hostname") and self.name != ALL:
            self.name = f"{self.name} on {job['hostname']}"
        self.warnings: list[str] = []
        alike = [each for each in _jobs(path, document) if each.get("jobname") == job.get("jobname")]
        same_host = [each for each in alike if each.get("hostname") == job.get("hostname")]
        common, own = (self._part(at, key) for at, key in ((document, "global options"), (job, "job options")))
        self.options = Options(common, own, len(same_host))
        self.nanoseconds = any("lat_ns" in part or "clat_ns" in part for part in self._parts())
        if self._of_several():
            self.options = Untold()
        if self.name == ALL:
            self.warnings.append(ALL_NOTE)

    def _refuse(self, what: str, hint: str = WRONG_FILE) -> SourceError:
        return refuse(self.path, self.line, f"job {self.name[:80]}{what}", hint)

    def _part(self, within: Json, key: str) -> Json:
        """A table of the document, {} when it is not there. Raises SourceError when it is something else."""
        found = within.get(key)
        if not isinstance(found, dict | None):
            raise self._refuse(f': "{key}" is no table')
        return found or {}

    def _of_several(self) -> bool:
        """True when this entry sums up unlike sections: its options are those of one of them, or of none."""
        elapsed_ms = max((self._number(part, "runtime") or 0 for part in self._parts()), default=0)
        threads_ms = self._number(self.job, "job_runtime")
        done = {op for op in OPS if self._number(self._part(self.job, op), "total_ios")}
        users = self.options.users or 1
        more = bool(threads_ms and elapsed_ms) and (threads_ms or 0) > GROUP_SLACK * users * elapsed_ms
        return self.name == ALL or more or bool(self.options.ops and done - {*self.options.ops})

    def _parts(self) -> Iterator[Json]:
        yield from (self._part(self.job, name) for name in OPS if name in self.job)

    def row(self) -> Row:
        """The job as a row."""
        if not any(True for _ in self._parts()):
            if "mixed" in self.job:
                raise self._refuse(f": {MIXED_ONLY}", MIXED_HINT)
            raise self._refuse(" says nothing of reads and writes")
        elapsed_ms = max(self._number(part, "runtime") or 0 for part in self._parts())
        ops = [figures for op in OPS if (figures := self._op(op, self._only(op)))]
        ops += self._sync()
        if ops and not elapsed_ms:
            raise self._refuse(" did I/O but states no run time")
        options = self.options
        summed = isinstance(options, Untold)
        told = "+".join(each.op for each in ops) if summed else options.rw.partition(":")[0]
        every = writes_per_flush({each.op: each.ios for each in ops}) if summed else 0
        return Row(
            name=self.name,
            test=told or self.name,
            ops=tuple(ops),
            elapsed_ns=round(elapsed_ms * 1e6),
            users=options.users,
            depth=options.depth,
            direct=options.direct,
            sync=options.sync,
            fsync_every=every or options.fsync_every,
            derived=("fsync_every",) if every else (),
            locality=options.locality,
            arrival=options.arrival(next((each.size_bytes for each in ops), None)),
            path=options.path,
            engine=options.engine,
            started_unix_ns=self._started(elapsed_ms),
            errors=self._errors(),
        )

    def group(self, output: int) -> str:
        """A word for all jobs of its group, which start at once; "" for a sum, and for one that starts later."""
        own = self.job.get("groupid")
        late = self.options.get("startdelay", "start_delay") not in ("", "0")
        return "" if self.name == ALL or late or not isinstance(own, int) else f"group {own} of output {output}"

    def _only(self, op: str) -> bool:
        others = ({"read", "write", "trim"} - {op}) & {*self.job}
        return not any(self._number(self._part(self.job, name), "total_ios") for name in others)

    def _number(self, part: Json, key: str) -> float | None:
        value = part.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            near = float(min(value, 1 << 70)) if isinstance(value, int) else value
            return bounded(self.path, self.line, near, f'job {self.name[:80]}: "{key}"')
        if value is not None:  # fio's nan and inf have become None
            raise self._refuse(f': "{key[:40]}" is no number')
        return None

    def _op(self, op: Op, alone: bool) -> OpFigures | None:
        part = self._part(self.job, op)
        ios = self._number(part, "total_ios")
        if ios is None and self._number(part, "io_bytes"):
            raise self._refuse(f" states no number of {op}s (total_ios)")
        if not ios:
            return None
        if self._number(part, "io_bytes") is None or ios % 1:
            raise self._refuse(f" states no bytes of its {op}s (io_bytes), or no whole number of them (total_ios)")
        factor = 1 if "io_kbytes" in part else 1024  # fio 2 means KiB by io_bytes
        moved = round((self._number(part, "io_bytes") or 0) * factor)
        unit_ns = 1 if self.nanoseconds else 1000
        suffix = "_ns" if self.nanoseconds else ""
        slat, clat, lat = (self._part(part, f"{kind}{suffix}") for kind in ("slat", "clat", "lat"))
        source = lat if _has_percentiles(lat) and not _has_percentiles(clat) else clat
        shares, whole = self._bins(self._table(source, "bins"), unit_ns)
        if not shares and alone:
            shares, whole = self._buckets(), 100.0
        scaled = {key: _scaled(self._number(lat, key), unit_ns) for key in ("min", "max", "mean", "stddev")}
        self.warnings += consistency.parts_of_mean(
            f"{self.name}, {op}", *(_scaled(self._number(each, "mean"), unit_ns) for each in (slat, clat, lat))
        )
        runtime_ms = self._number(part, "runtime") or 0
        iops = self._number(part, "iops")
        if iops is not None:
            self.warnings += consistency.stated_rate(f"{self.name}, {op}", round(ios), round(runtime_ms * 1e6), iops)
        return OpFigures(
            op=op,
            ios=round(ios),
            bytes=moved,
            size_bytes=self.options.size(op, moved, round(ios)),
            short_ios=round(self._number(part, "short_ios") or 0),
            times=times(round(ios), scaled, self._quantiles(source, unit_ns), shares, whole),
        )

    def _table(self, part: Json, key: str) -> dict[str, float]:
        """The numbers under `key`, by their names; those that fio could not state are left out."""
        table = self._part(part, key)
        return {name: value for name in table if (value := self._number(table, name)) is not None}

    def _quantiles(self, part: Json, unit_ns: int) -> list[tuple[float, float]]:
        stated = self._table(part, "percentile")
        for name in stated:
            if not re.fullmatch(r"\d+(?:\.\d+)?", name):
                raise self._refuse(f': "{name[:40]}" is no percentile')
        return [(float(name) / 100, value * unit_ns) for name, value in stated.items()]

    def _bins(self, bins: Mapping[str, float], unit_ns: int) -> tuple[tuple[Bucket, ...], float]:
        """json+ bins: fio 3 names them by a value inside, fio 2 by their number."""
        numbered = any(key.startswith(BINS) for key in bins)
        counts: dict[int, int] = {}
        for key, count in bins.items():
            if re.fullmatch(r"[0-9]{1,20}", key):
                index = int(key) if numbered else bin_of(int(key))
                counts[index] = counts.get(index, 0) + round(count)
        found = from_bins(counts, unit_ns)
        return found.buckets, found.whole

    def _buckets(self) -> tuple[Bucket, ...]:
        units = {unit: self._table(self.job, f"latency_{unit}") for unit in ("ns", "us", "ms")}
        return buckets({(unit, edge): share for unit, each in units.items() for edge, share in each.items()})

    def _sync(self) -> list[OpFigures]:
        part = self._part(self.job, "sync")
        ios = self._number(part, "total_ios")
        if not ios:
            return []
        lat = self._part(part, "lat_ns")
        scaled = {key: self._number(lat, key) for key in ("min", "max", "mean", "stddev")}
        shares, whole = self._bins(self._table(lat, "bins"), 1)
        op: Op = "fdatasync" if self.options.fdatasync else "fsync"
        found = times(round(ios), scaled, self._quantiles(lat, 1), shares, whole)
        return [OpFigures(op=op, ios=round(ios), bytes=0, size_bytes=0, times=found)]

    def _errors(self) -> tuple[ErrorCount, ...]:
        import errno

        stated = (round(self._number(self.job, name) or 0) for name in ("error", "total_err", "first_err"))
        number, total, first = stated
        number = number or first
        if not number and not total:
            return ()
        name = errno.errorcode.get(number, f"error {number}")
        self.warnings.append(f"{self.name}: fio stopped this job with {name}")
        return (ErrorCount((*self.options.ops, "read")[0], number, name, max(1, total), ()),)

    def _started(self, elapsed_ms: float) -> int:
        start = self._number(self.job, "job_start")
        if start:
            return round(start) * 1_000_000
        end = self._number(self.document, "timestamp_ms")
        return round(end - elapsed_ms) * 1_000_000 if end else 0


def _has_percentiles(part: Json) -> bool:
    return bool(part.get("percentile"))


def _scaled(value: float | None, unit_ns: int) -> float | None:
    return None if value is None else value * unit_ns

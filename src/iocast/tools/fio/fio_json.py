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

from iocast.model.run import Run, Source
from iocast.tools.fio.fio_load import Load, Options, size_of_all
from iocast.tools.fio.fio_rows import CLOCK_NOTE, groups_of, notes_on, rows_of
from iocast.tools.fio.json_output import Job, documents, jobs_of
from iocast.tools.fio.results import ALL
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import Row, at_once, run

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
        found, said = documents(path, read_text(path))
        warnings += said
        for document in found:
            versions[str(document.get("fio version", "")).removeprefix("fio-")] = None
            outputs += 1
            own: list[Row] = []
            groups: list[str] = []
            for job in jobs_of(path, document):
                told = _rows(job, warnings)
                own += told
                groups += groups_of(told, f"group {job.group} of output {outputs}" if _starts_with_group(job) else "")
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

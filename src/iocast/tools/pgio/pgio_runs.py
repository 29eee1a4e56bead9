"""pgio: what its runit.sh prints, for one run or a transcript of several.

What it is: the lines from "Testing 16 schemas with 8 thread(s) ..." to "DBNAME: ... RIOPS >492306< CACHE_HITS/s >8989<"
of pgio 1.0, Kevin Closson's load for PostgreSQL.
What is read: a row for each run: the blocks read (of 8 KiB) by the counters of pg_stat_database that stand before and
after it, over its time, for as many users as sessions. Without these counters the printed RIOPS.
What it cannot see: any time of an I/O; writes; whether a block came from storage or the page cache: pgio counts what
its server did not find in its own buffers. pgio_session_detail.out has statements and their longest times, no I/O, and
is not read; iostat.out beside it is.
What is refused: a line of rates that is cut; counters that fall; a run of no time.
A RIOPS that is far from the counters is named: runit.sh takes its first count before it launches the sessions and
divides by the time after it, so that all reads of a long launch are counted in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from iocast.model.run import Run, Source
from iocast.model.workload import Closed, Uniform
from iocast.text import capacity, counted
from iocast.tools.foreign_numbers import whole
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run

RESULT: Final = re.compile(
    r"DBNAME:\s+(?P<database>\S{1,200})\. (?P<schemas>\d{1,6}) schemas, (?P<threads>\d{1,6}) threads\(each\)\."
    r" Run time: (?P<seconds>\d{1,9}) seconds\. RIOPS >(?P<reads>-?\d{1,19})< CACHE_HITS/s >(?P<hits>-?\d{1,19})<"
)
_COUNTERS = ("BEFORE:", "AFTER:")  # the database, and five counters
_COUNTER = re.compile(r"-?\d{1,20}")
_LAUNCH = re.compile(r"Sessions launched\. NOTE: Launching the sessions took (\d{1,9}) seconds\.")
_TESTING = re.compile(
    r"Testing \d{1,6} schemas with \d{1,6} thread\(s\) accessing .{1,40} \((?P<blocks>\d{1,15}) blocks\) of each schema"
)
_BUFFERS = re.compile(r"Shared buffers: (\S{1,40})\. *$")


class Counters(Struct, frozen=True):
    """pg_stat_database at one moment."""

    hits: int
    reads: int
    updated: int


class PgioRun(Struct, frozen=True, kw_only=True):
    """One run. None, "": not printed."""

    line: int
    database: str
    schemas: int
    threads: int  # of each schema
    seconds: int
    printed_reads_per_s: int
    printed_hits_per_s: int
    blocks: int | None = None  # of each schema
    shared_buffers: str = ""
    launch_s: int = 0
    before: Counters | None = None  # after the sessions were launched
    after: Counters | None = None


class _Prologue(Struct):
    """What stood above the line of rates."""

    blocks: int | None = None
    shared_buffers: str = ""
    launch_s: int = 0
    before: Counters | None = None
    after: Counters | None = None


def runs_of(path: str, text: str) -> Iterator[PgioRun]:
    """The runs of a transcript, in their order. Raises SourceError with the line."""
    prologue = _Prologue()
    for at, line in enumerate(text.splitlines(), 1):
        said = line.strip()
        if said.startswith("DBNAME:") and "RIOPS" in said:
            if not (match := RESULT.match(said)):
                raise refuse(path, at, "a line of rates that is not pgio's, or is cut")
            yield PgioRun(
                line=at,
                database=match["database"],
                schemas=whole(path, at, match["schemas"], "the schemas"),
                threads=whole(path, at, match["threads"], "the threads"),
                seconds=whole(path, at, match["seconds"], "the run time"),
                printed_reads_per_s=whole(path, at, match["reads"], "RIOPS"),
                printed_hits_per_s=whole(path, at, match["hits"], "CACHE_HITS/s"),
                blocks=prologue.blocks,
                shared_buffers=prologue.shared_buffers,
                launch_s=prologue.launch_s,
                before=prologue.before,
                after=prologue.after,
            )
            prologue = _Prologue()
        elif match := _TESTING.match(said):
            prologue = _Prologue(
                blocks=whole(path, at, match["blocks"], "the blocks"), shared_buffers=prologue.shared_buffers
            )
        elif match := _BUFFERS.match(said):
            prologue.shared_buffers = match[1]
        elif match := _LAUNCH.match(said):
            prologue.launch_s = whole(path, at, match[1], "the launch")
        elif said.startswith(_COUNTERS) and "|" in said:
            hits, reads, _, _, updated = _counters(path, at, said)
            if said.startswith("BEFORE"):
                prologue.before = Counters(hits, reads, updated)
            else:
                prologue.after = Counters(hits, reads, updated)


def _counters(path: str, at: int, said: str) -> list[int]:
    """The five counters of a line. Raises SourceError."""
    cells = [each.strip() for each in said.split("|")[1:]]
    if len(cells) != 5 or not all(_COUNTER.fullmatch(each) for each in cells):
        raise refuse(path, at, "a line of counters that is not pgio's, or is cut")
    return [whole(path, at, each, "a counter") for each in cells]


BLOCK_BYTES: Final = 8_192
CACHES_NOTE: Final = (
    "Reads are blocks that PostgreSQL did not find in its shared buffers: the page cache may have answered any of them."
)
LEAST_UPDATES: Final = 1_000  # fewer rows are those of the catalogue, when runit.sh makes its functions
ALIKE: Final = 0.02  # of a rate: the seconds are whole


def sniff(head: Head) -> bool:
    """A line of rates, or the line that says what is tested."""
    return any(
        RESULT.match(line.strip()) or ("thread(s) accessing" in line and "of each schema" in line)
        for line in head.lines()
    )


def read(paths: tuple[str, ...]) -> Run:
    """The runs of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    rows: list[Row] = []
    notes = [CACHES_NOTE]
    for path in paths:
        runs = [*runs_of(path, read_whole_lines(path, warnings))]
        if not runs:
            raise refuse(path, 0, "a run without its line of rates: it was stopped, or the file is truncated")
        for each in runs:
            rows.append(_row(path, each, warnings))
            notes += _notes(each)
    return run(Source(tool="pgio", files=paths, notes=tuple(dict.fromkeys(notes))), rows, warnings=warnings)


def _name(each: PgioRun) -> str:
    return f"{counted(each.schemas, 'schema')} x {counted(each.threads, 'session')}"


def _notes(each: PgioRun) -> list[str]:
    """What a row has no place for."""
    said = []
    if each.blocks:
        working_set = each.schemas * each.blocks * BLOCK_BYTES
        buffers = f", shared buffers {each.shared_buffers}" if each.shared_buffers else ""
        said.append(f"{_name(each)}: working set {capacity(working_set)}{buffers}, {each.printed_hits_per_s:,} hits/s.")
    if each.before and each.after and (updated := each.after.updated - each.before.updated) >= LEAST_UPDATES:
        said.append(f"{_name(each)}: {updated:,} rows were updated; what that wrote is not counted.")
    return said


def _row(path: str, each: PgioRun, warnings: list[str]) -> Row:
    if not each.seconds:
        raise refuse(path, each.line, "a run of 0 seconds")
    stated = each.before is not None and each.after is not None
    reads = each.printed_reads_per_s * each.seconds
    if each.before and each.after:
        reads = _counted(path, each, each.before, each.after, warnings)
    return Row(
        name=_name(each),
        test="read",
        ops=(OpFigures(op="read", ios=reads, bytes=reads * BLOCK_BYTES, size_bytes=BLOCK_BYTES),) if reads else (),
        elapsed_ns=each.seconds * SECOND_NS,
        users=each.schemas * each.threads,
        depth=1,
        locality=Uniform(),
        arrival=Closed(),
        derived=() if stated else ("ios",),
    )


def _counted(path: str, each: PgioRun, before: Counters, after: Counters, warnings: list[str]) -> int:
    """The blocks read between the counters; says where the printed rate is another. Raises SourceError."""
    reads = after.reads - before.reads
    if reads < 0 or after.hits < before.hits:
        raise refuse(path, each.line, "the counters fell: the statistics were reset during the run")
    rate = reads / each.seconds
    if abs(rate - each.printed_reads_per_s) > max(ALIKE * rate, 1):
        why = f": {each.launch_s} s of launching are counted in it" if each.launch_s else ""
        warnings.append(
            f"{path}:{each.line}: RIOPS is {each.printed_reads_per_s:,}, its own counters say {rate:,.0f}{why}:"
            " the counters are taken"
        )
    return reads

"""What runit.sh of pgio 1.0 prints: for each run the settings, the counters before and after, and its line of rates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from iocast.tools.foreign_numbers import whole
from iocast.tools.source_files import refuse

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


class _Seen(Struct):
    """What stood above the line of rates."""

    blocks: int | None = None
    shared_buffers: str = ""
    launch_s: int = 0
    before: Counters | None = None
    after: Counters | None = None


def runs_of(path: str, text: str) -> Iterator[PgioRun]:
    """The runs of a transcript, in their order. Raises SourceError with the line."""
    seen = _Seen()
    for at, line in enumerate(text.splitlines(), 1):
        said = line.strip()
        if said.startswith("DBNAME:") and "RIOPS" in said:
            if not (found := RESULT.match(said)):
                raise refuse(path, at, "a line of rates that is not pgio's, or is cut")
            yield PgioRun(
                line=at,
                database=found["database"],
                schemas=whole(path, at, found["schemas"], "the schemas"),
                threads=whole(path, at, found["threads"], "the threads"),
                seconds=whole(path, at, found["seconds"], "the run time"),
                printed_reads_per_s=whole(path, at, found["reads"], "RIOPS"),
                printed_hits_per_s=whole(path, at, found["hits"], "CACHE_HITS/s"),
                blocks=seen.blocks,
                shared_buffers=seen.shared_buffers,
                launch_s=seen.launch_s,
                before=seen.before,
                after=seen.after,
            )
            seen = _Seen()
        elif found := _TESTING.match(said):
            seen = _Seen(blocks=whole(path, at, found["blocks"], "the blocks"), shared_buffers=seen.shared_buffers)
        elif found := _BUFFERS.match(said):
            seen.shared_buffers = found[1]
        elif found := _LAUNCH.match(said):
            seen.launch_s = whole(path, at, found[1], "the launch")
        elif said.startswith(_COUNTERS) and "|" in said:
            hits, reads, _, _, updated = _counters(path, at, said)
            if said.startswith("BEFORE"):
                seen.before = Counters(hits, reads, updated)
            else:
                seen.after = Counters(hits, reads, updated)


def _counters(path: str, at: int, said: str) -> list[int]:
    """The five counters of a line. Raises SourceError."""
    cells = [each.strip() for each in said.split("|")[1:]]
    if len(cells) != 5 or not all(_COUNTER.fullmatch(each) for each in cells):
        raise refuse(path, at, "a line of counters that is not pgio's, or is cut")
    return [whole(path, at, each, "a counter") for each in cells]

"""Spools of `iocast_capture.sql`: looks at an Oracle database by SQL*Plus, as a tape.

What it is: what the script appends to its file, look after look; `iocast watch --sqlplus-script` prints the script.
What is read: each look is a moment of a tape: waits with their histograms, statistics, SQL, I/O by function and file,
disks of ASM, metrics, sessions; same names as of a live watch. `iocast top`, `iocast watch oramon --tape` and
`iocast report` play it. Files given together are the reels of one tape, in the order of their times.
What it cannot see: the machine below the database. Sessions are seen once a look, not ten times a second.
What is refused: a spool of fewer than two whole looks, looks that go back in time, spools of different databases
together, or that overlap. A look that was cut off and lines that are no row of their view are left out, with a warning.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from statistics import median

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SourceError
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Run, Source, Tape
from iocast.model.workload import Closed
from iocast.text import counted
from iocast.tools.oracle.capture_spool import OBSERVER, Spool, begins_so, read_spool
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, Row, run

_MORE_LOOKS = "run the script in a loop, ten seconds apart"
_ALONE = "import each by itself"


class _Reel(Struct, frozen=True):
    """The looks of one file."""

    path: str
    spool: Spool
    moments: tuple[Moment, ...]


def sniff(head: Head) -> bool:
    """The line in front of a look."""
    return begins_so(head.text)


def read(paths: tuple[str, ...]) -> Run:
    """One tape of all looks. Raises SourceError with file and line."""
    reels = sorted((_reel(path) for path in paths), key=lambda reel: reel.moments[0].time_ns)
    for before, after in pairwise(reels):
        if before.spool.instances != after.spool.instances:
            raise SourceError(f"{before.path} and {after.path} are of different databases", _ALONE)
        if after.moments[0].time_ns <= before.moments[-1].time_ns:
            raise SourceError(f"{before.path} and {after.path} overlap in time", _ALONE)
    first = reels[0].spool
    made = run(
        Source(tool="iocast_capture.sql", version=first.version, files=paths),
        [_row(reel) for reel in reels],
        warnings=[warning for reel in reels for warning in _warnings(reel)],
    )
    server = f"Oracle Database {first.version}, {', '.join(first.instances)}"
    gaps = [after.time_ns - before.time_ns for reel in reels for before, after in pairwise(reel.moments)]
    texts = {subject: text for reel in reels for subject, text in reel.spool.texts.items()}
    return replace(
        made,
        plan=replace(made.plan, target=replace(made.plan.target, path=server)),
        tape=Tape(interval_ns=round(median(gaps)), sources=(server,), texts=texts),
        blind=tuple(Blind(OBSERVER, why) for why in dict.fromkeys(why for reel in reels for why in reel.spool.unseen)),
    )


def _reel(path: str) -> _Reel:
    spool = read_spool(path, read_text(path))
    looks = groupby(spool.samples, key=lambda sample: sample.time_ns)  # a look is later than the one before
    moments = tuple(moment_of(at_ns, each, number) for number, (at_ns, each) in enumerate(looks))
    if len(moments) < 2:
        raise refuse(path, 0, "fewer than two looks at a database with rows: a rate needs two", _MORE_LOOKS)
    return _Reel(path, spool, moments)


def _row(reel: _Reel) -> Row:
    """A phase without any load."""
    began_ns, ended_ns = reel.moments[0].time_ns, reel.moments[-1].time_ns
    return Row(
        name=f"{reel.spool.looks} looks",
        test="watch",
        ops=(),
        elapsed_ns=max(ended_ns - began_ns, SECOND_NS // 1000),
        arrival=Closed(),
        started_unix_ns=began_ns,
        samples=tuple(sample for moment in reel.moments for sample in moment.samples),
        role="probe",
    )


def _warnings(reel: _Reel) -> list[str]:
    said = []
    if reel.spool.cut_off:
        said.append(f"{reel.path}: left out as cut off: {counted(reel.spool.cut_off, 'look')}")
    if reel.spool.unread:
        said.append(f"{reel.path}: left out as no row of a view: {counted(reel.spool.unread, 'line')}")
    return said

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

from collections.abc import Iterator
from itertools import groupby, pairwise
from statistics import median
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SourceError
from iocast.metrics import ON_CPU
from iocast.model.live.moment import Moment, moment_of
from iocast.model.run import Blind, Run, Sample, Source, Tape
from iocast.model.workload import Closed
from iocast.text import counted
from iocast.tools.database_rows import Active, ActivityCounts, Followed, Row, samples_of
from iocast.tools.foreign_numbers import LAST_NS, moment_ns, number_of
from iocast.tools.oracle.capture_script import FORMAT, MARK, TEXTS
from iocast.tools.oracle.oracle_statements import Statement, clock_ns, statements_of, version_of
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, run
from iocast.tools.stated_rows import Row as StatedRow

OBSERVER: Final = "oracle"
_JITTER_NS: Final = 2_500_000_000  # starts are told in whole seconds
_ERRORS: Final = ("ORA-", "SP2-")


class Spool(Struct, frozen=True, kw_only=True):
    """All looks of a file."""

    version: str
    instances: tuple[str, ...]
    samples: tuple[Sample, ...]
    texts: dict[str, str]
    unseen: tuple[str, ...]
    looks: int
    cut_off: int  # looks without an end
    unread: int  # lines that are no row of their view


class _Section(Struct):
    """The rows of one view in one look."""

    name: str
    columns: tuple[str, ...]
    rows: list[Row] = []
    refused: str = ""


class _Look(Struct):
    """One run of the script."""

    line: int
    sections: dict[str, _Section]
    ended: bool = False


def begins_so(text: str) -> bool:
    """Whether a text is such a spool."""
    return any(line.startswith(f"{MARK} look ") for line in text.splitlines()[:50])


def read_spool(path: str, text: str) -> Spool:
    """All samples of a spool. Raises SourceError for one that has not a single whole look."""
    looks, unread = _looks(path, text)
    whole = [look for look in looks if look.ended]
    if not whole:
        raise refuse(path, 0, "no whole look at a database", "run iocast_capture.sql with SQL*Plus until it ends")
    samples, unseen, texts = list[Sample](), dict[str, str](), dict[str, str]()
    printed = _Teller(path)
    for look in whole:
        samples += printed.samples(look)
        unseen |= {name: f"{name}: {each.refused}" for name, each in look.sections.items() if each.refused}
        texts |= {f"setting|{row['name']}": str(row["value"]) for row in _rows(look, "parameter")}
        texts |= {f"sql|{row['sql_id']}": str(row["sql_text"]) for row in _rows(look, TEXTS)}
    wanted = {each.name for each in statements_of(version_of(printed.version))}
    return Spool(
        version=printed.version,
        instances=printed.instances,
        samples=tuple(samples),
        texts=texts,
        unseen=tuple(why for name, why in unseen.items() if name in wanted | {"session", "parameter"}),
        looks=len(whole),
        cut_off=len(looks) - len(whole),
        unread=unread,
    )


def _looks(path: str, text: str) -> tuple[list[_Look], int]:
    """The looks as they stand, and how many lines are neither a row nor a message."""
    looks, section, unread = list[_Look](), None, 0
    for at, line in enumerate(text.splitlines(), 1):
        if line.startswith(f"{MARK} "):
            section = _marked(path, at, line.split(), looks)
        elif section is not None and line.strip():
            unread += not _added(section, line)
    return looks, unread


def _marked(path: str, at: int, words: list[str], looks: list[_Look]) -> _Section | None:
    """A line of ours: a look begins or ends, or a view begins."""
    match words[1:]:
        case ["look", number_] if number_ != str(FORMAT):
            raise refuse(path, at, f"a spool of format {number_}; known is {FORMAT}", "use a newer iocast")
        case ["look", _]:
            looks.append(_Look(at, {}))
        case ["end"] if looks:
            looks[-1].ended = True
        case [name, columns] if looks and not looks[-1].ended:
            section = _Section(name, tuple(columns.split("|")), [])
            looks[-1].sections[name] = section
            return section
    return None


def _added(section: _Section, line: str) -> bool:
    """A row, or what SQL*Plus says of a statement; False for what is neither."""
    if line.startswith(_ERRORS):
        section.refused = section.refused or line.strip()
        return True
    most = 1 if section.name == TEXTS else -1  # a statement may have the sign between columns in it
    values = [value.strip() for value in line.split("|", most)]
    if len(values) != len(section.columns):
        return False
    section.rows.append({name: value or None for name, value in zip(section.columns, values, strict=True)})
    return True


def _rows(look: _Look, name: str) -> list[Row]:
    return look.sections[name].rows if name in look.sections else []


class _Teller:
    """Tells looks one after another: what a live watch keeps in mind between two samples."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._followed: dict[str, Followed] = {}
        self._counts: ActivityCounts | None = None
        self._started_ns = 0
        self._at_ns = 0
        self.version = ""
        self.instances: tuple[str, ...] = ()

    def samples(self, look: _Look) -> Iterator[Sample]:
        """All of one look."""
        at_ns = self._time(look)
        started_ns = self._identity(look)
        for statement in statements_of(version_of(self.version)):
            if statement.name in look.sections and not look.sections[statement.name].refused:
                yield from self._of(statement, _rows(look, statement.name), at_ns, started_ns)
        if "session" in look.sections and not look.sections["session"].refused:
            self._counts = self._counts or ActivityCounts(OBSERVER, at_ns)
            self._counts.add([_active(row) for row in _rows(look, "session")])
            yield from self._counts.samples(at_ns)

    def _time(self, look: _Look) -> int:
        for row in _rows(look, "clock"):
            whole_s, second_s = number_of(row.get("whole_s")), number_of(row.get("second_s"))
            if whole_s is not None and second_s is not None:
                at_ns = clock_ns(whole_s, second_s)
                if not self._at_ns < at_ns <= LAST_NS:
                    raise refuse(self._path, look.line, "a look that is not later than the one before")
                self._at_ns = at_ns
                return at_ns
        raise refuse(self._path, look.line, "a look without its time")

    def _identity(self, look: _Look) -> int:
        """When the last of the instances started; in whole seconds, so one well later is another start."""
        rows = _rows(look, "instance")
        if not rows:
            raise refuse(self._path, look.line, "a look without an instance")
        self.version = str(rows[0].get("version") or "")
        self.instances = tuple(str(row.get("instance_name") or "") for row in rows)
        started_ns = max(moment_ns(row.get("started_s")) for row in rows)
        if abs(started_ns - self._started_ns) > _JITTER_NS:
            self._started_ns = started_ns
        return self._started_ns

    def _of(self, statement: Statement, rows: list[Row], at_ns: int, started_ns: int) -> list[Sample]:
        observer = f"{OBSERVER}.{statement.name}"
        followed = self._followed.setdefault(statement.name, Followed(observer, since_entered=statement.since_entered))
        return followed.tick(at_ns, samples_of(statement.shape, rows, observer, at_ns), started_ns, {})


def _active(row: Row) -> Active:
    waits = row.get("state") == "WAITING"
    event = f"{row.get('wait_class') or ''}|{row.get('event') or ''}" if waits else ON_CPU
    session = f"{row.get('inst_id')}|{row.get('sid')}|{row.get('serial#')}"
    return Active(session, event, str(row.get("sql_id") or ""))


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
    spool_run = run(
        Source(tool="iocast_capture.sql", version=first.version, files=paths),
        [_row(reel) for reel in reels],
        warnings=[warning for reel in reels for warning in _warnings(reel)],
    )
    server = f"Oracle Database {first.version}, {', '.join(first.instances)}"
    gaps = [after.time_ns - before.time_ns for reel in reels for before, after in pairwise(reel.moments)]
    texts = {subject: text for reel in reels for subject, text in reel.spool.texts.items()}
    return replace(
        spool_run,
        plan=replace(spool_run.plan, target=replace(spool_run.plan.target, path=server)),
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


def _row(reel: _Reel) -> StatedRow:
    """A phase without any load."""
    began_ns, ended_ns = reel.moments[0].time_ns, reel.moments[-1].time_ns
    return StatedRow(
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

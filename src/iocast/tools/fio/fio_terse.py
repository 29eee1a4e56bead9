"""fio's terse output ("minimal"), versions 2 to 5.

What it is: one line per job, fields separated by semicolons, as `fio --minimal` or --output-format=terse writes it.
What is read: the fields are found by where the percentiles stand (twenty for each direction), so that version 2
with and without trims, disks and a description at the end are all understood. Times are microseconds in every
version, amounts KiB.
What it cannot see: rw=, sizes, users, depth, and the number of I/Os: it is KiB over a size when exactly one
multiple of 512 bytes agrees with the printed rate, else rate x time.
Of several states of the same jobs (--status-interval) the last one counts.
What is refused: a line with another number of fields than its version has; a version that is not 2 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from iocast.model.run import Run, Source
from iocast.model.stated import Bucket
from iocast.tools.fio.fio_load import Load
from iocast.tools.fio.fio_rows import CLOCK_NOTE, PACE_NOTE, notes_on, rows_of
from iocast.tools.fio.job_options import OPS
from iocast.tools.fio.latency_bins import FINE, SLOW, buckets
from iocast.tools.fio.results import JobResult, Side, ios_by_rate
from iocast.tools.foreign_numbers import number, whole
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import Row, run

LINE = re.compile(r"^(?:2;[^;]*;\d+;\d+;|[345];fio-[^;]*;)")
_PERCENTILE = re.compile(r"\d{1,20}(?:\.\d{1,20})?%=\d+")
PERCENTILES = 20  # fields for each direction
BEFORE = 12  # fields of a direction in front of them: KiB, KiB/s, IOPS, ms, four of slat, four of clat
WIDTH = {"2": 41, "3": 41, "4": 41, "5": 47}  # fields of a direction
HEAD = {"2": 4, "3": 5, "4": 5, "5": 5}
GROWN = 1.2  # in the states of one job the run time grows; in repeats of it, it is about the same
TAIL = 5 + 7 + len(FINE) + len(SLOW) + 1  # CPU, depths, latency buckets


def is_line(line: str) -> bool:
    """Whether a line begins as one of terse output."""
    return LINE.match(line) is not None


def lines(path: str, text: str) -> Iterator[Line]:
    """The lines of jobs. Raises SourceError for one with another number of fields than its version has."""
    for at, line in enumerate(text.splitlines(), 1):
        if is_line(line) or line.count(";") >= TAIL:
            yield Line(path, at, line.split(";"))


def last_states(states: Sequence[Line]) -> Sequence[Line]:
    """The last line of each job where --status-interval wrote all of them again and again; else all lines."""
    for jobs in range(1, len(states) // 2 + 1):
        if len(states) % jobs:
            continue
        first, last = states[:jobs], states[-jobs:]
        if not any(one.runtime_ms * GROWN < two.runtime_ms for one, two in zip(first, last, strict=True)):
            continue
        if all(one.grows_into(two) for one, two in zip(states, states[jobs:], strict=False)):
            return last
    return states


class Line:
    """The fields of one job."""

    def __init__(self, path: str, at: int, fields: Sequence[str]) -> None:
        self.path, self.at, self.fields = path, at, fields
        layout = fields[0]
        if not LINE.match(";".join(fields)):
            raise refuse(path, at, "many fields, but not the start of a terse line of version 2 to 5")
        self.head, self.width = HEAD[layout], WIDTH[layout]
        self.version = "" if layout == "2" else fields[1].removeprefix("fio-")
        self.name = fields[self.head - 3]
        marked = [place for place, field in enumerate(fields) if _PERCENTILE.fullmatch(field)]
        sides, odd = divmod(len(marked), PERCENTILES)
        expected = [self.head + side * self.width + BEFORE for side in range(sides)]
        least = self.head + sides * self.width + TAIL
        if odd or sides not in (2, 3) or marked[::PERCENTILES] != expected or len(fields) < least:
            raise refuse(path, at, f"{len(fields)} fields: not a line of terse version {layout}, or a truncated one")
        self.sides = sides

    def result(self) -> JobResult:
        """What the line states."""
        used = [side for side in range(self.sides) if self._number(side, 0) or self._number(side, 2)]
        failed = whole(self.path, self.at, self.fields[self.head - 1], "the error")
        return JobResult(
            path=self.path,
            line=self.at,
            name=self.name,
            runtime_ms=max((self._number(side, 3) for side in used), default=0.0),
            sides={OPS[side]: self._side(side, len(used) == 1) for side in used},
            error=failed,
            errors=1 if failed else 0,
        )

    @property
    def who(self) -> tuple[str, str]:
        """Its name and its group."""
        return self.name, self.fields[self.head - 2]

    @property
    def runtime_ms(self) -> float:
        """The time of the operation that took longest."""
        return max(self._number(side, 3) for side in range(self.sides))

    def grows_into(self, after: Line) -> bool:
        """Whether `after` can be a later state of the same job: more was moved, in more time, within a wider range."""
        return (
            self.who == after.who
            and self.sides == after.sides
            and all(self._grows(after, n) for n in range(self.sides))
        )

    def _grows(self, after: Line, side: int) -> bool:
        lat = BEFORE + PERCENTILES
        if any(self._number(side, place) > after._number(side, place) for place in (0, 3, lat + 1)):
            return False
        return not self._number(side, 0) or self._number(side, lat) >= after._number(side, lat)

    def _number(self, side: int, place: int) -> float:
        at = self.head + side * self.width + place
        return number(self.path, self.at, self.fields[at], f"field {at + 1}")

    def _side(self, side: int, alone: bool) -> Side:
        moved = round(self._number(side, 0) * 1024)
        rate_per_s, runtime_ms = self._number(side, 2), self._number(side, 3)
        ios, size = ios_by_rate(moved, rate_per_s, runtime_ms)
        places = {"min": 0, "max": 1, "mean": 2, "stddev": 3}
        lat = {name: self._number(side, BEFORE + PERCENTILES + place) * 1000 for name, place in places.items()}
        return Side(
            ios=ios,
            bytes=moved,
            size_bytes=size,
            ios_by_rate=size is None,
            runtime_ms=runtime_ms,
            lat=lat,
            quantiles=self._quantiles(side),
            buckets=self._buckets() if alone else (),
        )

    def _quantiles(self, side: int) -> list[tuple[float, float]]:
        start = self.head + side * self.width + BEFORE
        pairs = (field.split("%=") for field in self.fields[start : start + PERCENTILES])
        return [
            (
                number(self.path, self.at, q, "a percentile") / 100,
                number(self.path, self.at, us, f"field {start + place + 1}") * 1000,
            )
            for place, (q, us) in enumerate(pairs)
        ]

    def _buckets(self) -> tuple[Bucket, ...]:
        start = self.head + self.sides * self.width + 5 + 7
        names = [*(("us", str(edge)) for edge in FINE), *(("ms", str(edge)) for edge in SLOW), ("ms", ">=2000")]
        fields = self.fields[start : start + len(names)]
        shares = {
            name: number(self.path, self.at, field.rstrip("%"), f"field {start + place + 1}")
            for place, (name, field) in enumerate(zip(names, fields, strict=True))
        }
        return buckets(shares)


def sniff(head: Head) -> bool:
    """A line that begins with the version and ends in percentiles."""
    return any(is_line(line) and "%=" in line for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The jobs of all these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    versions: dict[str, None] = {}
    warnings: list[str] = []
    for path in paths:
        states = list(lines(path, read_text(path)))
        last = last_states(states)
        if len(last) < len(states):
            warnings.append(f"{path}: {len(states) - len(last)} earlier states of the unfinished run are left out")
        for line in last:
            rows += rows_of(line.result(), Load(fsync_every=0), warnings)
            versions |= {line.version: None} if line.version else {}
    source = Source(tool="fio", version=", ".join(versions), files=paths, notes=notes_on(rows, CLOCK_NOTE, PACE_NOTE))
    return run(source, rows, warnings=warnings)

"""fio's terse output ("minimal"), versions 2 to 5.

What it is: one line a job, fields between semicolons, as `fio --minimal` or --output-format=terse writes it.
What is read: the fields are found by where the percentiles stand (twenty for each direction), so that version 2
with and without trims, disks and a description at the end are all understood. Times are microseconds in every
version, amounts KiB.
What it cannot see: rw=, sizes, users, depth, and how many I/Os there were: they are KiB over a size when exactly one
whole multiple of 512 bytes goes together with the printed rate, else rate x time.
What is refused: a line with another number of fields than its version has; a version that is not 2 to 5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from iocast.imports import consistency
from iocast.imports.fio_words import CLOCK_NOTE, FINE, MIXED_NOTE, PACE_NOTE, SLOW, buckets, times
from iocast.imports.source_files import Head, number, read_text, refuse
from iocast.imports.stated_rows import OpFigures, Row, run
from iocast.model.measurement import ErrorCount
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket
from iocast.model.workload import Op

OPS: tuple[Op, ...] = ("read", "write", "trim")
LINE = re.compile(r"^(?:2;[^;]*;\d+;\d+;|[345];fio-[^;]*;)")
PERCENTILES = 20  # fields for each direction
BEFORE = 12  # fields of a direction in front of them: KiB, KiB/s, IOPS, ms, four of slat, four of clat
WIDTH = {"2": 41, "3": 41, "4": 41, "5": 47}  # fields of a direction
HEAD = {"2": 4, "3": 5, "4": 5, "5": 5}
TAIL = 5 + 7 + len(FINE) + len(SLOW) + 1  # CPU, depths, latency buckets
SECTOR = 512


def sniff(head: Head) -> bool:
    """A line that begins with the version and ends in percentiles."""
    return any(LINE.match(line) and "%=" in line for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The jobs of all these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    versions: dict[str, None] = {}
    warnings: list[str] = []
    for path in paths:
        for at, line in enumerate(read_text(path).splitlines(), 1):
            if LINE.match(line) or line.count(";") >= TAIL:
                job = _Line(path, at, line.split(";"))
                rows.append(job.row())
                versions |= {job.version: None} if job.version else {}
                warnings += consistency.inconsistencies(rows[-1])
    mixed = any(len(row.ops) > 1 for row in rows)
    notes = (CLOCK_NOTE, PACE_NOTE, *((MIXED_NOTE,) if mixed else ()))
    source = Source(tool="fio", version=", ".join(versions), files=paths, notes=notes)
    return run(source, rows, warnings=warnings)


class _Line:
    """The fields of one job."""

    def __init__(self, path: str, at: int, fields: Sequence[str]) -> None:
        self.path, self.at, self.fields = path, at, fields
        layout = fields[0]
        if not LINE.match(";".join(fields)):
            raise refuse(path, at, "many fields, but not those that begin a line of terse output of version 2 to 5")
        self.head, self.width = HEAD[layout], WIDTH[layout]
        self.version = "" if layout == "2" else fields[1].removeprefix("fio-")
        self.name = fields[self.head - 3]
        marked = [place for place, field in enumerate(fields) if re.fullmatch(r"\d+(?:\.\d+)?%=\d+", field)]
        sides, odd = divmod(len(marked), PERCENTILES)
        expected = [self.head + side * self.width + BEFORE for side in range(sides)]
        least = self.head + sides * self.width + TAIL
        if odd or sides not in (2, 3) or marked[::PERCENTILES] != expected or len(fields) < least:
            raise refuse(
                path, at, f"{len(fields)} fields, which is no line of terse version {layout}, or one that is cut"
            )
        self.sides = sides

    def row(self) -> Row:
        """The job as a row."""
        used = [side for side in range(self.sides) if self._number(side, 0) or self._number(side, 2)]
        ops = tuple(self._op(side, len(used) == 1) for side in used)
        elapsed_ms = max((self._number(side, 3) for side in used), default=0.0)
        if ops and not elapsed_ms:
            raise refuse(self.path, self.at, f"job {self.name} did I/O but states no run time")
        return Row(
            name=self.name,
            test="+".join(each.op for each in ops) or self.name,
            ops=ops,
            elapsed_ns=round(elapsed_ms * 1e6),
            errors=self._errors(),
            derived=("ios",) if any(each.size_bytes is None for each in ops) else (),
        )

    def _number(self, side: int, place: int) -> float:
        at = self.head + side * self.width + place
        return number(self.path, self.at, self.fields[at], f"field {at + 1}")

    def _op(self, side: int, alone: bool) -> OpFigures:
        moved = round(self._number(side, 0) * 1024)
        rate_per_s, runtime_ms = self._number(side, 2), self._number(side, 3)
        size = _size(moved, rate_per_s, runtime_ms)
        ios = moved // size if size else round(rate_per_s * runtime_ms / 1000)
        places = {"min": 0, "max": 1, "mean": 2, "stddev": 3}
        lat = {name: self._number(side, BEFORE + PERCENTILES + place) * 1000 for name, place in places.items()}
        return OpFigures(
            op=OPS[side],
            ios=ios,
            bytes=moved,
            size_bytes=size,
            times=times(ios, lat, self._quantiles(side), self._buckets() if alone else ()),
        )

    def _quantiles(self, side: int) -> list[tuple[float, float]]:
        start = self.head + side * self.width + BEFORE
        pairs = (field.split("%=") for field in self.fields[start : start + PERCENTILES])
        return [
            (float(q) / 100, number(self.path, self.at, us, f"field {start + place + 1}") * 1000)
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

    def _errors(self) -> tuple[ErrorCount, ...]:
        import errno

        failed = int(number(self.path, self.at, self.fields[self.head - 1], "the error"))
        if not failed:
            return ()
        return (ErrorCount("read", failed, errno.errorcode.get(failed, f"error {failed}"), 1, ()),)


def _size(moved_bytes: int, rate_per_s: float, runtime_ms: float) -> int | None:
    """The one multiple of 512 bytes for which bytes over size over time is the rate, which fio cut to a whole one."""
    if not moved_bytes or not rate_per_s or not runtime_ms:
        return None
    per_s = moved_bytes * 1000 / runtime_ms
    # fio works the rate out from I/Os and whole milliseconds; a hair is allowed for.
    least, most = per_s / (rate_per_s + 1.001), per_s / (rate_per_s - 0.001)
    fitting = range(-(-int(least) // SECTOR) * SECTOR or SECTOR, int(most) + 1, SECTOR)
    found = [size for size in fitting if size >= least and moved_bytes % size == 0]
    return found[0] if len(found) == 1 else None

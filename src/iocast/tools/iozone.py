"""iozone's table of files and records (-a, -i), and its throughput of several children (-t).

What it is: what `iozone -a` prints in words (one line for each file size and record length), and the lines "Children
see throughput for 4 readers = ..." of `iozone -t`.
What is read: each figure is a row: an operation with its record length, in kB of 1024 a second or, with -O,
operations a second. Figures are found by where they stand under the heading. The number of I/Os is the file size by
the record length, the time their bytes by the rate.
What it cannot see: any latency. Without -I the page cache is part of the figures.
What is refused: figures that stand under no heading; output in microseconds (-N).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from iocast.model.run import Run, Source
from iocast.model.workload import Closed, Locality, Op, Sequential, Sync, Uniform, Unstated
from iocast.tools.foreign_numbers import number, whole
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import OpFigures, Row, run

KIB = 1024
FSYNC = "iozone counted the closing fsync of writes in their time (-e)."
_HEADING = re.compile(r"^\s*kB\s+reclen\s+write\s+rewrite\b", re.IGNORECASE)
_LINE = re.compile(r"^\s*(\d{1,15})\s+(\d{1,9})(?=\s)")
_CHILDREN = re.compile(
    r"^\s*Children see throughput for\s+(\d{1,6})\s+([\w-]+(?: [\w-]+){0,5})\s*=\s*([\d.]+) (kB|ops|KB)/sec"
)
_RECORDS = re.compile(r"Each (?:process|thread) writes a (\d{1,15}) [kK](?:B|byte|Byte)[a-z]* file in (\d{1,9}) [kK]")
_FIGURE = re.compile(r"\S+")
_VERSION = re.compile(r"Version \$Revision: ([\d.]{1,20}) \$")
# How many columns after the record length a figure ends, its name, operation and order.
_Test = tuple[str, Op, Locality]
_COLUMNS: dict[int, _Test] = {
    9: ("write", "write", Sequential()),
    18: ("rewrite", "write", Sequential()),
    27: ("read", "read", Sequential()),
    36: ("reread", "read", Sequential()),
    45: ("random read", "read", Uniform()),
    54: ("random write", "write", Uniform()),
    63: ("backward read", "read", Unstated()),
    73: ("record rewrite", "write", Unstated()),
    83: ("stride read", "read", Unstated()),
    92: ("fwrite", "write", Sequential()),
    101: ("frewrite", "write", Sequential()),
    110: ("fread", "read", Sequential()),
    119: ("freread", "read", Sequential()),
}


class _How(NamedTuple):
    """How all of a file was measured."""

    direct: bool
    durable: Sync


def sniff(head: Head) -> bool:
    """Its heading, or its children."""
    return any(_HEADING.match(line) or _CHILDREN.match(line) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The figures of these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    versions: dict[str, None] = {}
    notes: list[str] = []
    for path in paths:
        text = read_text(path)
        versions |= {match[1]: None for match in _VERSION.finditer(text)}
        notes += [FSYNC] if "Include fsync in write timing" in text else []
        rows += _rows(path, text)
    if not rows:
        raise refuse(paths[0], 0, "it has no figure: iozone was stopped, or the file is truncated")
    warnings = [] if all("iozone test complete" in read_text(path) for path in paths) else ["The output may be cut."]
    source = Source(tool="iozone", version=", ".join(versions), files=paths, notes=tuple(dict.fromkeys(notes)))
    return run(source, rows, warnings=warnings)


def _rows(path: str, text: str) -> list[Row]:
    if "microseconds per operation" in text or "Microseconds/op" in text:
        raise refuse(path, 0, "output in microseconds (-N)", "run iozone without -N")
    operations = "Output is in operations per second" in text or "Output is in ops/sec" in text
    how = _How("O_DIRECT feature enabled" in text, "sync" if "SYNC Mode" in text else "none")
    records = _RECORDS.search(text)
    rows: list[Row] = []
    under = False
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        if _HEADING.match(line):
            under = True
        elif under and (match := _LINE.match(line)):
            if at == len(lines) and not text.endswith("\n"):
                break  # cut inside of a figure, perhaps
            file_kib, record_kib = (whole(path, at, each, "a size") for each in match.groups())
            for each in _FIGURE.finditer(line[match.end() :]):
                if each.end() not in _COLUMNS:
                    raise refuse(path, at, f'"{each[0][:40]}" stands under no heading')
                value = number(path, at, each[0], _COLUMNS[each.end()][0])
                bytes_per_s = value * KIB * (record_kib if operations else 1)
                rows += _row(_COLUMNS[each.end()], bytes_per_s, file_kib, record_kib, 1, how)
        elif child := _CHILDREN.match(line):
            test = _of_child(child[2])
            file_kib, record_kib = (whole(path, at, each, "a size") for each in (records.groups() if records else "00"))
            users = whole(path, at, child[1], "the children")
            bytes_per_s = number(path, at, child[3], test[0]) * KIB * (record_kib if child[4] == "ops" else 1)
            rows += _row(test, bytes_per_s, users * file_kib, record_kib, users, how)
    return rows


def _of_child(words: str) -> _Test:
    """ "initial writers", "re-readers", "random readers" and so on."""
    name = words.strip().removesuffix("s")
    op: Op = "write" if "writer" in name else "read"
    order: Locality = Uniform() if "random" in name else Sequential()
    return name, op, order if not {"stride", "reverse", "mixed"} & {*name.split()} else Unstated()


def _row(test: _Test, bytes_per_s: float, file_kib: int, record_kib: int, users: int, how: _How) -> list[Row]:
    name, op, order = test
    size = record_kib * KIB
    if not bytes_per_s or not size:
        return []
    ios = max(1, file_kib // record_kib)
    figures = OpFigures(op=op, ios=ios, bytes=ios * size, size_bytes=size)
    return [
        Row(
            name=f"{name} {record_kib}k",
            test=name,
            ops=(figures,),
            elapsed_ns=round(ios * size / bytes_per_s * 1e9),
            users=users,
            depth=1,
            direct=how.direct,
            sync=how.durable,
            locality=order,
            arrival=Closed(),
            derived=("ios",),
        )
    ]

"""IOR's text: the table of its results, of versions 3.2 to 4.

What it is: what `ior` prints: its options as "tasks : 64", then under "access bw(MiB/s) ... total(s) iter" a line for
each repetition of each access.
What is read: each line of writes or reads is a row: MiB/s and the seconds in total, as stated; the size of a transfer,
the tasks, the order in a file, the file. How many I/Os there were is the bytes over that size. A task has one transfer
outstanding.
What it cannot see: latencies (its column Latency(s) is worked out from the tasks and the rate, and is left), whether
I/O was direct, and its IOPS without the time of opening and closing.
What is refused: a table of which no line is whole, a figure that cannot be read.
"""

from __future__ import annotations

import re

from iocast.model.run import Run, Source
from iocast.model.workload import Closed, Locality, Op, Sequential, Uniform, Unstated
from iocast.tools.foreign_numbers import bounded, number, whole_of
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run

_HEADINGS = ("access", "bw(MiB/s)", "xfer(KiB)", "total(s)", "iter")
_OPTION = re.compile(r"^(test filename|tasks|ordering in a file) {0,40}: (.{1,400})$")
_VERSION = re.compile(r"^IOR-(\S{1,40}): MPI Coordinated Test")
_AFTER = ("Max Write", "Max Read", "Summary of all tests")
_OPS: dict[str, Op] = {"write": "write", "read": "read"}
_ORDERS: dict[str, Locality] = {"sequential": Sequential(), "random": Uniform()}


def sniff(head: Head) -> bool:
    """Its name, or the headings of its table."""
    return any(_VERSION.match(line.strip()) or _is_heading(line.split()) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The accesses of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    versions: dict[str, None] = {}
    rows: list[Row] = []
    for path in paths:
        text = read_whole_lines(path, warnings)
        versions |= {match[1]: None for line in text.splitlines() if (match := _VERSION.match(line.strip()))}
        rows += _rows(path, text)
        if not any(line.strip().startswith(_AFTER) for line in text.splitlines()):
            warnings.append(f"{path}: the lines after its table are missing: it may be cut")
    return run(Source(tool="IOR", version=", ".join(versions), files=paths), rows, warnings=warnings)


def _is_heading(words: list[str]) -> bool:
    return words[:1] == ["access"] and all(name in words for name in _HEADINGS)


def _rows(path: str, text: str) -> list[Row]:
    rows: list[Row] = []
    options: dict[str, str] = {}
    columns: list[str] = []
    for at, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if _is_heading(words):
            columns = words
        elif match := _OPTION.match(line.strip()):
            options[match[1]] = match[2].strip()
        elif columns and words and words[0] in _OPS:
            if len(words) != len(columns):
                raise refuse(path, at, f"{len(words)} values under {len(columns)} headings")
            rows.append(_row(path, at, dict(zip(columns, words, strict=True)), options))
    if not rows:
        raise refuse(path, 0, "it has no line of results: IOR was stopped, or the file is truncated")
    return rows


def _row(path: str, at: int, cells: dict[str, str], options: dict[str, str]) -> Row:
    op = _OPS[cells["access"]]
    rate, kib, seconds = (number(path, at, cells[name], name) for name in ("bw(MiB/s)", "xfer(KiB)", "total(s)"))
    moved = round(bounded(path, at, rate * (1 << 20) * seconds, "the bytes"))
    size = round(bounded(path, at, kib * 1024, "the size of a transfer")) or None
    return Row(
        name=op,
        test=op,
        ops=(OpFigures(op=op, ios=round(moved / size) if size else 0, bytes=moved, size_bytes=size),),
        elapsed_ns=round(bounded(path, at, seconds * SECOND_NS, "the time")),
        users=whole_of(options.get("tasks", "")) or None,
        depth=1,
        locality=_ORDERS.get(options.get("ordering in a file", ""), Unstated()),
        arrival=Closed(),
        path=options.get("test filename", ""),
        derived=("ios",),
    )

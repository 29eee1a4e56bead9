"""kbench's summary: what its pod logs at its end.

What it is: "FIO Benchmark Summary", and under "IOPS (Read/Write)", "Bandwidth in KiB/sec (Read/Write)" and "Latency in
ns (Read/Write)" the lines "Random: 98,368 / 89,200" and "Sequential: ...", with commas or without.
What is read: each figure is a row: a rate of I/Os, a rate of bytes, or the mean time of an I/O. The file that was
measured, where the log says it.
What it cannot see: sizes, users, depths, how many I/Os there were and for how long: a row of latency counts those
of a second, one after the other, and shows no rate. fio's JSON, which kbench leaves beside its summary, has all of it.
What is refused: a summary of which no line is whole, and that of a comparison of two volumes.
"""

from __future__ import annotations

import re
from typing import Literal

from iocast.model.run import Run, Source
from iocast.model.stated import Coarse
from iocast.model.workload import Locality, Op, Sequential, Uniform
from iocast.tools.foreign_numbers import bounded, whole
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

Figure = Literal["IOPS", "bandwidth", "latency"]
ONE_BY_ONE = "kbench does not say how many I/Os a mean time is of: counted are those of a second, one after the other."
_TITLE = "FIO Benchmark Summary"
_COMPARED = "FIO Benchmark Compar"
_SECTIONS: dict[str, Figure] = {
    "IOPS (Read/Write)": "IOPS",
    "Bandwidth in KiB/sec (Read/Write)": "bandwidth",
    "Latency in ns (Read/Write)": "latency",
}
_PLACE = re.compile(r"^TEST_FILE: (.{1,400})$")
_PAIR = re.compile(r"^(Random|Sequential): {0,60}([\d,]{1,24}) / ([\d,]{1,24})$")
_ORDERS: dict[str, Locality] = {"Random": Uniform(), "Sequential": Sequential()}


def sniff(head: Head) -> bool:
    """Its title."""
    return any(line.strip() == _TITLE or line.startswith(_COMPARED) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The figures of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    rows = [row for path in paths for row in _rows(path, read_whole_lines(path, warnings))]
    return run(Source(tool="kbench", files=paths, notes=(ONE_BY_ONE,)), rows, warnings=warnings)


def _rows(path: str, text: str) -> list[Row]:
    rows: list[Row] = []
    place, figure = "", None
    for at, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if plain.startswith(_COMPARED):
            raise refuse(path, at, "it compares two volumes", "give the summary of each: iocast compare compares them")
        if match := _PLACE.match(plain):
            place = match[1]
        elif plain in _SECTIONS:
            figure = _SECTIONS[plain]
        elif figure and (match := _PAIR.match(plain)):
            values = [whole(path, at, match[each].replace(",", ""), figure) for each in (2, 3)]
            rows += [_row(path, at, (match[1], figure, "read"), values[0], place)] if values[0] else []
            rows += [_row(path, at, (match[1], figure, "write"), values[1], place)] if values[1] else []
    if not rows:
        raise refuse(path, 0, "it has no figures under its title: kbench failed, or the file is truncated")
    return rows


def _row(path: str, at: int, named: tuple[str, Figure, Op], value: int, place: str) -> Row:
    """The figure as what came of one second."""
    order, figure, op = named
    derived: tuple[str, ...] = ("ios", "length")
    if figure == "IOPS":
        did = OpFigures(op=op, ios=value, bytes=0)
    elif figure == "bandwidth":
        did = OpFigures(op=op, ios=0, bytes=bounded(path, at, value * 1024, figure))
    else:
        count = max(1, round(SECOND_NS / value))
        did = OpFigures(op=op, ios=count, bytes=0, times=stated(Coarse(total=count, mean_ns=value)))
        derived = ("length",)
    return Row(
        name=f"{order} {op} {figure}",
        test=f"{order} {op}",
        ops=(did,),
        elapsed_ns=SECOND_NS,
        locality=_ORDERS[order],
        path=place,
        derived=derived,
    )

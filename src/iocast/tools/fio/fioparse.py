"""Tables of fioparse.sh, its R matrices and the CSV files made of them.

What it is: what Kyle Hailey's fioparse.sh prints of fio's output: its table (also with -v and -p, and the older one
without min, max and std), the rows of -r and -R, and CSV files with a heading that names its columns.
What is read: MB are of 2**20, times milliseconds, bucket percentages are truncated to whole ones: "0" is less than one
in a hundred, blank is none. Percentiles of 0.000 were not measured. Each user is one job with one I/O outstanding, as
fio.sh runs them.
What it cannot see: how long it ran and how many I/Os there were (rates stand for one second), whether I/O was
direct; for randrw it has the reads only.
What is refused: a line that begins as a row but is not one; a row of another length than the others.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from iocast.errors import SpecError
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse, Quantile
from iocast.model.workload import Closed, Op, Sequential, Uniform
from iocast.tools.foreign_numbers import number, whole, whole_of
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated
from iocast.units import parse_size

TESTS = ("read", "randread", "write", "randwrite", "readrand", "randrw", "rw")
_DECIMAL = r"(\d{1,15}\.\d{3})"
_ROW = re.compile(
    rf"^\s*(?P<test>{'|'.join(TESTS)})\s+(?P<users>\d{{1,9}})\s+(?P<size>\d{{1,15}}[KMkm]?)(?:\s+(?P<op>[rwt]))?\s*(?P<mb>\d{{0,15}}\.\d{{1,9}})"
    rf"\s*(?P<ms>\d{{0,15}}\.\d{{1,9}})(?:\s*{_DECIMAL}\s*{_DECIMAL}\s*{_DECIMAL})?\s+(?P<iops>\d{{1,18}})(?P<rest>.*)$"
)
_HEADING = re.compile(r"^[^\S\n]*(?:test|name)[^\S\n]+users[^\S\n]+size\b", re.MULTILINE)
_MATRIX = re.compile(rf'^[^\S\n]*(?:,[^\S\n]*)?"(?:{"|".join(TESTS)})"\s*,\s*\d+\s*,\s*"\d+[KMkm]?"\s*,', re.MULTILINE)
_STARTS = re.compile(rf"^\s*(?:{'|'.join(TESTS)})\s+\d")

US, MS = 1_000, 1_000_000
TABLE_EDGES = (50 * US, 1 * MS, 4 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 1000 * MS, 2000 * MS)
PERCENTILES = (0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999)
MATRIX = (
    *("name", "users", "bs", "MB", "lat", "min", "max", "std", "iops"),
    *("us50", "us100", "us250", "us500", "ms1", "ms2", "ms4", "ms10", "ms20", "ms50", "ms100", "ms250", "ms500"),
    *("s1", "s2", "s5", "p95_00", "p99_00", "p99_50", "p99_90", "p99_95", "p99_99"),
)
_UNIT = {"us": US, "ms": MS, "s": 1000 * MS}
CUT_NOTE = "fioparse truncates bucket shares to whole per cents: they may add up to less than 100."


def sniff(head: Head) -> bool:
    """The heading of its table, a row of its matrix, or a CSV heading with its columns."""
    first = next(head.lines(), "").replace('"', "").lower().split(",")
    return bool(_HEADING.search(head.text) or _MATRIX.search(head.text) or {"name", "users", "bs", "iops"} <= {*first})


def read(paths: tuple[str, ...]) -> Run:
    """The rows of these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    for path in paths:
        text = read_whole_lines(path, warnings)
        row_list = _csv(path, text) if "," in text.split("\n", 1)[0] and "iops" in text[:300].lower() else []
        rows += row_list or _lines(path, text)
    if not rows:
        raise refuse(paths[0], 0, "it has no row of a test")
    return run(Source(tool="fioparse", files=paths, notes=(CUT_NOTE,)), rows, warnings=warnings)


def _lines(path: str, text: str) -> list[Row]:
    rows = []
    for at, line in enumerate(text.splitlines(), 1):
        if _MATRIX.match(line):
            cells = [cell.strip().strip('"') for cell in line.strip().strip(",").rstrip(")").split(",")]
            if len(cells) != len(MATRIX):
                raise refuse(path, at, f"{len(cells)} values; a matrix row has {len(MATRIX)}")
            known = {name: cell for name, cell in zip(MATRIX, cells, strict=True) if cell != "NA"}
            missing = [name for name in ("users", "bs", "MB", "lat", "iops") if name not in known]
            if missing:
                raise refuse(path, at, f"{', '.join(missing)}: NA; a row without them cannot be read")
            rows.append(_named(path, at, known))
        elif match := _ROW.match(line):
            rows.append(_of_table(path, at, match))
        elif _STARTS.match(line):
            raise refuse(path, at, "an unreadable or truncated row")
    return rows


def _of_table(path: str, at: int, match: re.Match[str]) -> Row:
    spread, *stated = match["rest"].split(",")
    if stated and len(stated) != len(PERCENTILES):
        raise refuse(path, at, f"{len(stated)} percentiles; expected {len(PERCENTILES)}")
    quantiles = [
        Quantile(q, round(number(path, at, text, "a percentile") * MS))
        for q, text in zip(PERCENTILES, stated, strict=False)
        if text.strip()
    ]
    width = 6  # each bucket has a column of its own, which may be blank
    cells = [spread[1 + place * width : 1 + (place + 1) * width].strip() for place in range(len(TABLE_EDGES) + 1)]
    shares = [number(path, at, cell, "a share") if cell else 0.0 for cell in cells]
    op: Op = {"r": "read", "w": "write", "t": "trim"}[match["op"]] if match["op"] else _op(match["test"])  # type: ignore[assignment]
    mb, mean_ms, iops = (number(path, at, match[name], name) for name in ("mb", "ms", "iops"))
    rest = [number(path, at, match[place], "a time") if match[place] else None for place in (7, 8, 9)]
    times = _times(iops, mean_ms, rest, _buckets((0, *TABLE_EDGES), shares), quantiles)
    users = whole(path, at, match["users"], "users")
    return _row(path, at, match["test"], users, match["size"], op, mb, times)


def _named(path: str, at: int, cells: Mapping[str, str]) -> Row:
    def value(name: str) -> float:
        return number(path, at, cells[name], name)

    edges = [name for name in MATRIX[9:25] if name in cells]
    highs = [(whole_of(name.lstrip("ums")) or 0) * _UNIT[name.rstrip("0123456789")] for name in edges]
    buckets = _buckets((0, *highs[:-1]), [value(name) for name in edges]) if edges else ()
    quantiles = [
        Quantile(q, round(value(name) * MS))
        for q, name in zip(PERCENTILES, MATRIX[25:], strict=True)
        if name in cells and value(name) > 0
    ]
    rest = [value(name) if name in cells else None for name in ("min", "max", "std")]
    times = _times(value("iops"), value("lat"), rest, buckets, quantiles)
    test = cells["name"]
    return _row(path, at, test, round(value("users")), cells["bs"], _op(test), value("MB"), times)


def _csv(path: str, text: str) -> list[Row]:
    """Rows under a heading that names its columns."""
    rows_read = csv.reader(text.splitlines(), skipinitialspace=True)
    try:
        lines = list(rows_read)
    except csv.Error as error:
        raise refuse(path, rows_read.line_num, f"not a row of a CSV file: {error}") from None
    names = [name.strip() for name in lines[0]]
    rows = []
    for at, cells in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise refuse(path, at, f"{len(cells)} values under {len(names)} headings")
        given = {name: cell.strip() for name, cell in zip(names, cells, strict=True)}
        missing = [name for name in ("name", "users", "bs", "MB", "lat", "iops") if name not in given]
        if missing:
            raise refuse(path, 1, f"a heading without {', '.join(missing)}")
        rows.append(_named(path, at, given))
    return rows


def _op(test: str) -> Op:
    return "write" if "write" in test else "read"


def _buckets(edges: Sequence[int], shares: Sequence[float]) -> tuple[Bucket, ...]:
    """Shares between edges; the last one is open."""
    pairs = [*pairwise(edges), (edges[-1], None)]
    parts = tuple(Bucket(low, high, share) for (low, high), share in zip(pairs, shares, strict=True))
    return parts if any(shares) else ()


def _times(
    iops: float,
    mean_ms: float,
    rest: Sequence[float | None],
    buckets: tuple[Bucket, ...],
    quantiles: Sequence[Quantile],
) -> Coarse:
    """The latencies of a row; `rest` are the least, the most and the spread, in ms."""
    least, most, spread = rest
    return Coarse(
        total=round(iops),
        counted=False,
        mean_ns=mean_ms * MS,
        min_ns=None if least is None else round(least * MS),
        max_ns=None if most is None else round(most * MS),
        stdev_ns=None if spread is None else spread * MS,
        buckets=buckets,
        whole=100.0 if buckets else 0.0,
        quantiles=tuple(quantiles),
    )


def _row(path: str, at: int, test: str, users: int, size_text: str, op: Op, mb: float, times: Coarse) -> Row:
    """A row of one second, so that rates are counts; `mb` are MiB/s."""
    try:
        size = parse_size(size_text)
    except SpecError as error:
        raise refuse(path, at, error.message) from None
    figures = OpFigures(
        op=op,
        ios=times.total,
        bytes=round(mb * 1024) * 1024,  # it divided whole KB by 1024
        size_bytes=size,
        times=stated(times),
    )
    return Row(
        name=f"{test} {size_text} {users}x1",
        test=test,
        ops=(figures,),
        elapsed_ns=1_000_000_000,
        users=users,
        depth=1,
        locality=Uniform(repeats=False) if "rand" in test else Sequential(),
        arrival=Closed(),
        derived=("ios", "length"),
    )

"""Rows of a view become snapshots of its counters: one ends where its time changes, or a key comes again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise

from msgspec import Struct

from iocast.tools.foreign_numbers import CLOCK, DAY_S, day_of, second_of_day, since_1970, whole
from iocast.tools.source_files import csv_cells, refuse

SEPARATORS = "|,;\t"
LONGEST_LINE = 4_000  # characters
WIDE = "let SQL*Plus print whole numbers on whole lines: set numwidth 20 linesize 300, or set markup csv on"
_DASHES = re.compile(r"-+")
_RULE = re.compile(r"[-| ]{3,}")
_SUM = re.compile(r"(?:SUM|MAX)\(([A-Z][\w$#]{0,60})\)$")


class ViewRow(Struct, frozen=True):
    """One row: its line, and its cells by the names of their columns, "" where blank."""

    line: int
    cells: dict[str, str]


class ViewRows(Struct, frozen=True):
    """The rows of all tables with certain columns. `ended`: something follows the last row of each."""

    rows: tuple[ViewRow, ...]
    ended: bool


class _Heading(Struct):
    names: list[str]
    separator: str
    spans: list[tuple[int, int]]


def has_columns(lines: Iterable[str], needs: Collection[str]) -> bool:
    """Whether one of these lines is a heading with all these columns."""
    return any({*needs} <= {*_names(line)[0]} or {*needs} <= {*map(_plain, line.split())} for line in lines)


def view_rows(path: str, text: str, needs: Collection[str]) -> ViewRows:
    """The rows under every heading that has all these columns. Raises SourceError with file and line."""
    view_row_list: list[ViewRow] = []
    heading: _Heading | None = None
    last: _Heading | None = None  # of a table that has ended: a spool may print its heading only once
    above, at, ends = "", 0, 0
    for at, line in enumerate(text.splitlines(), 1):
        short = line[:LONGEST_LINE]
        if opened := _opened(short, above, needs):
            heading = opened
        elif last and (cells := _resumed(short, last)):
            view_row_list.append(ViewRow(at, dict(zip(last.names, cells, strict=True))))
            heading, last = last, None
        elif last and (_is_rule(short) or (last.separator and last.separator in short)):
            last = None  # another table begins
        elif heading and not _is_rule(short) and (cells := _cells(path, at, short, heading)):
            view_row_list.append(ViewRow(at, dict(zip(heading.names, cells, strict=True))))
        elif heading and view_row_list and view_row_list[-1].line == at - 1 and not _is_rule(short):
            ends, last, heading = ends + 1, heading, None
        above = short
    # Of a file with one table, as of CSV, nothing shows whether it was cut.
    return ViewRows(tuple(view_row_list), not ends or view_row_list[-1].line < at)


def whole_number(path: str, row: ViewRow, name: str) -> int | None:
    """A counter as it stands; None where its cell is blank or missing. Raises SourceError for anything but digits."""
    cell = row.cells.get(name, "")
    if not cell:
        return None
    return whole(path, row.line, cell, name, WIDE)


def _plain(name: str) -> str:
    """The name of a column without its sum and quotes."""
    upper = name.strip().strip('"').upper()
    match = _SUM.match(upper)
    return match[1] if match else upper


def _names(line: str) -> tuple[list[str], str]:
    """The columns of a heading with separators, and which one it is; none for any other line."""
    for separator in SEPARATORS:
        if separator in line:
            names = [_plain(each) for each in line[:LONGEST_LINE].split(separator)]
            return (names, separator) if all(names) and " " not in names[0] else ([], "")
    return [], ""


def _opened(line: str, above: str, needs: Collection[str]) -> _Heading | None:
    """The heading that ends with this line: one with separators, or the line above a rule of dashes."""
    names, separator = _names(line)
    if {*needs} <= {*names}:
        return _Heading(names, separator, [])
    if not line.startswith("-") or not _is_rule(line) or "|" in line:
        return None
    spans = [each.span() for each in _DASHES.finditer(line.rstrip())]
    names = [_plain(each) for each in _cut(above, spans)]
    return _Heading(names, "", spans) if {*needs} <= {*names} else None


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line)) and "-" in line


def _cut(line: str, spans: list[tuple[int, int]]) -> list[str]:
    """The cells of a line: each reaches from the end of the column before it to the end of its own."""
    ends = [0, *(end for _, end in spans[:-1]), LONGEST_LINE]
    return [line[low:high].strip() for low, high in pairwise(ends)]


def _cells(path: str, at: int, line: str, heading: _Heading) -> list[str]:
    """The cells of a row; none where the line is no row. Raises SourceError for a row of another width."""
    if heading.spans:
        cells = _cut(line, heading.spans)
        return cells if line.strip() and len(line.rstrip()) > heading.spans[-1][0] else []
    if heading.separator not in line:
        return []
    cells = (
        [each.strip() for each in csv_cells(path, at, line)]
        if heading.separator == ","
        else [each.strip().strip('"') for each in line.split(heading.separator)]
    )
    if len(cells) != len(heading.names):
        what = f"a row of {len(cells)} cells under a heading of {len(heading.names)} columns"
        raise refuse(path, at, what, WIDE)
    return cells


def _resumed(line: str, heading: _Heading) -> list[str]:
    """The cells of a row below other lines; none for a line that does not look like one: its last cell is a number."""
    if heading.separator:
        cells = [each.strip().strip('"') for each in line.split(heading.separator)]
    else:
        between = [line[end : end + 1] for _, end in heading.spans[:-1]]
        cells = _cut(line, heading.spans) if all(each == " " for each in between) else []
    whole = len(cells) == len(heading.names) and bool(cells[0]) and cells[-1].isdigit()
    return cells if whole else []


TIMES = (
    *("SNAP_TIME", "SNAPSHOT_TIME", "SAMPLE_TIME", "SYSDATE", "SYSTIMESTAMP", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP"),
    *("END_INTERVAL_TIME", "TIME", "SNAP_ID"),
)

Counters = Mapping[str, int]


class Snapshot(Struct):
    """The counters of one moment. `stamp` is its time as printed, "" where there is none."""

    stamp: str
    keys: dict[tuple[str, ...], Counters]


def snapshots(
    rows: tuple[ViewRow, ...], key: Callable[[ViewRow], tuple[str, ...]], counters: Callable[[ViewRow], Counters]
) -> list[Snapshot]:
    """The snapshots, in their order in the file."""
    snapshot_list: list[Snapshot] = []
    for row in rows:
        stamp = next((row.cells[name] for name in _stamped(row) if row.cells[name]), "")
        own = key(row)
        if not snapshot_list or snapshot_list[-1].stamp != stamp or own in snapshot_list[-1].keys:
            snapshot_list.append(Snapshot(stamp, {}))
        snapshot_list[-1].keys[own] = counters(row)
    return snapshot_list


def _stamped(row: ViewRow) -> list[str]:
    """The columns with its time."""
    known = [name for name in TIMES if name in row.cells]
    return known + [name for name in row.cells if name.startswith(("TO_CHAR(SYS", "TO_CHAR(CURRENT_TIME"))]


def grown(before: Counters, now: Counters) -> dict[str, int] | None:
    """How far each counter went that both state; None where one fell: the instance was restarted in between."""
    went = {name: now[name] - before[name] for name in now if name in before}
    return None if any(value < 0 for value in went.values()) else went


def seconds_between(first: str, then: str) -> float | None:
    """The time between two stamps; None where they do not say: of two numeric dates the order of day and month."""
    epochs = since_1970(first), since_1970(then)
    if epochs[0] is not None and epochs[1] is not None:
        return epochs[1] - epochs[0]
    clocks = second_of_day(first), second_of_day(then)
    if clocks[0] is None or clocks[1] is None:
        return None
    days = day_of(first), day_of(then)
    if days[0] is not None and days[1] is not None:
        return round((days[1] - days[0]) * DAY_S + clocks[1] - clocks[0], 9)
    dates = {CLOCK.split(each, maxsplit=1)[0].strip() for each in (first, then)}
    return round(clocks[1] - clocks[0], 9) if len(dates) == 1 else None


def clock(stamp: str) -> str:
    """The time of day of a stamp with one, to the second; else the stamp."""
    match = CLOCK.search(stamp.upper())
    return ":".join(match.group(1, 2, 3)) + (f" {match[5]}" if match[5] else "") if match else stamp[:40]

"""AWR and Statspack reports of Oracle: how long the waits for I/O took, from their histograms.

What it is: the report of one instance, as text or HTML: `awrrpt.sql`, `spreport.sql`.
What is read: "Wait Event Histogram" with its continuations up to 32 ms and 2 s: each I/O event is a row of its waits,
over the elapsed time, with the per cents in the report's own edges (its ms is 1024 us where it says so), and the mean
that "Foreground Wait Events" and "Background Wait Events" state together. Then "Instance Activity Stats": all reads and
writes of the instance with their bytes, a row, and those of its redo log. Then "File IO Stats": reads with their mean,
and writes, of each data file; "File Read Histogram Stats": its single-block reads.
What it cannot see: users, depth; the size of the I/Os of an event; a mean of waits that took less than a minute in all,
which the report rounds to seconds, unless it states it in us. Waits are not I/Os where one call makes several (parallel
reads and writes, direct path): these have no IOPS. Waits in K or M are rounded.
What is refused: the report of a cluster (awrgrpt.sql); one without these sections, or without waits for I/O; cells that
are not numbers. A section that is cut is read as far as it goes, and named.
"""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse
from iocast.tools.foreign_numbers import number
from iocast.tools.oracle.oracle_events import EVENTS, WAITS_NOTE, family, waits_are_ios
from iocast.tools.oracle.oracle_files import FILES, FILES_NOTE, SINGLE, file_rows, single_read_rows
from iocast.tools.oracle.oracle_profile import ACTIVITY, ACTIVITY_NOTE, INSTANCE, WAITS, instance_rows, wait_means
from iocast.tools.oracle.report_tables import (
    Table,
    elapsed_minutes,
    file_sections,
    is_cluster_report,
    is_html,
    is_report,
    tables,
)
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run, stated

MAIN = "Wait Event Histogram"
TITLES = (MAIN, f"{MAIN} (up to 32 ms)", f"{MAIN} (up to 2 sec)")
_EDGE = re.compile(r"(<=|>=|<|>) ?(\d{1,4}(?:/\d{1,2})?)(us|ms|s|m)$")
_WAITS = re.compile(r"(\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.(\d{1,2}))?([KMG]?)$")
_PERCENT = re.compile(r"\d{0,3}\.\d$")
_FACTORS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
OF_ONE = "give the report of one instance (awrrpt.sql, or spreport.sql at level 7)"
NO_WAITS = ("it has no waits for I/O", "give a report of an interval with I/O")
SLACK_PERCENT = 2.0  # eight or more cells, each rounded to 0.1


class _Edge(Struct, frozen=True):
    """The head of a column. `label` without its sign joins a continuation to the open bucket before it."""

    above: bool
    label: str
    edge_ns: int


class _Waits(Struct):
    """An event as it stands in one table."""

    line: int
    waits: int
    rounded: bool
    cells: list[tuple[_Edge, float]]


def sniff(head: Head) -> bool:
    """How a report of AWR or Statspack begins."""
    return is_report(head.text) or is_cluster_report(head.text)


def read(paths: tuple[str, ...]) -> Run:
    """The I/O events of these reports, a row each. Raises SourceError."""
    warnings: list[str] = []
    rows = [row for path in paths for row in _rows(path, read_text(path), warnings)]
    notes = [WAITS_NOTE]
    notes += [FILES_NOTE] if any(row.path for row in rows) else []
    notes += [ACTIVITY_NOTE] if any(row.name in INSTANCE for row in rows) else []
    return run(Source(tool="Oracle waits", files=paths, notes=tuple(notes)), rows, warnings=warnings)


def _rows(path: str, text: str, warnings: list[str]) -> list[Row]:
    if is_cluster_report(text):
        raise refuse(path, 0, "it is the report of a cluster (awrgrpt.sql), which is not read", OF_ONE)
    by_title = {each.title: each for each in tables(text, (*TITLES, FILES, *WAITS, ACTIVITY)) if each.head}
    if not is_html(text):
        by_title |= {each.title: each for each in file_sections(text, (FILES, SINGLE))}
    if not {MAIN, FILES, ACTIVITY} & {*by_title}:
        raise refuse(path, 0, f'it has no section "{MAIN}"', OF_ONE)
    cut = [each.title for each in by_title.values() if not each.ended]
    if cut or (is_html(text) and "</html>" not in text[-2000:].lower()):
        warnings.append(
            f"{path}: the report is cut{f' in {cut[0]}' if cut else ''}: events or longer times may be missing"
        )
    minutes = elapsed_minutes(text)
    rows = _event_rows(path, by_title, minutes, warnings) if MAIN in by_title else []
    rows += instance_rows(path, by_title[ACTIVITY], minutes) if ACTIVITY in by_title else []
    rows += file_rows(path, by_title[FILES], minutes, warnings) if FILES in by_title else []
    rows += single_read_rows(path, by_title[SINGLE], minutes) if SINGLE in by_title else []
    if not rows:
        raise refuse(path, 0, *NO_WAITS)
    return rows


def _event_rows(path: str, by_title: dict[str, Table], minutes: float | None, warnings: list[str]) -> list[Row]:
    """The I/O events of the histograms of waits."""
    ms_ns = 1_024_000 if any("ms is 1024 microseconds" in each.notes for each in by_title.values()) else 1_000_000
    events = [_events(path, by_title[title], ms_ns, warnings) if title in by_title else {} for title in TITLES]
    means = wait_means(path, [by_title[title] for title in WAITS if title in by_title], _event)
    rows = [
        _row(name, each, [more.get(name) for more in events[1:]], minutes, means.get(name))
        for name, each in events[0].items()
    ]
    if not rows:
        raise refuse(path, by_title[MAIN].line, *NO_WAITS)
    return rows


def _events(path: str, table: Table, ms_ns: int, warnings: list[str]) -> dict[str, _Waits]:
    """The I/O events of a table."""
    edges = [_edge(path, table, each, ms_ns) for each in table.head[2:]]
    by_event: dict[str, _Waits] = {}
    for line, cells in table.rows:
        name = _event(cells[0], table.width)
        if name is None:
            continue
        if len(cells) != len(table.head):
            raise refuse(path, line, f"{name} has {len(cells)} cells, the table has {len(table.head)} columns")
        if any(each and not each.strip("#") for each in cells):
            warnings.append(f"{path}:{line}: {name} has a figure that is too wide for its column: left out")
            continue
        waits = _WAITS.match(cells[1])
        if not waits or any(each and not _PERCENT.match(each) for each in cells[2:]):
            raise refuse(path, line, f"{name}: waits or per cents that are not numbers")
        if name in by_event:
            raise refuse(path, line, f"{name} stands here twice", "give each report as a file")
        whole = Fraction(f"{waits[1].replace(',', '')}.{waits[2] or 0}") * _FACTORS[waits[3]]
        parts = [(edge, number(path, line, cell or "0", name)) for edge, cell in zip(edges, cells[2:], strict=True)]
        if abs(sum(part for _, part in parts) - 100) > SLACK_PERCENT:
            raise refuse(path, line, f"{name}: its per cents do not add up to 100")
        by_event[name] = _Waits(line, round(whole), bool(waits[3]), parts)
    return by_event


def _event(cell: str, width: int | None) -> str | None:
    """The full name of an I/O event, which a column of text may have cut."""
    if family(cell) in EVENTS:
        return cell
    fits = [each for each in EVENTS if width and len(cell) == width and each.startswith(cell)]
    return fits[0] if len(fits) == 1 else None


def _edge(path: str, table: Table, head: str, ms_ns: int) -> _Edge:
    match = _EDGE.match(head)
    if not match or match[2].endswith(("/0", "/00")):
        raise refuse(path, table.line, f'"{head[:20]}" is not the edge of a bucket with its unit')
    unit_ns = {
        "us": Fraction(1_000),
        "ms": Fraction(ms_ns),
        "s": Fraction(1_024 * ms_ns),
        "m": Fraction(65_536 * ms_ns),
    }
    return _Edge(match[1].startswith(">"), match[2] + match[3], round(Fraction(match[2]) * unit_ns[match[3]]))


def _row(name: str, main: _Waits, more: list[_Waits | None], minutes: float | None, mean_ns: float | None) -> Row:
    cells = main.cells
    for each in more:
        cells = _continued(cells, each)
    buckets, low = [], 0
    for edge, per_cent in cells:
        buckets.append(Bucket(low, None if edge.above else edge.edge_ns, per_cent))
        low = edge.edge_ns
    times = Coarse(total=main.waits, mean_ns=mean_ns, buckets=tuple(buckets), whole=100.0)
    # Waits over time are not the IOPS of a batched event, and without the elapsed time nothing is: no length, no rate.
    timed = bool(minutes) and waits_are_ios(name)
    derived = ("size", *(("ios",) if main.rounded else ())) if timed else ("size", "length")
    return Row(
        name=name,
        test=EVENTS[family(name)],
        ops=(OpFigures(op=EVENTS[family(name)], ios=main.waits, bytes=0, times=stated(times)),),
        elapsed_ns=round((minutes or 0) * 60 * SECOND_NS) or SECOND_NS,
        derived=derived,
    )


def _continued(cells: list[tuple[_Edge, float]], more: _Waits | None) -> list[tuple[_Edge, float]]:
    """The open bucket in the finer ones of the table that goes on where it begins; the same cells without one."""
    last = cells[-1][0]
    at = next((at for at, (edge, _) in enumerate(more.cells) if edge.label == last.label), None) if more else None
    if more is None or at is None or not last.above or more.cells[at][0].above:
        return cells
    return [*cells[:-1], *more.cells[at + 1 :]]

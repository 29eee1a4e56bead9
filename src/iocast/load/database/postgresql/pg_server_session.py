"""A session whose statements run in a loop on the server, a slice a call."""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from typing import Any, NamedTuple

from iocast.errors import LoadError
from iocast.load.database.key_stream import KINDS, places_of
from iocast.load.database.load_server import Crossing, SessionPlan, Slice
from iocast.load.database.postgresql.pg_connection import PgConnection
from iocast.load.database.postgresql.pg_procedures import LAG, SCHEMA, SECTIONS, SERVICE
from iocast.load.database.tallies import SERVER_BUCKETS, Tally
from iocast.model.database.database_load import CommitLoad, DatabaseLoad


class LoopReport(NamedTuple):
    """What a loop gives back."""

    number: int
    due_us: float
    ended_us: int
    buckets: list[int] | None
    counts: list[int] | None
    slow_sum: list[float]
    slow_squares: list[float]
    most_us: list[int]
    last_section: int | None
    last_response: int | None
    last_service: int | None
    last_lag: int | None
    last_ended: int | None
    touched: list[int] | None


_NOTHING = ", ".join(["null"] * (len(LoopReport._fields) - 2))


class ServerSession:
    """See `load_server.LoadSession`."""

    def __init__(self, connection: PgConnection, session: SessionPlan, load: DatabaseLoad) -> None:
        self._on, self._asked = connection, session
        connection.tried("set track_io_timing = on")
        self._began: Any = None
        self._number, self._due_us = 0, 0.0
        places = places_of(load, session.rows, session.block_bytes)
        think = load.think
        pauses = (think.least_ns // 1000, think.most_ns // 1000, think.every) if think else (0, 0, 0)
        self._sections = SECTIONS if session.gap_ns else len(KINDS)
        self._before = (session.stream, session.rows)
        self._after = (
            load.update_pct, load.scan_pct, min(load.scan_blocks, session.rows), load.work_unit, places.hot_first,
            places.hot_rows, places.hot_every, places.theta, *pauses, load.redo == "heavy", session.gap_ns / 1000,
            session.even, self._sections,
        )  # fmt: skip
        casts = "%s::bigint, %s::bigint, %s::timestamptz, %s::bigint, %s::int, %s::int, %s::int, %s::int, %s::bigint,"
        casts += " %s::bigint, %s::int, %s::float8, %s::bigint, %s::bigint, %s::int, %s::bool, %s::float8, %s::bool,"
        self._call = f"call {SCHEMA}.load_{session.table}({casts} %s::int, %s::bigint, %s::float8, {_NOTHING})"

    def begin(self, began: object) -> None:
        """All times count from here."""
        self._began = began
        self._number, self._due_us = 0, self._asked.first_due_ns / 1000

    def run(self, till_ns: int) -> Slice:
        """One call of the loop."""
        report = self._report((*self._before, self._began, till_ns // 1000, *self._after, self._number, self._due_us))
        return slice_of(report, self._sections)

    def _report(self, parameters: tuple[Any, ...]) -> LoopReport:
        (row,) = self._on.rows(self._call, parameters)
        report = LoopReport(*row)
        self._number, self._due_us = report.number, report.due_us
        return report

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(LoadError):
            self._on.close()


class CommitSession(ServerSession):
    """Inserts a row and commits, in the same kind of loop."""

    def __init__(self, connection: PgConnection, session: SessionPlan, work: CommitLoad) -> None:
        self._on, self._asked = connection, session
        self._began = None
        self._number, self._due_us = 0, 0.0
        connection.rows(f"set synchronous_commit = {'on' if work.synchronous else 'off'}")
        self._sections = SECTIONS if session.gap_ns else len(KINDS)
        self._before = (session.stream,)  # type: ignore[assignment]
        self._after = (os.urandom(work.row_bytes), session.gap_ns / 1000, session.even, self._sections)  # type: ignore[assignment]
        casts = "%s::bigint, %s::timestamptz, %s::bigint, %s::bytea, %s::float8, %s::bool, %s::int"
        self._call = f"call {SCHEMA}.commit_rows({casts}, %s::bigint, %s::float8, {_NOTHING})"


def slice_of(report: LoopReport, sections: int) -> Slice:
    """Counts of a loop as tallies."""
    by_section: dict[int, dict[int, int]] = defaultdict(dict)
    for bucket, count in zip(report.buckets or (), report.counts or (), strict=True):
        section, within = divmod(bucket, SERVER_BUCKETS)
        by_section[section][within] = count

    def tally(section: int) -> Tally:
        counts = Tally()
        if section < sections:
            most, slow = report.most_us[section], int(report.slow_sum[section])
            counts.add_server(by_section[section], slow, report.slow_squares[section], most)
        return counts

    response = {kind: tally(number) for number, kind in enumerate(KINDS)}
    open_loop = sections > len(KINDS)
    service = {kind: tally(SERVICE + number) for number, kind in enumerate(KINDS)} if open_loop else response
    crossing = None
    if report.last_section is not None:
        kind = KINDS[report.last_section]
        response_us, service_us = report.last_response or 0, report.last_service or 0
        lag_us, ended_us = report.last_lag or 0, report.last_ended or 0
        crossing = Crossing(kind, max(0, response_us) * 1000, service_us * 1000, lag_us * 1000, ended_us * 1000)
    touched = tuple(report.touched or (0, 0, 0, 0))
    fetched, hit, index_fetched, index_hit = touched
    return Slice(
        response=response,
        service=service,
        lag=tally(LAG) if open_loop else Tally(),
        ended_ns=report.ended_us * 1000,
        crossing=crossing,
        number=report.number,
        due_ns=report.due_us * 1000,
        touched=(fetched, fetched - hit, index_fetched, index_fetched - index_hit),
    )

"""Sessions on MariaDB and MySQL: a loop on the server, a slice a call, or statements sent one by one."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from iocast.errors import LoadError
from iocast.load.database.key_stream import KINDS, Kind, places_of
from iocast.load.database.load_server import Crossing, SessionPlan, Slice, no_times
from iocast.load.database.mysql.my_connection import MyConnection
from iocast.load.database.mysql.my_procedures import DATABASE
from iocast.load.database.tallies import Tally
from iocast.model.database.database_load import DatabaseLoad

_RESULTS = "@iocast_number, @iocast_due, @iocast_kind, @iocast_ended"


class LoopSession:
    """See `load_server.LoadSession`."""

    def __init__(self, connection: MyConnection, session: SessionPlan, load: DatabaseLoad) -> None:
        self._on, self._asked = connection, session
        self._began: Any = None
        self._before, self._after = (session.stream, session.rows), _asked_of(load, session)
        marks = ", ".join(["%s"] * (len(self._before) + 2 + len(self._after)))
        self._call = f"call {DATABASE}.load_{session.table}({marks}, {_RESULTS})"

    def begin(self, began: object) -> None:
        """All times count from here."""
        self._began = began
        self._on.run("set @iocast_number = 0, @iocast_due = %s", (self._asked.first_due_ns / 1000,))

    def run(self, till_ns: int) -> Slice:
        """One call of the loop, and what it wrote down."""
        self._on.run(self._call, (*self._before, self._began, till_ns // 1000, *self._after))
        number, due_us, last_kind, last_ended = self._on.rows(f"select {_RESULTS}")[0]
        words = "".join(text for (text,) in self._on.rows(f"select told from {DATABASE}.iocast_told order by n"))
        return slice_of(words, int(number), float(due_us), int(last_kind), int(last_ended), bool(self._asked.gap_ns))

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(LoadError):
            self._on.close()


class MyCommits:
    """Rows inserted and committed one by one; see `client_session.Statements`.

    Never in a procedure: it goes on while the log is flushed, and only the answer to its caller waits for that.
    """

    def __init__(self, connection: MyConnection, stream: int, row_bytes: int) -> None:
        self._on, self._stream, self._number = connection, stream, 0
        self._filler = os.urandom(row_bytes)

    def execute(self, kind: Kind, place: int, blocks: int) -> None:
        """One row, durable when this returns."""
        row = (self._stream, self._number, self._filler)
        self._on.run(f"insert into {DATABASE}.commits (stream, number, filler) values (%s, %s, _binary %s)", row)
        self._number += 1

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(LoadError):
            self._on.close()


def _asked_of(load: DatabaseLoad, session: SessionPlan) -> tuple[Any, ...]:
    """What the loop is told of a load, in its order."""
    places, think = places_of(load, session.rows, session.block_bytes), load.think
    pauses = (think.least_ns // 1000, think.most_ns // 1000, think.every) if think else (0, 0, 0)
    return (
        load.update_pct, load.scan_pct, min(load.scan_blocks, session.rows), load.work_unit, places.hot_first,
        places.hot_rows, places.hot_every, places.theta, *pauses, int(load.redo == "heavy"), session.gap_ns / 1000,
        int(session.even),
    )  # fmt: skip


def slice_of(line: str, number: int, due_us: float, last_kind: int, last_ended_us: int, open_loop: bool) -> Slice:
    """What a loop wrote down: kind, response, service and lag of each statement, the last of which may have crossed."""
    figures = list(map(int, line.split(",")[:-1]))
    rows = [tuple(figures[at : at + 4]) for at in range(0, len(figures), 4)]
    crossing = None
    if last_kind >= 0 and rows:
        kind, response_us, service_us, lag_us = rows.pop()
        crossing = Crossing(KINDS[kind], response_us * 1000, service_us * 1000, lag_us * 1000, last_ended_us * 1000)
    response, service, lag = no_times(), no_times(), Tally()
    for kind, response_us, service_us, lag_us in rows:
        response[KINDS[kind]].add(response_us * 1000)
        if open_loop:
            service[KINDS[kind]].add(service_us * 1000)
            lag.add(lag_us * 1000)
    return Slice(
        response=response,
        service=service if open_loop else response,
        lag=lag,
        ended_ns=0,
        crossing=crossing,
        number=number,
        due_ns=due_us * 1000,
    )


class MyStatements:
    """See `client_session.Statements`."""

    def __init__(self, connection: MyConnection, table: int, load: DatabaseLoad) -> None:
        self._on = connection
        name = f"{DATABASE}.t{table}"
        where = "k between %s and %s"
        changed = "c1 = c1 + 1"
        if load.redo == "heavy":
            changed += ", filler = concat(substring(filler, 65), random_bytes(64))"
        self._sql: dict[Kind, str] = {
            "read": f"select sum(c1) from {name} where {where}",
            "update": f"update {name} set {changed} where {where}",
            "scan": f"select sum(c1) from {name} where p between %s and %s",
        }

    def execute(self, kind: Kind, place: int, blocks: int) -> None:
        """One statement, and its result."""
        ends = (place, place + blocks - 1) if kind != "scan" else ((place - 1) * 2, (place - 1 + blocks) * 2 - 1)
        self._on.rows(self._sql[kind], ends)

    def close(self) -> None:
        """Ends the connection."""
        with contextlib.suppress(LoadError):
            self._on.close()

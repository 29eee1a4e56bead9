"""Where the response time of a traced session went: CPU, waits inside of calls, waits between them, and what is left.

The time of a recursive call is inside its parent, so only calls without a parent in the trace are summed; a statement
is given what its calls took less what their children took. A trace may be cut, or begin in the middle of a recursion:
a call is then on top although its depth is not 0 (source-systems.md K12). A call is written after its waits, so waits
behind the last call of a file are of a call that the trace does not have: they are part of no call's time.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from iocast.analyse.profiling.event_queries import EventTable

# Between calls: the session waits for its client. They are no part of the elapsed time of a call.
BETWEEN = ("SQL*Net message from client", "SQL*Net message to client", "single-task message", "pipe get")
IDLE = ("SQL*Net message from client", "single-task message", "pipe get")
WAITING = "kind IN (4, 5)"  # all other kinds are calls (docs/guide/traces.md)
# A call for a LOB says no depth: it is part of the call around it, or on top.
DEPTH = "CASE WHEN kind = 6 THEN 1000000 ELSE coalesce(dep, 0) END"

CALLS = f"""
SELECT source, coalesce(sql, ''), {DEPTH}, start_ns, coalesce(elapsed_ns, 0), coalesce(cpu_ns, 0)
FROM events WHERE NOT {WAITING} AND start_ns IS NOT NULL ORDER BY source, src_line DESC
"""
WAITS = f"""
SELECT event, count(*), count(elapsed_ns), coalesce(sum(elapsed_ns), 0)::BIGINT, max(elapsed_ns)
FROM events WHERE {WAITING} GROUP BY event ORDER BY 4 DESC, 2 DESC, event
"""
WAITS_OF_SQL = f"""
WITH calls AS (SELECT source, max(src_line) AS line FROM events WHERE NOT {WAITING} GROUP BY source)
SELECT coalesce(sql, ''), event, calls.source IS NOT NULL AND coalesce(src_line <= calls.line, TRUE) AS inside,
    coalesce(sum(elapsed_ns), 0)::BIGINT
FROM events LEFT JOIN calls USING (source) WHERE {WAITING} GROUP BY ALL
"""
Call = tuple[int, str, int, int, int, int]  # source, statement, depth, start, elapsed, CPU


class WaitEvent(Struct, frozen=True):
    """All waits of one event."""

    event: str
    waits: int
    known: int  # waits whose time is known
    total_ns: int  # of these
    most_ns: int | None

    @property
    def between_calls(self) -> bool:
        """Whether it is no part of a call."""
        return self.event in BETWEEN


class StatementTime(Struct, frozen=True):
    """A statement's own time, without its recursive calls."""

    sql: str
    calls: int
    elapsed_ns: int
    cpu_ns: int
    waited_ns: int

    @property
    def unaccounted_ns(self) -> int:
        """Elapsed, and neither CPU nor a wait; negative where CPU time is coarse or counted twice."""
        return self.elapsed_ns - self.cpu_ns - self.waited_ns


class ResponseAccounting(Struct, frozen=True):
    """The response time of all sessions of a trace."""

    elapsed_ns: int  # of calls without a parent
    cpu_ns: int
    waited_ns: int  # inside of calls
    idle_ns: int  # for the client
    between_ns: int  # between calls, but not idle
    cut_off_ns: int  # waits of calls that the trace does not have
    events: tuple[WaitEvent, ...]
    statements: tuple[StatementTime, ...]  # those that took most first

    @property
    def response_ns(self) -> int:
        """Calls, and what lies between them."""
        return self.elapsed_ns + self.idle_ns + self.between_ns + self.cut_off_ns

    @property
    def unaccounted_ns(self) -> int:
        """Elapsed, and neither CPU nor a wait."""
        return self.elapsed_ns - self.cpu_ns - self.waited_ns


def response_accounting(calls: str, spill: Path) -> ResponseAccounting:
    """The accounting of a table of calls. Raises AnalysisError."""
    with EventTable(calls, spill) as table:
        tops, own = _own_times(table.rows(CALLS))
        events = tuple(WaitEvent(*row) for row in table.rows(WAITS))
        inside: dict[str, int] = {}
        cut_off = 0
        for sql, event, of_a_call, total in table.rows(WAITS_OF_SQL):
            if event in BETWEEN:
                continue
            if of_a_call:
                inside[sql] = inside.get(sql, 0) + total
            else:
                cut_off += total
    statements = [StatementTime(sql, *own.get(sql, (0, 0, 0)), waited_ns=inside.get(sql, 0)) for sql in {*own, *inside}]
    idle = sum(each.total_ns for each in events if each.event in IDLE)
    return ResponseAccounting(
        elapsed_ns=tops[0],
        cpu_ns=tops[1],
        waited_ns=sum(inside.values()),
        idle_ns=idle,
        between_ns=sum(each.total_ns for each in events if each.between_calls) - idle,
        cut_off_ns=cut_off,
        events=events,
        statements=tuple(sorted(statements, key=lambda each: (-max(each.elapsed_ns, each.waited_ns), each.sql))),
    )


def _own_times(calls: Iterable[Call]) -> tuple[tuple[int, int], dict[str, tuple[int, int, int]]]:
    """(elapsed, CPU) of calls without a parent, and (calls, elapsed, CPU) of each statement without its children.

    Calls come backwards: a parent is written after its children, and so it is met before them.
    """
    above: list[tuple[int, int, int, str]] = []  # source, depth, start, statement of calls that may be parents
    elapsed = cpu = 0
    own: dict[str, list[int]] = {}
    for source, sql, depth, start, took, used in calls:
        while above and (above[-1][0] != source or above[-1][1] >= depth or above[-1][2] >= start + took > start):
            above.pop()
        mine = own.setdefault(sql, [0, 0, 0])
        mine[0] += 1
        mine[1] += took
        mine[2] += used
        if above:
            parent = own[above[-1][3]]
            parent[1] -= took
            parent[2] -= used
        else:
            elapsed, cpu = elapsed + took, cpu + used
        above.append((source, depth, start, sql))
    return (elapsed, cpu), {sql: (each[0], each[1], each[2]) for sql, each in own.items()}

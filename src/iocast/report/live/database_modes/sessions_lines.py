"""watch sessions: the active sessions of Oracle and what each waits for, and how many wait for what by instance."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.live.session_waits import by_event, session_waits
from iocast.model.live.moment import Interval
from iocast.model.live.readings import Readings
from iocast.report.live.database_modes.under_a_clock import clock
from iocast.report.live.line_table import Table
from iocast.text import percent

NAME = "sessions"
DATABASE = "oracle"
OBSERVERS = ("oracle.session_waits",)
HEADING: tuple[str, ...] = ()
COLUMNS = ("INST", "SID,SERIAL#", "active", "wait class", "event")

_MOST = 40  # lines an interval; --json and --csv have all


def table(readings: Readings) -> Table:
    """A row a session and event; active: the share of the looks that found it there."""
    rows = [
        (each.instance, each.session, each.looks / each.polls, each.wait_class or None, each.event)
        for each in session_waits(readings)
    ]
    return Table(COLUMNS, tuple(rows))


def lines(interval: Interval) -> Iterator[str]:
    """Sessions, then instances and events with the number of sessions."""
    waits = session_waits(interval)
    at = clock(interval)
    if not waits:
        yield f"{at} no session was found active"
        return
    yield f"{'time':<9}{'INST':<6}{'SID,SERIAL#':<16}{'active':>8}  event (wait class)"
    for each in waits[:_MOST]:
        of_class = f" ({each.wait_class})" if each.wait_class else ""
        share = percent(each.looks / each.polls)
        yield f"{at:<9}{each.instance:<6}{each.session:<16}{share:>8}  {each.event}{of_class}"
    if len(waits) > _MOST:
        yield f"and {len(waits) - _MOST} more"
    yield f"{'':<9}{'INST':<6}{'sessions':<16}{'at a time':>9} event"
    for group in by_event(waits):
        yield f"{'':<9}{group.instance:<6}{group.sessions:<16}{group.active:>9.1f} {group.event}"
    yield ""

"""A session whose statements are sent one by one, as an application sends them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from iocast.load.database.key_stream import PAUSE, Kind, drawn, kind_of, next_due_ns, place_of, places_of
from iocast.load.database.load_server import Crossing, SessionPlan, Slice, no_times
from iocast.load.database.tallies import Tally
from iocast.model.database.database_load import DatabaseLoad

_SPIN_NS = 200_000  # the last part of a wait is waited for on the processor


class Statements(Protocol):
    """The statements of one session on a connection of its own; they raise LoadError."""

    def execute(self, kind: Kind, place: int, blocks: int) -> None:
        """One statement on so many blocks, and its result."""

    def close(self) -> None:
        """Ends the connection."""


class ClientSession:
    """See `load_server.LoadSession`. Its times are those of the client, exact to the nanosecond."""

    def __init__(self, statements: Statements, session: SessionPlan, load: DatabaseLoad) -> None:
        self._statements, self._asked, self._load = statements, session, load
        self._places = places_of(load, session.rows, session.block_bytes)
        self._blocks = {"read": load.work_unit, "update": load.work_unit, "scan": min(load.scan_blocks, session.rows)}
        self._number, self._due_ns, self._began_ns = 0, 0.0, 0
        self._free_ns = 0  # when the last statement had ended
        self.close: Callable[[], None] = statements.close

    def begin(self, began: object) -> None:
        """Its own clock counts from now: the server's is not its own."""
        self._number, self._due_ns = 0, self._asked.first_due_ns
        self._began_ns = time.perf_counter_ns()

    def run(self, till_ns: int) -> Slice:
        """Statements until then."""
        plan, response, service, lag = self._asked, no_times(), no_times(), Tally()
        open_loop = plan.gap_ns > 0
        ended_ns, crossing = 0, None
        self._free_ns = time.perf_counter_ns() - self._began_ns
        while crossing is None:
            number = self._number
            kind = kind_of(self._load, number)
            self._pause(number)
            if open_loop:
                if self._due_ns >= till_ns:
                    break
                self._wait_until(self._due_ns)
            place = place_of(self._places, plan.stream, number, self._blocks[kind])
            if plan.traced is not None:
                plan.traced(kind, place)
            start_ns = time.perf_counter_ns() - self._began_ns
            self._statements.execute(kind, place, self._blocks[kind])
            ended_ns = time.perf_counter_ns() - self._began_ns
            took_ns = ended_ns - start_ns
            since_due_ns = max(took_ns, ended_ns - round(self._due_ns)) if open_loop else took_ns
            late_ns = max(0, start_ns - max(round(self._due_ns), self._free_ns)) if open_loop else 0
            self._free_ns = ended_ns
            self._next_due(number)
            if ended_ns >= till_ns:
                crossing = Crossing(kind, since_due_ns, took_ns, late_ns, ended_ns)
                break
            response[kind].add(since_due_ns)
            if open_loop:
                service[kind].add(took_ns)
                lag.add(late_ns)
        service = service if open_loop else response
        return Slice(response, service, lag, ended_ns, crossing, self._number, self._due_ns)

    def _pause(self, number: int) -> None:
        think = self._load.think
        if think is not None and number % think.every == think.every - 1:
            more = drawn(self._asked.stream, number, PAUSE) * (think.most_ns - think.least_ns + 1) >> 32
            time.sleep((think.least_ns + more) / 1e9)

    def _wait_until(self, due_ns: float) -> None:
        while (left_ns := due_ns - (time.perf_counter_ns() - self._began_ns)) > 0:
            if left_ns > _SPIN_NS:
                time.sleep((left_ns - _SPIN_NS) / 1e9)

    def _next_due(self, number: int) -> None:
        self._number = number + 1
        plan = self._asked
        if plan.gap_ns:
            self._due_ns = next_due_ns(plan.stream, self._number, self._due_ns, plan.gap_ns, even=plan.even)

"""Databases (`postgresql:`, `mysql:`, `mariadb:`): statements of many sessions on a data set of iocast's own.

What it is: sessions that run statements in loops on the server, or from this machine one by one, on the tables in the
schema `iocast_load`. A row's times are those of its statements; what the engine reads from the layer below it, and how
long that takes, stands beside them.

Needs: a role that may connect, and a data set (`iocast load-db build`); no superuser.
"""

from __future__ import annotations

import resource
import time
from typing import NamedTuple

from msgspec.structs import replace

from iocast._core import unix_ns
from iocast.errors import IocastError, LoadError
from iocast.load import core_phases
from iocast.load.database.interval_stream import IntervalStream
from iocast.load.database.key_stream import due_before, stream_of
from iocast.load.database.load_server import Counters, LoadServer, LoadSession, SessionPlan
from iocast.load.database.row_counts import RowCounts, counted, kinds_of
from iocast.load.database.servers import connect
from iocast.load.database.session_crew import SessionCrew
from iocast.load.database.storage_reads import fetched_bytes, read_bytes_by_process
from iocast.load.loaders.loader import MeasuredPhase, OnTick, PlannedGroup
from iocast.load.work_files import Layout, WorkFile
from iocast.model.database.database_load import CommitLoad, DatabaseLoad
from iocast.model.database.database_result import DatabaseResult, DatabaseServer, Statements
from iocast.model.histogram import Histogram
from iocast.model.measurement import EngineReport, Generator, Measurement
from iocast.model.plan import Phase, PhasePlan, Plan
from iocast.model.script import StopRule
from iocast.model.target import Target
from iocast.model.workload import Closed, Constant

_TICK_S = 0.1
_SETTLE_S = 3.0  # statistics of sessions that have ended are told by then, in every version
_STILL_S = 0.6  # counters that stood still for so long have been told in full: that is once a second at the most
_SERVER_CLOCK = (
    "statements are timed by the server's clock: 1 us up to 1.024 ms, within 0.4 % above; a loop sends the next one as"
    " soon as the last one has ended"
)


def takes(target: Target) -> bool:
    """True for a database."""
    return target.kind == "database"


class _Row(NamedTuple):
    """What one row is made of."""

    phase: Phase
    plan: PhasePlan
    work: DatabaseLoad | CommitLoad
    server: DatabaseServer


class Loader:
    """Connects for each row, and ends all connections with it."""

    real_time = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._phases: dict[str, Phase] = {}
        self.step_ns = plan.interval_ns

    def lay_out(self) -> Layout:
        """The data set is there already: `build` made it whole."""
        return Layout((), own=True)

    def check(self, layout: Layout) -> None:
        """Refuses phases that are no load of a database."""
        for phase in self._plan.phases:
            if phase.database is None or phase.length.seconds is None or phase.together:
                raise LoadError(
                    f'phase "{phase.name}" cannot run on a database',
                    "[[database]] in a job file, or `iocast load-db run`, makes rows for one",
                )

    def phase_plan(self, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
        """As of any other load; what is only of databases stays in the phase."""
        self._phases[phase.name] = phase
        target = self._plan.target
        tables = (WorkFile(target.path, target.size_bytes or 0, fill=False),)
        return core_phases.phase_plan(self._plan, phase, tables, seed)

    def measure(self, group: PlannedGroup, on_tick: OnTick) -> tuple[MeasuredPhase, ...]:
        """One row."""
        (plan,) = group.plans
        phase, database = self._phases[plan.name], self._plan.target.database
        if phase.database is None or database is None:
            raise LoadError(f'phase "{phase.name}" is no load of a database', "use `iocast load-db run`")
        row = _Row(phase, plan, phase.database, database)
        server = connect(self._plan.target.path)
        try:
            return (_measured(row, server, group.until, on_tick),)
        finally:
            server.close()


def _measured(row: _Row, server: LoadServer, until: StopRule | None, on_tick: OnTick) -> MeasuredPhase:
    notes = server.prepare(row.work)
    sessions: list[LoadSession] = []
    try:
        sessions.extend(server.session(plan) for plan in _session_plans(row))
        began = server.now()
        for session in sessions:  # plans are made before the first statement that counts
            session.begin(began)
            session.run(0)
        before, fetched_before = server.counters(), read_bytes_by_process(row.server.pid)
        used = resource.getrusage(resource.RUSAGE_SELF)
        interval_ns, length_ns = row.plan.interval_ns, round((row.plan.length.seconds or 0) * 1e9)
        crew = SessionCrew(sessions, interval_ns, length_ns)
        on_tick(0, 0, 0, 0)
        began, started_unix_ns = server.now(), unix_ns()
        crew.start(began)
        interrupted = _watch(crew, row, until, on_tick)
        fetched = fetched_bytes(fetched_before, read_bytes_by_process(row.server.pid))
    finally:
        for session in sessions:
            session.close()
    if crew.errors:
        raise _failure(crew.errors[0])
    counts = counted(crew.slices, _kinds(row), interval_ns)
    result, statements = _result(row, server, before, counts)
    more = resource.getrusage(resource.RUSAGE_SELF)
    measurement = Measurement(
        engine=_engine(row, notes),
        started_unix_ns=started_unix_ns,
        elapsed_ns=max(crew.issuing_ns, counts.last_ns),
        asked_depth=row.plan.users,
        asked_rate_per_s=None if isinstance(row.plan.arrival, Closed) else row.plan.arrival.rate_per_s,
        issuing_ns=crew.issuing_ns,
        depth_mean=_in_flight(counts) / crew.issuing_ns,
        in_flight_ns=_in_flight(counts),
        ios=sum(part.ios for part in counts.classes),
        bytes=sum(part.bytes for part in counts.classes),
        stopped="interrupted" if interrupted else "finished",
        abandoned_ios=0,
        classes=counts.classes,
        lag=counts.lag.histogram(),
        errors=(),
        slow=(),
        users=counts.users,
        cpu_user_ns=round((more.ru_utime - used.ru_utime) * 1e9),
        cpu_system_ns=round((more.ru_stime - used.ru_stime) * 1e9),
        generator=Generator(threads=row.plan.users, user_ns=crew.ran_ns, queued_ns=crew.queued_ns),
        unsent_arrivals=_unsent(row, crew),
        commit=_commits(row, counts),
        database=replace(result, statements=statements, fetched_bytes=fetched),
    )
    return MeasuredPhase(row.plan, measurement, IntervalStream(counts.intervals, interval_ns))


def _session_plans(row: _Row) -> list[SessionPlan]:
    """What each session is to do: tables in turn, its own stream, its share of the rate."""
    arrival, users = row.plan.arrival, row.plan.users
    gap_ns = 0.0 if isinstance(arrival, Closed) else users * 1e9 / arrival.rate_per_s
    return [
        SessionPlan(
            number=number,
            table=number % max(1, row.server.tables) + 1,
            stream=stream_of(row.plan.seed, number),
            work=row.work,
            rows=row.server.table_blocks,
            block_bytes=row.server.block_bytes,
            gap_ns=gap_ns,
            even=isinstance(arrival, Constant),
            first_due_ns=gap_ns * number / users,
        )
        for number in range(users)
    ]


def _watch(crew: SessionCrew, row: _Row, until: StopRule | None, on_tick: OnTick) -> bool:
    """Tells how far the row is until its sessions have ended; True when someone stopped it."""
    begun, judged, interrupted = time.monotonic(), 0, False
    kinds, interval_ns = _kinds(row), row.plan.interval_ns
    while crew.working:
        crew.wait(_TICK_S)
        slices = [list(done) for done in crew.slices]
        ios, moved = _so_far(slices, kinds)
        if not on_tick(round((time.monotonic() - begun) * 1e9), ios, moved, 0):
            interrupted = True
            crew.stop()
        while until is not None and judged < crew.complete:
            judged += 1
            ended = [[each for each in done if each[0] < judged] for done in slices]
            if until.enough(judged * interval_ns, *_responses(ended)):
                crew.stop()
    return interrupted


def _so_far(slices: list[list], kinds: dict) -> tuple[int, int]:  # type: ignore[type-arg]
    ios = moved = 0
    for done in slices:
        for _, did in done:
            for kind, response in did.response.items():
                if response.total:
                    ios += response.total
                    moved += response.total * kinds[kind][1]
    return ios, moved


def _responses(slices: list[list]) -> tuple[int, int]:  # type: ignore[type-arg]
    """Statements, and the sum of their response times."""
    tallies = [response for done in slices for _, did in done for response in did.response.values()]
    return sum(each.total for each in tallies), sum(each.sum_ns for each in tallies)


def _kinds(row: _Row):  # type: ignore[no-untyped-def]
    return kinds_of(row.work, row.server.block_bytes, row.server.table_blocks)


def _in_flight(row_counts: RowCounts) -> float:
    return float(sum(part.service.sum_ns for part in row_counts.classes))


def _unsent(row: _Row, crew: SessionCrew) -> int:
    """Statements of an open loop that were due, and that no session came to."""
    return sum(
        due_before(plan.stream, last.number, last.due_ns, plan.gap_ns, crew.issuing_ns, even=plan.even)
        for plan, done in zip(_session_plans(row), crew.slices, strict=True)
        for _, last in done[-1:]
        if plan.gap_ns
    )


def _commits(row: _Row, row_counts: RowCounts) -> Histogram:
    """The times of commits, of a commit test that waits for them to be durable."""
    if isinstance(row.work, CommitLoad) and row.work.synchronous and row_counts.classes:
        return row_counts.classes[0].response
    return Histogram()


def _result(
    row: _Row, server: LoadServer, before: Counters, row_counts: RowCounts
) -> tuple[DatabaseResult, Statements]:
    """What the server says of the row, once it has told all of it: that comes a little later."""
    until = time.monotonic() + _SETTLE_S
    last, since = None, time.monotonic()
    while True:
        after = server.counters()
        did = server.touched(before, after, row_counts.statements, row.work)
        server_figures = server.below(before, after, did, row.work)
        if after != last:
            last, since = after, time.monotonic()
        settled = did.table_blocks >= did.reads and not (server_figures and server_figures.late)
        if isinstance(row.work, CommitLoad) or did.updates:  # the log's counters have no sum to be held against
            settled = time.monotonic() - since > _STILL_S
        if settled or time.monotonic() > until:
            break
        time.sleep(0.05)
    commits = sum(part.ios for part in row_counts.classes) if isinstance(row.work, CommitLoad) else did.updates
    path = server.commits(before, after, commits) if commits else None
    below = None if isinstance(row.work, CommitLoad) else server_figures
    return DatabaseResult(below=below, commit=path), did


def _engine(row: _Row, notes: tuple[str, ...]) -> EngineReport:
    name = row.server.product.lower()
    # A procedure of MariaDB does not wait for the log at each commit: they are sent one by one.
    one_by_one = (
        row.work.driver == "client" if isinstance(row.work, DatabaseLoad) else row.server.product != "PostgreSQL"
    )
    if one_by_one:
        return EngineReport(name=f"{name} client", notes=notes)
    return EngineReport(name=f"{name} server loop", notes=(_SERVER_CLOCK, *notes))


def _failure(error: Exception) -> IocastError:
    if isinstance(error, IocastError):
        return error
    return LoadError(
        f"a session failed: {type(error).__name__}: {error}", "this is a fault of iocast: please report it"
    )

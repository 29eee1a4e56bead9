"""The loader of databases: rows with intervals that add up, stop rules asked by whole intervals, phases of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from makers.database_servers import NoServer, Postgres, postgres
from makers.work_files import phase

from iocast.archive import series
from iocast.errors import LoadError
from iocast.jobs import plan as plan_of
from iocast.load import PlannedGroup, loader_of
from iocast.load.database.postgresql import pg_load
from iocast.load.loaders import database_sessions
from iocast.model.database.database_load import DatabaseLoad, DataSet, LoadRamp
from iocast.model.plan import Plan, WorkFiles
from iocast.model.run import SteadyEnd
from iocast.model.target import Target
from iocast.sessions.database.database_finding import find_database
from iocast.sessions.database.database_rows import load_job

pytest.importorskip("psycopg")
SECOND_NS = 1_000_000_000


class AfterTwo:
    """Enough after two intervals; remembers what it was asked."""

    end = SteadyEnd(rule="b3", reached=True, judged=1)

    def __init__(self) -> None:
        self.asked: list[int] = []

    def enough(self, elapsed_ns: int, ios: int, response_ns: int) -> bool:
        self.asked.append(elapsed_ns)
        assert ios
        assert response_ns
        return elapsed_ns >= 2 * SECOND_NS


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server with a data set."""
    try:
        with postgres(18) as running:
            loading = pg_load.connect(running.url(), building=True)
            loading.build(DataSet(size_bytes=4 << 20), lambda *_: True)
            loading.close()
            yield running
    except NoServer as why:
        pytest.skip(str(why))


def planned(server: Postgres, seconds: float, load: DatabaseLoad | None = None, **more: Any) -> Plan:
    target = find_database(server.url())
    assert target.database is not None
    ramp = LoadRamp(load=load or DatabaseLoad(), sessions=(2,), seconds=seconds, **more)
    return plan_of(load_job(ramp, target.database), target, seed=1, memory_bytes=1 << 30)[0]


def measured(plan: Plan, rule: AfterTwo | None = None) -> Any:
    loader = loader_of(plan)
    assert isinstance(loader, database_sessions.Loader)
    loader.check(loader.lay_out())
    told = loader.phase_plan(plan.phases[0], (), seed=1)
    (found,) = loader.measure(PlannedGroup((told,), rule), lambda *_: True)
    return found


@pytest.mark.long
def test_intervals_add_up_to_the_row(server: Postgres) -> None:
    found = measured(planned(server, 2.0, DatabaseLoad(update_pct=30, scan_pct=5, scan_blocks=16)))
    did = found.measurement
    over_time = series(found.intervals, SECOND_NS, did)
    assert len(over_time.ios) == 2
    assert 0 <= did.ios - sum(over_time.ios) <= 2  # what was under way at the end of each of the two sessions
    assert {(part.op, part.size_bytes) for part in did.classes} == {("read", 8192), ("write", 8192), ("read", 131072)}
    told = did.database
    assert told.statements.reads + told.statements.updates + told.statements.scans == did.ios
    assert told.commit.commits == told.statements.updates
    assert told.below.why_not.startswith("scans")
    assert sum(user.ios for user in did.users) == did.ios


@pytest.mark.long
def test_a_stop_rule_is_asked_after_each_interval_and_ends_the_row(server: Postgres) -> None:
    rule = AfterTwo()
    did = measured(planned(server, 30.0), rule).measurement
    assert rule.asked[:2] == [SECOND_NS, 2 * SECOND_NS]
    assert 2 * SECOND_NS <= did.issuing_ns <= 5 * SECOND_NS
    assert did.stopped == "finished"


@pytest.mark.long
def test_all_blocks_in_the_cache_need_no_reads_and_have_no_latency(server: Postgres) -> None:
    measured(planned(server, 1.0))
    told = measured(planned(server, 1.0)).measurement.database
    assert told.statements.table_blocks == told.statements.reads
    assert (told.statements.table_misses, told.below.reads) == (0, 0)
    assert not told.below.why_not


def test_other_phases_are_refused() -> None:
    target = Target(path="postgresql:///", kind="database")
    plan = Plan(name="other", target=target, phases=(phase(seconds=1.0),), files=WorkFiles(1, 1 << 20))
    with pytest.raises(LoadError, match="cannot run on a database"):
        loader_of(plan).check(loader_of(plan).lay_out())

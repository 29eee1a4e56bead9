"""A ramp becomes rows; loads that a data set cannot bear are refused with the way out."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.model.database.database_load import CommitRamp, DatabaseLoad, HotSpot, LoadRamp, Think
from iocast.model.database.database_result import DatabaseServer
from iocast.model.workload import Closed, Hotspot, Poisson, Zipf
from iocast.sessions.database.database_rows import commit_job, load_job

SERVER = DatabaseServer(
    product="PostgreSQL",
    version="18.6",
    block_bytes=8192,
    cache_bytes=1 << 30,
    data_bytes=8 << 20,
    tables=1,
    table_blocks=1024,
    filling="row",
)


def test_a_row_for_each_number_of_sessions() -> None:
    load = DatabaseLoad(update_pct=20, scan_pct=25, work_unit=4, think=Think(least_ns=1000, most_ns=3000, every=2))
    first, second = load_job(LoadRamp(load=load, sessions=(1, 8), seconds=5.0), SERVER).phases
    assert (first.name, second.name) == ("db 20% update 25% scan 32k 1x1", "db 20% update 25% scan 32k 8x1")
    assert {(item.op, item.size_bytes): item.weight for item in first.workload.mix} == {
        ("read", 32768): 60.0,
        ("write", 32768): 20.0,
        ("read", 1 << 20): 20.0,
    }
    assert first.workload.arrival == Closed(think_ns=1000)
    assert (second.workload.users, second.length.seconds, second.database) == (8, 5.0, load)


def test_places_and_rates_are_those_of_other_loads() -> None:
    hot = DatabaseLoad(hot=HotSpot(size_bytes=4 << 20, every=4))
    (row,) = load_job(LoadRamp(load=hot, sessions=(1,), rate_per_s=50.0, until_steady=True), SERVER).phases
    assert row.workload.locality == Hotspot(50.0, 62.5)
    assert row.workload.arrival == Poisson(50.0)
    assert row.until is not None
    (row,) = load_job(LoadRamp(load=DatabaseLoad(zipf_theta=0.9), sessions=(1,)), SERVER).phases
    assert row.workload.locality == Zipf(0.9)


def test_commits_have_the_floor_beside_them_where_a_session_may_ask_for_it() -> None:
    names = [phase.name for phase in commit_job(CommitRamp(sessions=(1, 4)), SERVER).phases]
    assert names == ["db commit 1x1", "db commit async 1x1", "db commit 4x1", "db commit async 4x1"]
    mariadb = DatabaseServer(product="MariaDB", version="10.11", block_bytes=16384, cache_bytes=1, data_bytes=1)
    assert [phase.name for phase in commit_job(CommitRamp(sessions=(4,)), mariadb).phases] == ["db commit 4x1"]


@pytest.mark.parametrize(
    ("load", "says"),
    [
        (DatabaseLoad(update_pct=101), "--update-pct is 101"),
        (DatabaseLoad(scan_pct=-1), "--scan-pct is -1"),
        (DatabaseLoad(work_unit=1025), "--work-unit 1025"),
        (DatabaseLoad(hot=HotSpot(size_bytes=8 << 20, offset_bytes=8192)), "ends beyond the table"),
        (DatabaseLoad(hot=HotSpot(size_bytes=8192), work_unit=2), "smaller than a work unit"),
        (DatabaseLoad(zipf_theta=0.0), "--zipf"),
        (DatabaseLoad(think=Think(least_ns=5, most_ns=1)), "--think"),
    ],
)
def test_what_cannot_be(load: DatabaseLoad, says: str) -> None:
    with pytest.raises(SpecError, match=says) as refused:
        load_job(LoadRamp(load=load), SERVER)
    assert refused.value.hint


@pytest.mark.parametrize("sessions", [(), (0,), (4097,), (2, 2)])
def test_numbers_of_sessions_that_cannot_be(sessions: tuple[int, ...]) -> None:
    with pytest.raises(SpecError, match="--sessions"):
        load_job(LoadRamp(sessions=sessions), SERVER)


def test_full_blocks_take_no_updates_and_short_rows_no_statistics() -> None:
    full = DatabaseServer(
        product="PostgreSQL",
        version="18",
        block_bytes=8192,
        cache_bytes=1,
        data_bytes=1,
        table_blocks=100,
        filling="full",
    )
    with pytest.raises(SpecError, match="no room"):
        load_job(LoadRamp(load=DatabaseLoad(update_pct=1)), full)
    with pytest.raises(SpecError, match="below 1s"):
        load_job(LoadRamp(seconds=0.5), SERVER)

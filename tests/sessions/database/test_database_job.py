"""A job file meets a data set: rows of all its tables, no name twice; what is no database is refused."""

from __future__ import annotations

import pytest
from makers.card_runs import TARGET
from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.jobs import parse_job
from iocast.model.database.database_load import DatabaseLoad
from iocast.model.database.database_result import DatabaseServer
from iocast.model.plan import Until
from iocast.sessions.fitted_plan import asked_job, make_plan, on_data_set
from iocast.sessions.requests.run_options import RunOptions

SERVER = DatabaseServer(
    product="PostgreSQL", version="18.6", block_bytes=8192, cache_bytes=1 << 30, data_bytes=8 << 20, table_blocks=1024
)
SHOP = replace(TARGET, kind="database", path="postgresql:///shop", database=SERVER, size_bytes=8 << 20)
TEXT = """
name = "shop"

[[database]]
sessions = [1, 4]
time = "9s"

[[database]]
sessions = 4
time = "9s"
driver = "client"
rate = "200/s"

[[database]]
test = "oltp"
update_pct = 20
until = "steady"
at_most = "80s"

[[database]]
work = "commit"
time = "5s"
"""


def test_the_rows_of_all_tables_in_their_order() -> None:
    plan = make_plan(parse_job(TEXT, "shop.toml"), SHOP, 1, dry=True).plan
    assert [phase.name for phase in plan.phases] == [
        "db read 8k 1x1",
        "db read 8k 4x1",
        "db read 8k 4x1 @200/s client",
        "oltp 8k 1x1",
        "db commit 1x1",
        "db commit async 1x1",
    ]
    assert (plan.name, plan.job) == ("shop", TEXT)
    assert plan.phases[3].until == Until(first_s=10.0)
    assert plan.phases[3].database == DatabaseLoad(update_pct=20)


def test_the_same_load_twice_is_told_apart() -> None:
    text = 'name = "x"\n[[database]]\ntime = "9s"\n[[database]]\ntime = "9s"\n'
    job, _ = on_data_set(parse_job(text, "x.toml"), SHOP, dry=True)
    assert [phase.name for phase in job.phases] == ["db read 8k 1x1", "db read 8k 1x1 #2"]


def test_time_is_that_of_the_command_line_and_a_size_does_nothing() -> None:
    job = asked_job(parse_job(TEXT, "shop.toml"), RunOptions(duration_ns=3_000_000_000, size_bytes=1 << 20))
    fitted = make_plan(job, SHOP, 1, dry=True)
    assert {(phase.length.seconds, phase.until) for phase in fitted.plan.phases} == {(3.0, None)}
    assert "`iocast load-db build` sets that of the data set" in fitted.notes[0]


def test_other_targets_and_loads_that_the_data_set_cannot_bear_are_refused() -> None:
    with pytest.raises(TargetError, match='is not a database, which job "shop" loads') as refused:
        make_plan(parse_job(TEXT, "shop.toml"), TARGET, 1, dry=True)
    assert "postgresql://" in refused.value.hint
    text = 'name = "x"\n[[database]]\ntime = "9s"\nwork_unit = 1024\nhot = "8MiB@8k"\n'
    with pytest.raises(SpecError, match=r"x\.toml: the hot spot ends beyond the table"):
        make_plan(parse_job(text, "x.toml"), SHOP, 1, dry=True)

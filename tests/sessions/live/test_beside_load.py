"""Layers and databases beside a load: where local servers listen, and a run that holds what they said."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.database_servers import NoServer, postgres

from iocast import archive, metrics
from iocast.errors import SpecError
from iocast.model.view import views
from iocast.sessions.listener import Quiet
from iocast.sessions.live.watched_databases import local_endpoints
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.measure import measure
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions


@pytest.mark.parametrize(
    ("url", "sockets", "ports"),
    [
        ("postgresql://u@/db?host=/run/pg", ("/run/pg/.s.PGSQL.5432",), ()),
        ("postgresql://u@/db?host=/run/pg&port=5433", ("/run/pg/.s.PGSQL.5433",), ()),
        ("postgresql://u@localhost:5433/db", (), (5433,)),
        ("postgresql://u@db1/db", (), ()),
        ("mariadb://u@/?socket=/run/m.sock", ("/run/m.sock",), ()),
        ("mysql://u@127.0.0.1/", (), (3306,)),
    ],
)
def test_where_a_server_of_this_machine_listens(url: str, sockets: tuple[str, ...], ports: tuple[int, ...]) -> None:
    assert local_endpoints(url) == (sockets, ports)


def test_a_simulated_device_has_no_layers() -> None:
    request = MeasureRequest(job="card-quick", path="sim:hdd", options=RunOptions(beside=WatchedSources(pids=(1,))))
    with pytest.raises(SpecError, match="simulated"):
        measure(request, Quiet())


JOB = """
name = "one row"
[files]
size = "16MiB"
[[phase]]
test = "reads"
size = "8k"
time = "1s"
"""


def test_a_run_holds_the_database_and_the_layers_beside_each_row(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    (tmp_path / "work").mkdir()
    try:
        with postgres(18) as server:
            options = RunOptions(out=str(tmp_path / "runs"), beside=WatchedSources(databases=(server.url(),)))
            measured = measure(MeasureRequest(job=str(job), path=str(tmp_path / "work"), options=options), Quiet())
    except NoServer as why:
        pytest.skip(str(why))
    assert measured.card is not None
    run = archive.load(measured.card.folder)
    (row,) = run.measured
    assert any("PostgreSQL 18" in warning for warning in run.warnings)
    assert views(row.samples, "postgresql.pg_stat_database")
    if not any(blind.observer == metrics.KERNEL_LAYERS for blind in run.blind):
        pid = {sample.value for sample in row.samples if sample.observer == metrics.LOAD}
        calls = views(row.samples, metrics.SYSTEM_CALLS)
        (command,) = {sample.subject for sample in row.samples if sample.observer == metrics.LOAD}
        assert len(pid) == 1
        assert any(subject.startswith(f"{command}|uring_read|") for subject in calls), sorted(calls)
        (section,) = [each for each in measured.card.report().sections if each.code == "layers"]
        assert section.tables[0].rows[0].cells["who"] == "load"

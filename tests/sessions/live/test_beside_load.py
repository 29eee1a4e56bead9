"""Layers and databases beside a load: where local servers listen, and a run that holds what they said."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from makers.database_servers import NoServer, postgres

from iocast import archive, metrics
from iocast.errors import SpecError
from iocast.model.view import views
from iocast.sessions.listener import Quiet
from iocast.sessions.live.watched_databases import local_endpoints, local_servers
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.live.watching import LiveRequest, watching
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


@pytest.mark.long
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


def test_who_listens_in_place_of_a_server_is_not_followed(tmp_path: Path) -> None:
    """A pooler, or a proxy of containers: its calls are not those of the database."""
    with socket.socket(socket.AF_UNIX) as pooler:
        pooler.bind(str(tmp_path / ".s.PGSQL.5432"))
        pooler.listen()
        pids, blind = local_servers([f"postgresql://u@/db?host={tmp_path}", "postgresql:///?service=far"])
    assert pids == ()
    command = Path("/proc/self/comm").read_text().strip()
    assert [each.why for each in blind] == [
        f"system calls of its server: {command} listens there; --pid names it",
        "system calls of its server: it is not on this machine, or who listens cannot be seen; --pid names it",
    ]


def test_the_server_of_a_url_is_followed() -> None:
    """By `iocast top --database URL`: its calls are judged, and not those of everybody."""
    pytest.importorskip("psycopg")
    try:
        with postgres(18) as server:
            postmaster = int((server.folder / "data/postmaster.pid").read_text().split()[0])
            assert local_servers([server.url()]) == ((postmaster,), ())
            sources = WatchedSources(databases=(server.url(),))
            with watching(LiveRequest(sources=sources, interval_ns=100_000_000)) as live:
                samples = next(live.moments(lambda: False)).by_observer[metrics.PROCESSES]
    except NoServer as why:
        pytest.skip(str(why))
    assert {each.subject.partition("|")[2] for each in samples} == {"postgres"}

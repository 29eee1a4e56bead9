"""A PostgreSQL of our own beside a card: the same reads and log writes, and nothing of it is left."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.recording import Recording

import iocast
from iocast.databases.postgresql.server_programs import find_programs
from iocast.errors import DatabaseError, SpecError, TargetError
from iocast.jobs.library import load_job
from iocast.model.job import FileSize, Job
from iocast.sessions import fitted_plan
from iocast.sessions import measure as session
from iocast.sessions.database.with_server import plan_server, with_twins
from iocast.sessions.events import CardReady
from iocast.sessions.measure import MeasuredJob
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.target_finding import find_target

pytestmark = pytest.mark.slow

pytest.importorskip("psycopg")


@pytest.fixture
def place() -> Iterator[str]:
    """A directory that the user of the server may enter."""
    try:
        find_programs()
    except DatabaseError as why:
        pytest.skip(str(why))
    made = tempfile.mkdtemp(prefix="iocast-test-card-", dir="/var/tmp")
    os.chmod(made, 0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


def small() -> Job:
    """Only the rows that a database is held against."""
    whole = load_job("card-quick")
    kept = [each for each in whole.phases if each.workload.users == 1 and each.test in ("randread", "commit")]
    return Job(name="small", phases=tuple(kept), file_size=FileSize(size_bytes=32 << 20))


def measure(
    place: str, out: Path, server: str = "postgres", *, listener: Recording | None = None, seconds: float = 0.2
) -> MeasuredJob:
    options = RunOptions(out=str(out), size_bytes=32 << 20, duration_ns=round(seconds * 1e9))
    request = MeasureRequest(job=small(), path=place, server=server, options=options)
    return session.measure(request, listener or Recording())


def test_the_twins_are_those_that_a_job_has_not() -> None:
    names = [each.name for each in with_twins(small()).phases]
    assert names[2:] == ["randread 8k 4x1", "randread 8k 8x1", "log write 8k 1x1", "log write 8k 4x1"]
    quick = with_twins(load_job("card-quick"))
    assert [each.workload.users for each in quick.phases if each.test == "randread" and each.workload.depth == 1] == [
        1, 8, 32, 4,
    ]  # fmt: skip
    log = quick.phases[-1].workload
    assert (log.users, log.direct, log.sync, log.fsync_every, log.fsync_op) == (4, False, "none", 1, "fdatasync")
    with pytest.raises(SpecError, match="no random reads and no commits"):
        with_twins(Job(name="reads", phases=small().phases[:1]))


@pytest.mark.long
@pytest.mark.device
def test_the_card_has_both_side_by_side_and_the_server_is_gone(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the way that Python takes, with the rows that are needed."""
    listener, asked = Recording(), list[str]()
    monkeypatch.setattr(fitted_plan, "load_job", lambda name, _: asked.append(name) or small())
    card = iocast.card(place, through="postgres", size="32MiB", time="200ms", out=str(tmp_path), listener=listener)
    assert asked == ["card-quick"]
    (told,) = [each for each in listener.events if isinstance(each, CardReady)]
    (section,) = [each for each in told.report.sections if each.code == "beside_database"]
    assert section in card.report().sections
    reads, commits = section.tables
    assert [row.cells["sessions"] for row in reads.rows] == [1, 4, 8]
    assert [row.cells["sessions"] for row in commits.rows] == [1, 4]
    for row in (*reads.rows, *commits.rows):
        rates = [value for name, value in row.cells.items() if name.endswith("_per_s")]
        assert all(isinstance(rate, int | float) and rate > 0 for rate in rates)
    assert any("of the random reads that iocast gets with 8 sessions" in each for each in section.paragraphs)
    assert sorted(each.name.partition("T")[2][7:] for each in tmp_path.iterdir()) == ["card-with-postgres", "small"]
    assert not [name for name in os.listdir(place) if not name.startswith("iocast-work")]
    assert "it is removed afterwards" in listener.said


@pytest.mark.long
@pytest.mark.device
def test_a_server_that_does_not_start_leaves_the_card(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise TargetError("initdb failed", "")

    monkeypatch.setattr(importlib.import_module("iocast.databases.postgresql.own_server"), "own_server", fails)
    listener = Recording()
    with pytest.raises(TargetError, match="initdb failed"):
        measure(place, tmp_path, listener=listener)
    assert "CardReady" in listener.names
    assert not [name for name in os.listdir(place) if not name.startswith("iocast-work")]


def test_what_comes_after_the_card_is_announced_with_its_time(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first row: five rows of three seconds, a server, and as many bytes as it has to build."""
    options = RunOptions(size_bytes=320 << 20)
    request = MeasureRequest(job=small(), path=place, server="postgres", options=options)
    job, _ = plan_server(small(), find_target(place), request, Recording())
    (note,) = job.notes
    assert "builds 320.0 MiB of data and measures 5 more rows: another 22 s to 2 min" in note


def test_what_is_none_is_refused_before_anything_is_measured(place: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match='--with "oracle" is not a server that iocast can start'):
        measure(place, tmp_path, "oracle")
    with pytest.raises(DatabaseError, match="no PostgreSQL server that iocast can run in"):
        measure(place, tmp_path, f"postgres:{tmp_path}")
    assert os.listdir(place) == []

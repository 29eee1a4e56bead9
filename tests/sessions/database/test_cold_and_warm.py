"""A database of our own, with empty caches and again: the storage answers once, and nothing of it is left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.recording import Recording

from iocast.databases.postgresql.server_programs import find_programs
from iocast.errors import DatabaseError, SpecError, TargetError
from iocast.model.results.experiments import CacheStateRow
from iocast.sessions import named_experiment
from iocast.sessions.requests.experiment import TrialRequest
from iocast.sessions.requests.run_options import RunOptions

pytestmark = [pytest.mark.slow]
pytest.importorskip("psycopg")


@pytest.fixture
def place() -> Iterator[str]:
    """A directory that the user of the server may enter, on storage."""
    try:
        find_programs()
    except DatabaseError as why:
        pytest.skip(str(why))
    with tempfile.TemporaryDirectory(prefix="iocast-test-cold-", dir="/var/tmp") as room:
        os.chmod(room, 0o755)
        yield room


def request(*paths: str, out: Path, size_bytes: int = 16 << 20) -> TrialRequest:
    options = RunOptions(out=str(out), size_bytes=size_bytes, duration_ns=4_000_000_000)
    return TrialRequest(name="cold-warm", paths=paths, options=options)


@pytest.mark.long
@pytest.mark.device
def test_warm_the_storage_delivers_next_to_nothing_of_what_it_did_cold(place: str, tmp_path: Path) -> None:
    listener = Recording()
    answered = named_experiment.experiment(request(place, out=tmp_path), listener)
    assert answered is not None
    result = answered.report().result
    cold, warm = result.experiment  # type: ignore[union-attr]
    assert isinstance(cold, CacheStateRow)
    assert isinstance(warm, CacheStateRow)
    assert warm.statements == pytest.approx(cold.statements, rel=0.02)
    assert warm.storage_blocks is not None
    assert cold.storage_blocks is not None
    assert cold.storage_blocks > 500  # of 2,048
    assert warm.storage_blocks < 0.05 * cold.storage_blocks
    assert answered.answer == "confirmed"
    assert "its buffers and the page cache of its files are empty" in listener.said
    assert os.listdir(place) == []
    assert named_experiment.questions()["cold-warm"] == "Do caches answer a database whose queries come again?"


def test_where_no_database_can_be_is_refused_before_anything_is_made(place: str, tmp_path: Path) -> None:
    file = Path(place, "file")
    file.write_bytes(bytes(1 << 20))
    for path in (str(file), "sim:nvme"):
        with pytest.raises(TargetError, match=r"is not a directory|did not create"):
            named_experiment.experiment(request(path, out=tmp_path), Recording())
    with pytest.raises(SpecError, match="cold-warm takes one PATH"):
        named_experiment.experiment(request(place, place, out=tmp_path), Recording())
    with pytest.raises(TargetError, match="known when its database is there"):
        list(named_experiment.plans(request(place, out=tmp_path)))
    assert os.listdir(place) == ["file"]

"""A database that really runs: captured, profiled, made again from its profile, replayed, and held against itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from makers.rootly import need

import iocast
from iocast.analyse.profiling.profile_distances import Distance
from iocast.errors import TargetError
from iocast.sessions.profiling.check_likeness import check_likeness
from iocast.sessions.profiling.profile_job import generate_job
from iocast.sessions.profiling.profile_traces import profile_traces
from iocast.sessions.requests.profile import ProfileRequest

pytestmark = [pytest.mark.device, pytest.mark.alone]
# Requests come at random to a database larger than its cache; each 25th changes a row. A service does not close its
# database: no checkpoint at the end.
SERVICE = """\
import os, random, sqlite3, sys, time
base = sqlite3.connect(sys.argv[1], isolation_level=None)
for rule in ("locking_mode=exclusive", "journal_mode=wal", "synchronous=full", "cache_size=200"):
    base.execute(f"pragma {rule}")
base.execute("pragma wal_autocheckpoint=0")
seconds, rows = float(sys.argv[2]), 4000
if not seconds:
    base.execute("create table orders(number integer primary key, text blob)")
    base.execute("begin")
    base.executemany("insert into orders values(?, ?)", ((number, os.urandom(3000)) for number in range(rows)))
    base.execute("commit")
    base.execute("pragma wal_checkpoint(truncate)")
    base.close()
    sys.exit()
drawn = random.Random(7)
begun = due = time.monotonic()
while due < begun + seconds:
    due += drawn.expovariate(400)
    time.sleep(max(0.0, due - time.monotonic()))
    number = drawn.randrange(rows)
    base.execute("select text from orders where number = ?", (number,)).fetchone()
    if drawn.random() < 0.04:
        base.execute("update orders set text = ? where number = ?", (os.urandom(3000), number))
os._exit(0)
"""
# What a load is made of, whatever the machine was busy with: times and I/Os under way are left to a quiet one.
MADE_OF = ("operations", "sizes", "sequential")
# Sessions sleep and wait for answers: a machine that is busy with other tests makes 9 % fewer calls.
AT_MOST_SLOWER = 0.25


def _captured(to: Path, folder: Path, command: list[str]) -> Path:
    """The calls on files below a folder, or a skip where this machine cannot trace."""
    try:
        iocast.capture(str(to), path=str(folder), command=command)
    except TargetError as error:
        if "tracing" in error.message or "mounted" in error.message:
            pytest.skip(error.message)
        raise
    return to


# Of 100 commits, how many are a header, a page and a sync, directly one after the other; and how many syncs.
COMMITS = """
WITH called AS (
    SELECT op, size, lead(op) OVER w AS then_op, lead(size) OVER w AS then_size, lead(op, 2) OVER w AS last_op,
        lead(target) OVER w IS NOT DISTINCT FROM target
            AND lead(target, 2) OVER w IS NOT DISTINCT FROM target AS one_file
    FROM read_parquet(?) WINDOW w AS (ORDER BY ts_ns)
)
SELECT 100 * avg((then_op = 1 AND then_size = 4096 AND last_op = 3 AND one_file)::INTEGER),
    (SELECT count(*) FROM called WHERE op = 3)
FROM called WHERE op = 1 AND size = 24
"""


def _commits(trace: Path) -> tuple[float, int]:
    import duckdb

    found = duckdb.execute(COMMITS, [str(trace)]).fetchone()
    assert found is not None
    return float(found[0]), int(found[1])


def _distances(original: Path, other: Path, out: Path) -> dict[str, Distance]:
    found = check_likeness(ProfileRequest(traces=(str(original), str(other)), out=str(out)))
    assert found.check.verdict != "undecided", "a random load is told from it"
    return {each.code: each for each in found.check.distances}


def _room(tmp_path: Path, name: str) -> Path:
    room = tmp_path / name
    room.mkdir()
    return room


def test_a_database_is_made_again_from_its_profile_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    out, program = tmp_path / "profiles", [sys.executable, "-m", "iocast"]
    script, base = tmp_path / "service.py", _room(tmp_path, "base")
    script.write_text(SERVICE)
    service = [sys.executable, str(script), str(base / "orders.db")]
    subprocess.run([*service, "0"], check=True)
    original = _captured(tmp_path / "original.parquet", base, [*service, "6"])
    profiled = profile_traces(ProfileRequest(traces=(str(original),), out=str(out)))
    generate_job(profiled, str(tmp_path / "job.toml"))

    made = _room(tmp_path, "made")
    # The files are laid out before, or the lay-out is captured too.
    subprocess.run([*program, "run", "job.toml", str(made), "--time", "1s"], check=True)
    again = _captured(tmp_path / "made.parquet", made, [*program, "run", "job.toml", str(made)])
    apart = _distances(original, again, out)
    assert [code for code in MADE_OF if apart[code].accepted is not True] == []
    assert apart["rate"].value < AT_MOST_SLOWER
    whole, syncs = _commits(original)
    assert whole > 90
    assert _commits(again) == (pytest.approx(whole, abs=10), pytest.approx(syncs, rel=0.4))

    room = _room(tmp_path, "replayed")
    replay = [*program, "replay", str(original), str(room), "--buffered", "--depth", "1"]
    apart = _distances(original, _captured(tmp_path / "replayed.parquet", room, replay), out)
    assert [code for code in MADE_OF if apart[code].accepted is not True] == []
    assert apart["rate"].value < AT_MOST_SLOWER

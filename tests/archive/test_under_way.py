"""Who follows a run reads one small file, and is told when the process that made the run is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from makers.saved_runs import empty_run, measured
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder, TimeLeft
from iocast.archive.catalogue import runs_below
from iocast.archive.summary_file import read_summary
from iocast.archive.under_way_file import save_under_way
from iocast.model.plan import Length, Until, left_is
from iocast.model.run import Run
from iocast.model.summary import Owner, UnderWay

S = 1_000_000_000


def _begun(tmp_path: Path) -> tuple[Run, RunFolder]:
    run = empty_run()
    return run, RunFolder.create(str(tmp_path), run)


def _owner(folder: RunFolder) -> Owner:
    under_way = archive.load_under_way(str(folder.path))
    assert under_way is not None
    assert under_way.owner is not None
    return under_way.owner


def test_it_has_the_phase_its_rates_and_the_rows_so_far(tmp_path: Path) -> None:
    run, folder = _begun(tmp_path)
    record, _ = measured(run, 0)
    folder.save(replace(run, phases=(record,)))
    folder.begin("mixed 8k 8x1", 2, 12)
    folder.tick(2_000_000_000, 1000, 8_192_000, 3)
    now = archive.load_under_way(str(folder.path))
    assert now is not None
    assert (now.phase, now.number, now.total, now.elapsed_ns) == ("mixed 8k 8x1", 2, 12, 2_000_000_000)
    assert (now.rate_per_s, now.bytes_per_s, now.errors) == (500.0, 4_096_000.0, 3)
    did = record.measurement
    assert [(row.row, row.rate_per_s) for row in now.rows] == [(record.phase.name, did.rate_per_s)]
    assert now.rows[0].p99_ns == did.response().quantile_ns(0.99)
    assert (folder.path / "under_way.json").stat().st_size < 1000
    folder.end()
    assert archive.load_under_way(str(folder.path)) is None
    assert archive.owner_alive(str(folder.path)) is None


@pytest.mark.long
def test_the_time_left_and_the_course_of_the_phase_are_in_it(tmp_path: Path) -> None:
    """The rates are those between two ticks; however long a phase runs, the file stays small."""
    _, folder = _begun(tmp_path)

    def now() -> UnderWay:
        found = archive.load_under_way(str(folder.path))
        assert found is not None
        return found

    folder.begin("one", 1, 2, TimeLeft(100 * S, Length(seconds=60.0), "at_most"))
    assert (now().left_ns, now().left_is, now().course) == (100 * S, "at_most", ())
    folder.tick(1 * S, 100, 0, 0)
    folder.tick(3 * S, 700, 0, 0)
    assert (now().left_ns, now().course) == (97 * S, ((1000, 100.0), (3000, 300.0)))
    folder.tick(70 * S, 800, 0, 0)
    assert now().left_ns == 40 * S, "its own time is over; what follows is left"
    folder.begin("filled by bytes", 2, 2, TimeLeft(5 * S, Length(bytes=1000), "about"))
    assert (now().left_ns, now().course) == (None, ()), "unknown until it has moved something"
    folder.tick(2 * S, 1, 250, 0)
    assert now().left_ns == 6 * S + 5 * S
    folder.begin("no one knows", 2, 2)
    for second in range(1, 5001):
        folder.tick(second * S, 10 * second, 0, 0)
    assert now().left_ns is None
    course = now().course
    assert len(course) <= 120
    assert course[-1] == (5_000_000, 10.0)
    assert [at for at, _ in course] == sorted({at for at, _ in course})
    assert {rate for _, rate in course} == {10.0}
    assert (folder.path / "under_way.json").stat().st_size < 4000


def test_what_is_said_of_the_time_left() -> None:
    timed, filled, early = (
        replace(empty_run().plan.phases[0], length=length, until=until)
        for length, until in (
            (Length(seconds=1.0), None),
            (Length(bytes=1), None),
            (Length(seconds=1.0), Until()),
        )
    )
    said = {
        "exactly": [(timed,)],
        "about": [(filled,), (timed,)],
        "at_least": [(timed,), (filled,)],
        "at_most": [(timed,), (early,)],
    }
    assert {left_is(groups): groups for groups in said.values()} == said
    assert left_is([(early,), (filled,)]) == left_is([(filled,), (early,)]) == "about"


def test_a_run_that_is_under_way_is_alive_from_its_first_moment(tmp_path: Path) -> None:
    _, folder = _begun(tmp_path)
    assert archive.owner_alive(str(folder.path)) is True
    assert _owner(folder).pid == os.getpid()
    assert read_summary(str(folder.path)).status == "running"


def test_a_run_that_has_ended_has_no_owner(tmp_path: Path) -> None:
    folder = RunFolder.create(str(tmp_path), replace(empty_run(), status="done"))
    assert archive.load_under_way(str(folder.path)) is None


def test_a_killed_run_is_listed_as_dead(tmp_path: Path) -> None:
    program = (
        "import os, sys; sys.path[:0] = sys.argv[2:]\n"
        "from makers.saved_runs import empty_run\nfrom iocast.archive import RunFolder\n"
        "RunFolder.create(sys.argv[1], empty_run()); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path, str(Path(__file__).parents[1])], check=False)
    (found,) = runs_below(str(tmp_path))
    assert archive.owner_alive(found.folder) is False
    assert found.summary is not None
    assert found.summary.status == "dead"
    assert archive.load(found.folder).status == "running", "what the run said itself stays"


@pytest.mark.parametrize(
    ("changes", "alive"),
    [
        ({"started_ticks": 1}, False),  # the pid is another's now
        ({"boot_id": "another"}, False),  # the machine was started again
        ({"boot_id": "another", "host": "elsewhere"}, None),
        ({"pid_namespace": "pid:[1]"}, None),  # in a container pids mean something else
    ],
)
def test_the_same_pid_is_not_the_same_process(tmp_path: Path, changes: dict[str, object], alive: bool | None) -> None:
    _, folder = _begun(tmp_path)
    save_under_way(folder.held, UnderWay(owner=replace(_owner(folder), **changes)))
    assert archive.owner_alive(str(folder.path)) is alive


def test_that_of_an_older_iocast_says_nothing_of_its_owner(tmp_path: Path) -> None:
    _, folder = _begun(tmp_path)
    old = {"phase": "p", "number": 1, "total": 2, "elapsed_ns": 0, "rate_per_s": 0.0, "bytes_per_s": 0.0, "errors": 0}
    (folder.path / "under_way.json").write_bytes(msgspec.json.encode(old))
    assert archive.owner_alive(str(folder.path)) is None
    assert read_summary(str(folder.path)).status == "running"

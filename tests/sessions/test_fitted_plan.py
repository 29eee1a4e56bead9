"""A job is fitted to its target before anything is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from iocast.errors import TargetError
from iocast.jobs import load_job, parse_job
from iocast.model.target import Target
from iocast.sessions.fitted_plan import asked_job, make_plan
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.target_finding import with_direct_tried

MIB = 1 << 20


def directory(path: Path, direct: bool | None) -> Target:
    return Target(path=str(path), kind="directory", direct=direct, direct_why_not="no such thing here")


def test_a_card_goes_without_direct_io_where_it_must_and_says_so(tmp_path: Path) -> None:
    fitted = make_plan(load_job("card-quick"), directory(tmp_path, False), 1)
    plan, notes = fitted.plan, fitted.notes
    assert not any(phase.workload.direct for phase in plan.phases)
    assert "does not support direct I/O: no such thing here" in notes[0]
    assert notes[0] in plan.target.notes
    fitted = make_plan(load_job("card-quick"), directory(tmp_path, True), 1)
    plan, notes = fitted.plan, fitted.notes
    assert all(phase.workload.direct for phase in plan.phases)
    assert notes == ()


def test_a_job_of_ones_own_is_not_changed(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="requires it") as refused:
        make_plan(load_job("hailey"), directory(tmp_path, False), 1)
    assert "direct = false" in refused.value.hint


def test_where_nothing_tells_direct_io_is_tried_on_a_work_file(tmp_path: Path) -> None:
    assert with_direct_tried(directory(tmp_path, None)).direct in (True, False)
    assert os.listdir(tmp_path) == []
    make_plan(load_job("card-quick"), directory(tmp_path, None), 1, dry=True)
    (tmp_path / "iocast-work.0.dat").write_bytes(b"x" * 65536)
    before = os.stat(tmp_path).st_mtime_ns
    assert with_direct_tried(directory(tmp_path, None)).direct in (True, False)
    assert os.stat(tmp_path).st_mtime_ns == before


_READERS = """
name = "readers"
[files]
size = "64MiB"
[defaults]
pattern = "sequential"
size = "1M"
time = "1s"
[[phase]]
test = "first"
together = "scans"
[[phase]]
test = "second"
{region}
"""
_WITH = 'together = "scans"\n'


@pytest.mark.parametrize(
    ("region", "says"),
    [
        (_WITH, "run concurrently and start at byte 0 of the same file: a cache may answer all but the first"),
        (_WITH + 'region = {size = "8MiB"}', "start at byte 0 of the same file"),
        (_WITH + "write = 100", "a cache may answer"),
        (_WITH + 'region = {start = "32MiB"}', ""),
        (_WITH + "backwards = true", ""),
        (_WITH + 'pattern = "random"', ""),
        ('together = "later"', ""),
    ],
)
def test_concurrent_phases_from_the_same_byte_are_warned_about(region: str, says: str, tmp_path: Path) -> None:
    job = parse_job(_READERS.format(region=region), "readers.toml")
    notes = make_plan(job, directory(tmp_path, True), 1).notes
    assert (len(notes) == 1 and says in notes[0]) if says else notes == ()


def test_users_who_all_start_at_the_beginning_are_warned_about(tmp_path: Path) -> None:
    for users, said in ((2, True), (1, False)):
        text = _READERS.format(region=f'start = "same"\nusers = {users}')
        notes = make_plan(parse_job(text, "readers.toml"), directory(tmp_path, True), 1).notes
        assert [note.startswith("the 2 users of phase") and "start at the same byte" in note for note in notes] == [
            True
        ] * said


def test_concurrent_writers_from_the_same_byte_overwrite_each_other(tmp_path: Path) -> None:
    text = _READERS.format(region=_WITH).replace("[[phase]]", "[[phase]]\nwrite = 100")
    (note,) = make_plan(parse_job(text, "writers.toml"), directory(tmp_path, True), 1).notes
    assert "they overwrite the same blocks" in note


def test_a_preset_has_a_smaller_work_file_where_its_own_does_not_fit(tmp_path: Path) -> None:
    """A file system of 300 MB was refused, with --size as the way out."""
    small = replace(directory(tmp_path, True), free_bytes=300 * MIB, total_bytes=300 * MIB)
    fitted = make_plan(load_job("card-quick"), small, 1)
    assert fitted.plan.files.size_bytes == 256 * MIB
    assert fitted.notes[0].startswith(f"work files of 256.0 MiB instead of 2.0 GiB: {tmp_path} has room for no more")
    tiny = replace(small, free_bytes=50 * MIB)
    assert make_plan(load_job("card-quick"), tiny, 1).plan.files.size_bytes == 2048 * MIB  # refused, as before
    asked = asked_job("card-quick", RunOptions(size_bytes=1024 * MIB))
    assert make_plan(asked, small, 1).plan.files.size_bytes == 1024 * MIB
    assert make_plan(load_job("survey"), small, 1).plan.files.size_bytes == 1024 * MIB  # its regions have places

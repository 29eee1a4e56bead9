"""What the verbs share: how a job is fitted to its target before anything is done."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from iocast.commands.interrupts import Interrupts
from iocast.commands.session import about, adjust, make_plan
from iocast.commands.targets import find_target, only_read, with_direct_tried
from iocast.errors import SpecError, TargetError
from iocast.jobs import load_job
from iocast.model.target import Target

MIB = 1 << 20


def directory(path: Path, direct: bool | None) -> Target:
    return Target(path=str(path), kind="directory", direct=direct, direct_why_not="no such thing here")


def test_size_and_time_of_a_job_are_changed() -> None:
    job = adjust(load_job("card-quick"), "1500kB", "250ms")
    assert job.file_size is not None
    assert job.file_size.size_bytes == MIB
    assert {phase.length.seconds for phase in job.phases} == {0.25}


def test_rows_that_end_by_ios_keep_their_end() -> None:
    job = load_job("card-quick")
    first = replace(job.phases[0], length=replace(job.phases[0].length, seconds=None, ios=9))
    job = adjust(replace(job, phases=(first, *job.phases[1:])), None, "1s")
    assert job.phases[0].length == first.length
    assert job.phases[1].length.seconds == 1.0


@pytest.mark.parametrize(("size", "time"), [("x", None), ("1k", None), (None, "x"), (None, "0s")])
def test_bad_sizes_and_times_name_their_option(size: str | None, time: str | None) -> None:
    with pytest.raises(SpecError, match="--size" if size else "--time"):
        adjust(load_job("card-quick"), size, time)


def test_a_card_goes_without_direct_io_where_it_must_and_says_so(tmp_path: Path) -> None:
    plan, notes = make_plan(load_job("card-quick"), directory(tmp_path, False), 1)
    assert not any(phase.workload.direct for phase in plan.phases)
    assert "takes no direct I/O: no such thing here" in notes[0]
    assert notes[0] in plan.target.notes
    plan, notes = make_plan(load_job("card-quick"), directory(tmp_path, True), 1)
    assert all(phase.workload.direct for phase in plan.phases)
    assert notes == ()


def test_a_job_of_ones_own_is_not_changed(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="asks for it") as refused:
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


def test_what_may_only_be_read(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * MIB)
    assert only_read(find_target(str(tmp_path / "data")))
    assert not only_read(find_target(str(tmp_path / "new.dat")))
    assert not only_read(find_target(str(tmp_path)))
    assert not only_read(find_target("sim:hdd"))
    assert only_read(Target(path="/dev/x", kind="block"))


def test_a_file_to_be_made_stands_on_its_directory(tmp_path: Path) -> None:
    target = find_target(str(tmp_path / "new.dat"))
    assert (target.kind, target.path, target.size_bytes) == ("file", str(tmp_path / "new.dat"), None)
    assert target.filesystem == find_target(str(tmp_path)).filesystem


def test_a_path_that_looks_like_a_directory_misspelt_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as refused:
        find_target(str(tmp_path / "mnt"))
    assert (refused.value.message, refused.value.hint) == (
        f"{tmp_path}/mnt does not exist",
        f"check the path; a work file to be made there needs an ending, such as {tmp_path}/mnt.dat",
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (39, "39 s"), (99.4, "99 s"), (1320, "22 min"), (7200, "2.0 h")]
)
def test_about(seconds: float, text: str) -> None:
    assert about(seconds) == text


def test_the_first_signal_is_a_question_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        assert (interrupts.stopped(), interrupts.exit_code) == (False, 0)
        os.kill(os.getpid(), signal.SIGTERM)
        assert (interrupts.stopped(), interrupts.exit_code) == (True, 143)
        assert signal.getsignal(signal.SIGINT) == signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before

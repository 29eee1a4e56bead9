"""A work file that iocast left without a word: what another program wrote to it since is not overwritten."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.left_out import long_after
from makers.rootly import need
from makers.work_files import MIB, lay, phase, plan
from msgspec.structs import replace

from iocast import load
from iocast.errors import TargetError
from iocast.load.filling import claimed, claimed_file, create
from iocast.load.marks import is_changed_by_others, made_here, mark_path, read_mark
from iocast.load.signs_of_work import is_random_or_zero
from iocast.load.work_files import WorkFile, own_file
from iocast.model.workload import Compressible, Dedupable, Payload, Repeated, Unique, Zeros

# A run that writes, and is killed in the midst of it.
KILLED = """
import os, sys, threading, time
from pathlib import Path
from makers.work_files import MIB, phase, plan
from iocast import load
from iocast.load.filling import claimed
place = Path(sys.argv[1])
made = plan(place, 2 * MIB, 1, phase("write", seconds=5))
layout = load.lay_out(made)
with claimed(layout):
    threading.Timer(0.5, os.kill, (os.getpid(), 9)).start()
    load.measure(load.phase_plan(made, made.phases[0], layout.files, 1), lambda *_: True)
"""
TESTS = str(Path(__file__).parents[1])


def killed(place: Path) -> Path:
    """A whole work file; the run that wrote to it was killed."""
    lay(plan(place))
    assert subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False, env=_env()).returncode == -9
    work = place / "iocast-work.0.dat"
    mark = read_mark(str(work))
    assert mark is not None
    if not mark.generation:
        pytest.skip("this file system keeps no generations")
    return work


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((TESTS, *filter(None, sys.path)))}


def written(work: Path, content: bytes) -> None:
    with work.open("r+b") as file:
        file.write(content)


def refused(work: Path) -> None:
    before = work.read_bytes()
    assert is_changed_by_others(str(work))
    assert not own_file(str(work))
    with pytest.raises(TargetError, match="written to by another program"):
        load.lay_out(plan(work.parent))
    assert load.clean(str(work.parent)).removed == ()
    assert work.read_bytes() == before


def test_the_next_run_takes_up_what_a_killed_one_left(tmp_path: Path) -> None:
    work = killed(tmp_path)
    assert made_here(str(work)) is not None
    assert not load.lay_out(plan(tmp_path)).fill_bytes
    with claimed(load.lay_out(plan(tmp_path))):
        assert made_here(str(work)) is not None
    assert len(load.clean(str(tmp_path)).removed) == 1


@pytest.mark.long
def test_clean_removes_what_a_killed_one_left_whenever_it_comes(tmp_path: Path) -> None:
    """It took its own move of the file, which changes its ctime, for another program's."""
    killed(tmp_path)
    time.sleep(1.2)
    cleaned = load.clean(str(tmp_path))
    assert (len(cleaned.removed), cleaned.left) == (1, ())
    assert not list(tmp_path.glob("iocast-work*"))


@pytest.mark.parametrize(
    "content",
    long_after(
        1,
        [
            random.Random(1).randbytes(2 * MIB),
            b"\0" * 4096,
            b"-- dump of accounts\n" * 100,
        ],
    ),
    ids=["an archive", "zeros", "text"],
)
def test_what_another_program_writes_after_a_kill_stays(tmp_path: Path, content: bytes) -> None:
    work = killed(tmp_path)
    time.sleep(1.2)
    written(work, content)
    refused(work)


@pytest.mark.parametrize("content", [b"hello\n", b"2026-11-27 backup done\n" * 40])
def test_what_is_appended_right_after_a_kill_stays(tmp_path: Path, content: bytes) -> None:
    """It was longer than iocast makes it, and its end was in no sample."""
    work = killed(tmp_path)
    with work.open("ab") as file:
        file.write(content)
    refused(work)


def test_a_note_in_place_of_all_right_after_a_kill_stays(tmp_path: Path) -> None:
    work = killed(tmp_path)
    work.write_text("password=abc\n")
    refused(work)


def test_what_is_written_right_after_a_kill_is_told_by_what_it_is(tmp_path: Path) -> None:
    work = killed(tmp_path)
    written(work, b"accounts,balances\n1,20\n2,30\n" * 200)
    refused(work)


def test_a_time_that_was_set_back_hides_nothing(tmp_path: Path) -> None:
    work = killed(tmp_path)
    times = work.stat()
    written(work, json.dumps({"accounts": list(range(2000))}).encode())
    os.utime(work, ns=(times.st_atime_ns, times.st_mtime_ns - 10**9))
    refused(work)


@pytest.mark.long
def test_a_copy_that_keeps_its_time_is_newer_nonetheless(tmp_path: Path) -> None:
    """`cp -p` and `rsync -a` of something random, at any time after the kill."""
    work = killed(tmp_path)
    time.sleep(1.2)
    written(work, random.Random(4).randbytes(2 * MIB))
    os.utime(work, (1, 1))
    refused(work)


@pytest.mark.parametrize("shift_s", long_after(1, [0, 3600]), ids=["touched", "clock set back"])
def test_a_mark_with_a_later_time_covers_no_text(tmp_path: Path, shift_s: int) -> None:
    work = killed(tmp_path)
    time.sleep(0.1)
    written(work, b"insert into accounts values (1);\n" * 2000)
    now_s = time.time() + shift_s
    os.utime(mark_path(str(work)), (now_s, now_s))
    refused(work)


@pytest.mark.parametrize("make", long_after(1, ["mkfs.ext4 -q -F", "mkswap -q"]))
def test_what_is_made_on_it_right_after_a_kill_is_told(tmp_path: Path, make: str) -> None:
    need(make.split()[0])
    work = killed(tmp_path)
    subprocess.run([*make.split(), str(work)], check=True, capture_output=True)
    refused(work)


@pytest.mark.parametrize("way", long_after(1, ["second name", "moved"]))
def test_a_mark_that_could_not_be_written_when_the_run_ended_hides_nothing(tmp_path: Path, way: str) -> None:
    """Somebody links or moves the mark while the run works, puts it back, and writes to the file: it was taken."""
    lay(plan(tmp_path))
    work, other = tmp_path / "iocast-work.0.dat", tmp_path / "other"
    mark = Path(mark_path(str(work)))
    if not read_mark(str(work)).generation:  # type: ignore[union-attr]
        pytest.skip("this file system keeps no generations")
    with claimed(load.lay_out(plan(tmp_path, 2 * MIB, 1, phase("write")))):
        if way == "moved":
            mark.rename(other)
        else:
            os.link(mark, other)
    if way == "moved":
        other.rename(mark)
    else:
        other.unlink()
    assert made_here(str(work)) is not None, "nobody wrote to it"
    time.sleep(1.2)
    written(work, random.Random(2).randbytes(2 * MIB))
    refused(work)


def test_while_one_works_on_a_file_others_are_told_so(tmp_path: Path) -> None:
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    look = (
        "import sys; from iocast.load.marks import made_here; from iocast import load;"
        f"print(made_here({str(work)!r}) is not None, load.clean({str(tmp_path)!r}).left[0][1])"
    )
    with claimed(load.lay_out(plan(tmp_path, 2 * MIB, 1, phase("write")))):
        time.sleep(0.1)
        written(work, b"text of the run itself\n" * 100)
        done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "True is in use by another iocast process\n"


def test_what_others_wrote_between_the_look_and_the_lock_is_not_covered_by_a_touch(tmp_path: Path) -> None:
    work = killed(tmp_path)
    layout = load.lay_out(plan(tmp_path, 2 * MIB, 1, phase("write")))
    written(work, b"accounts,balances\n" * 200)
    with claimed(layout):
        time.sleep(0.2)
    refused(work)


@pytest.mark.parametrize(
    "payload",
    [Unique(), Zeros(), Repeated(), Dedupable(60.0), Compressible(10.0), Compressible(50.0), Compressible(95.0)],
    ids=repr,
)
@pytest.mark.parametrize("size_bytes", [512, 8192])
def test_all_that_iocast_writes_is_random_or_zero(tmp_path: Path, payload: Payload, size_bytes: int) -> None:
    made = plan(tmp_path, 2 * MIB, 1, phase("write", seconds=0.2, payload=payload))
    lay(made)
    item = made.phases[0].workload.mix[0]
    workload = replace(made.phases[0].workload, mix=(replace(item, size_bytes=size_bytes),))
    layout = load.lay_out(made)
    one = load.phase_plan(made, replace(made.phases[0], workload=workload), layout.files, 1)
    with claimed(layout):
        load.measure(one, lambda *_: True)
    with (tmp_path / "iocast-work.0.dat").open("rb") as file:
        assert is_random_or_zero(file.fileno())


@pytest.mark.parametrize(
    "make",
    [
        lambda path: subprocess.run(["mkfs.ext4", "-q", "-F", path], check=True),
        lambda path: written(path, Path(sys.executable).read_bytes()[: 2 * MIB]),
        lambda path: written(path, b"\x1f\x8b\x08" + Path("/etc/services").read_bytes()[:4000]),
    ],
    ids=["a file system", "a program", "text"],
)
def test_what_others_write_is_not(tmp_path: Path, make: Callable[[Path], object]) -> None:
    work = tmp_path / "x.dat"
    work.write_bytes(random.Random(3).randbytes(4 * MIB))
    make(work)
    with work.open("rb") as file:
        assert not is_random_or_zero(file.fileno())


def test_a_file_is_touched_only_while_it_is_written(tmp_path: Path) -> None:
    """A run that only reads changes nothing of how the file was left."""
    lay(plan(tmp_path))
    work = tmp_path / "iocast-work.0.dat"
    before = Path(mark_path(str(work))).stat().st_mtime_ns
    with claimed_file(WorkFile(str(work), 2 * MIB, fill=False), writing=False):
        time.sleep(0.15)
    assert Path(mark_path(str(work))).stat().st_mtime_ns == before
    with claimed_file(WorkFile(str(work), 2 * MIB, fill=False)):
        create(WorkFile(str(work), 2 * MIB, fill=False))
        between = Path(mark_path(str(work))).stat().st_mtime_ns
        time.sleep(0.15)
        assert Path(mark_path(str(work))).stat().st_mtime_ns > between > before

"""While a run goes on somebody moves its file away and puts something else there: that is never written to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from makers.work_files import MIB, lay, phase, plan
from msgspec.structs import replace

from iocast import load, runner
from iocast.archive.writing.file_identity import MARK_SUFFIX
from iocast.errors import TargetError
from iocast.load import marks
from iocast.load.marks import WRITTEN_BY_OTHERS
from iocast.model.plan import Length, Phase, PhasePlan
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem

WRITES = replace(phase("write"), length=Length(ios=200))
READS = replace(phase("read"), length=Length(seconds=0.4))
PRECIOUS = b"precious" * (2 * MIB // 8)


class Meddler:
    """A progress that swaps the file: before a phase begins, or when its load is just about to start."""

    def __init__(
        self, swap: Callable[[], None], before_phase: int | None = None, at_tick_of: int | None = None
    ) -> None:
        self._swap, self._before, self._at_tick_of = swap, before_phase, at_tick_of
        self._phase = -1

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        self._phase = number
        if number == self._before:
            self._swap()

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        if self._phase == self._at_tick_of:
            self._at_tick_of = None
            self._swap()

    def end(self, record: PhaseRecord) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Place:
    """A work file to be replaced, and the file of somebody else."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "target" / "iocast-work.0.dat"
        self.work.parent.mkdir()
        self.victim = folder / "victim"
        self.victim.write_bytes(PRECIOUS)
        self.moved = folder / "moved away"

    def link(self) -> None:
        self.work.rename(self.moved)
        self.work.symlink_to(self.victim)

    def renamed(self) -> None:
        self.work.rename(self.moved)
        self.victim.rename(self.work)
        self.victim = self.work

    def hard_link(self) -> None:
        self.work.rename(self.moved)
        os.link(self.victim, self.work)

    def fifo(self) -> None:
        self.work.rename(self.moved)
        os.mkfifo(self.work)

    def removed(self) -> None:
        self.work.unlink()

    def folder_link(self) -> None:
        self.work.parent.rename(self.moved)
        other = self.moved.parent / "another"
        other.mkdir()
        self.victim = self.victim.rename(other / self.work.name)
        self.work.parent.symlink_to(other)


SWAPS = ("link", "renamed", "hard_link", "fifo", "removed", "folder_link")


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("writes", [True, False])
def test_between_two_phases_it_is_noticed(tmp_path: Path, swap: str, writes: bool) -> None:
    place = Place(tmp_path)
    made = plan(place.work.parent, 2 * MIB, 1, *([WRITES, WRITES] if writes else [phase(), phase()]))
    meddler = Meddler(getattr(place, swap), before_phase=2)
    done = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), meddler, lambda: False)
    assert isinstance(done.error, TargetError)
    assert "moved, removed or replaced" in str(done.error)
    assert done.run.status == "failed"
    assert [record.phase.role for record in done.run.phases] == ["fill", "measure"], "what was measured is kept"
    assert place.victim.read_bytes() == PRECIOUS


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("number", [0, 1])
def test_in_the_midst_of_a_phase_the_load_stays_on_the_file_that_was_opened(
    tmp_path: Path, swap: str, number: int
) -> None:
    place = Place(tmp_path)
    made = plan(place.work.parent, 2 * MIB, 1, replace(WRITES, length=Length(seconds=0.3)), WRITES)
    meddler = Meddler(getattr(place, swap), at_tick_of=number)
    done = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), meddler, lambda: False)
    assert isinstance(done.error, TargetError)
    assert place.victim.read_bytes() == PRECIOUS


@pytest.mark.parametrize("swap", ["link", "renamed"])
def test_just_before_the_core_opens_it(tmp_path: Path, swap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest way in: everything has been checked, and the core has not yet opened anything."""
    from iocast.load import core_phases

    place = Place(tmp_path)
    made = plan(place.work.parent, 2 * MIB, 1, WRITES)
    real = core_phases.measure_together

    def late(plans: tuple[PhasePlan, ...], *arguments: object, **more: object) -> object:
        if plans[0].mix == (MixItem("write", plans[0].mix[0].size_bytes),) and plans[0].role == "measure":
            getattr(place, swap)()
        return real(plans, *arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(core_phases, "measure_together", late)
    done = runner.run(
        runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), Meddler(lambda: None), lambda: False
    )
    assert place.victim.read_bytes() == PRECIOUS
    assert done.run.measured[0].measurement.error_count == 0, "it went on with the file that it had opened"


class TwoPlaces:
    """A link to one directory and, once flipped, to the other; both have a work file of ours, the other's in use."""

    def __init__(self, folder: Path) -> None:
        self.link, self.one, self.other = folder / "current", folder / "one", folder / "other"
        for place in (self.one, self.other):
            place.mkdir()
            lay(plan(place))
        self.link.symlink_to(self.one)
        self.in_use = self.other / "iocast-work.0.dat"
        self.before = self.in_use.read_bytes()

    def flip(self) -> None:
        self.link.unlink()
        self.link.symlink_to(self.other)


@pytest.mark.parametrize("laid_out", [True, False])
def test_a_directory_that_is_switched_after_the_look_for_users(
    tmp_path: Path, laid_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from iocast.runner import run_loop

    places = TwoPlaces(tmp_path)
    if not laid_out:
        load.clean(str(places.one))
    look = run_loop.refuse_used_files

    def look_and_flip(paths: Sequence[str], writing: Sequence[str]) -> tuple[str, ...]:
        said = look(paths, writing)
        places.flip()
        return said

    monkeypatch.setattr(run_loop, "refuse_used_files", look_and_flip)
    made = plan(places.link, 2 * MIB, 1, WRITES)
    with places.in_use.open("r+b"):
        work = runner.Work(made, load.lay_out(made), str(tmp_path / "runs"))
        runner.run(work, Meddler(lambda: None), lambda: False)
    assert places.in_use.read_bytes() == places.before


def test_a_directory_that_is_switched_while_clean_looks_for_users(tmp_path: Path) -> None:
    places = TwoPlaces(tmp_path)

    def look_and_flip(paths: Sequence[str]) -> Mapping[str, Sequence[str]]:
        places.flip()
        return {}

    load.clean(str(places.link), users=look_and_flip)
    assert places.in_use.read_bytes() == places.before
    assert not (places.one / places.in_use.name).exists(), "the directory that was looked at"


@pytest.mark.parametrize("by_others", ["a backup", "its owner"])
def test_what_somebody_wrote_into_a_work_file_stays(tmp_path: Path, by_others: str) -> None:
    made = plan(tmp_path, 2 * MIB, 1, WRITES)
    work = tmp_path / "iocast-work.0.dat"
    lay(made)
    if by_others == "a backup":
        victim = tmp_path / "victim"
        victim.write_bytes(PRECIOUS)
        os.utime(victim, (1_000_000_000, 1_000_000_000))
        subprocess.run(["cp", "-p", victim, work], check=True)
    else:
        time.sleep(0.02)  # the clock of file systems
        with work.open("r+b") as file:
            file.write(PRECIOUS)
    with pytest.raises(TargetError, match="written to by another program since iocast left it"):
        load.lay_out(made)
    cleaned = load.clean(str(tmp_path))
    assert cleaned.left == ((str(work), "was written to by another program since iocast left it"),)
    assert work.read_bytes() == PRECIOUS


@pytest.mark.parametrize("laid_out", [True, False])
@pytest.mark.parametrize("then_writes", [True, False])
def test_what_somebody_writes_while_a_run_only_reads_stays(tmp_path: Path, laid_out: bool, then_writes: bool) -> None:
    made = plan(tmp_path, 2 * MIB, 1, READS, *([WRITES] if then_writes else []))
    work = tmp_path / "iocast-work.0.dat"
    if laid_out:
        lay(made)

    def write() -> None:
        with work.open("r+b") as file:
            file.write(PRECIOUS)

    asked = runner.Work(made, load.lay_out(made), str(tmp_path / "runs"))
    done = runner.run(asked, Meddler(write, at_tick_of=0 if laid_out else 1), lambda: False)
    assert (WRITTEN_BY_OTHERS in str(done.error)) is then_writes
    assert work.read_bytes() == PRECIOUS
    with pytest.raises(TargetError, match=WRITTEN_BY_OTHERS):
        load.lay_out(made)
    assert load.clean(str(tmp_path)).left == ((str(work), WRITTEN_BY_OTHERS),)


def test_what_somebody_writes_while_results_are_saved_stays(tmp_path: Path) -> None:
    """The load has ended, and the storage of the results takes its time."""
    made, work = plan(tmp_path, 2 * MIB, 1, WRITES), tmp_path / "iocast-work.0.dat"

    class Slow(Meddler):
        def end(self, record: PhaseRecord) -> None:
            if record.phase.role != "fill":
                work.write_bytes(PRECIOUS)

    done = runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), Slow(lambda: None), lambda: False)
    assert done.error is None
    with pytest.raises(TargetError, match=WRITTEN_BY_OTHERS):
        load.lay_out(made)
    assert load.clean(str(tmp_path)).left == ((str(work), WRITTEN_BY_OTHERS),)
    assert work.read_bytes() == PRECIOUS


@pytest.mark.long
def test_a_run_that_writes_between_reads_leaves_its_file_to_the_next(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, READS, WRITES, READS, WRITES, READS)
    for _ in range(2):
        asked = runner.Work(made, load.lay_out(made), str(tmp_path / "runs"))
        assert runner.run(asked, Meddler(lambda: None), lambda: False).error is None
        assert not load.lay_out(made).fill_bytes
    assert len(load.clean(str(tmp_path)).removed) == 1


def test_storage_has_the_last_mark_when_a_run_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that is written while the run goes on is not flushed then."""
    calls: list[str] = []

    def recorded(name: str) -> Callable[..., Any]:
        call = getattr(os, name)

        def record(descriptor: int, *arguments: Any) -> Any:
            if os.readlink(f"/proc/self/fd/{descriptor}").endswith(MARK_SUFFIX):
                calls.append(name)
            return call(descriptor, *arguments)

        return record

    for name in ("pwrite", "fsync"):
        monkeypatch.setattr(os, name, recorded(name))
    made = plan(tmp_path, 2 * MIB, 1, WRITES)
    assert runner.run(
        runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), Meddler(lambda: None), lambda: False
    )
    assert "pwrite" in calls
    assert calls[-1] == "fsync"


def test_after_a_kill_a_work_file_is_still_ours(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, WRITES)
    lay(made)
    script = (
        "import os, sys; from iocast.load.filling import claimed_file; from iocast.load.work_files import WorkFile\n"
        f"path = {str(tmp_path / 'iocast-work.0.dat')!r}\n"
        f"with claimed_file(WorkFile(path, {2 * MIB}, fill=False)):\n"
        "    open(path, 'r+b').write(b'new'); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 9
    assert load.lay_out(made).files[0].fill is False
    assert len(load.clean(str(tmp_path)).removed) == 1


def test_a_file_that_got_a_second_name_is_written_to_no_more(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, WRITES, WRITES)
    lay(made)
    work, backup = tmp_path / "iocast-work.0.dat", tmp_path / "backup"
    copies: list[bytes] = []

    def link() -> None:
        backup.hardlink_to(work)
        copies.append(backup.read_bytes())

    asked = runner.Work(made, load.lay_out(made), str(tmp_path / "runs"))
    done = runner.run(asked, Meddler(link, before_phase=1), lambda: False)
    assert "second name (hard link)" in str(done.error)
    assert backup.read_bytes() == copies[0]


def test_a_time_that_was_set_back_hides_nothing(tmp_path: Path) -> None:
    """As programs do that keep the times of what they write into."""
    made, work = plan(tmp_path, 2 * MIB, 1, WRITES), tmp_path / "iocast-work.0.dat"
    lay(made)
    was = work.stat()
    time.sleep(0.02)
    with work.open("r+b") as file:
        file.write(PRECIOUS)
    os.utime(work, ns=(was.st_atime_ns, was.st_mtime_ns))
    with pytest.raises(TargetError, match="written to by another program"):
        load.lay_out(made)
    assert load.clean(str(tmp_path)).removed == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_where_times_are_whole_seconds_the_content_decides(tmp_path: Path) -> None:
    image, place = tmp_path / "image", tmp_path / "place"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-I", "128", "-O", "^metadata_csum", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True)
    try:
        lay(plan(place))
        work = place / "iocast-work.0.dat"
        was = work.stat()
        with work.open("r+b") as file:
            file.write(PRECIOUS)
        os.utime(work, (was.st_atime, was.st_mtime))  # as if within the second in which it was left
        assert load.clean(str(place)).removed == ()
        assert (place / "iocast-work.0.dat").read_bytes() == PRECIOUS
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_what_others_write_while_a_run_only_reads_is_not_ours(tmp_path: Path) -> None:
    """The run let them go on, and its mark said at the end that all of it was as iocast had left it."""
    made, work = plan(tmp_path, 2 * MIB, 1, phase()), tmp_path / "iocast-work.0.dat"
    lay(made)
    time.sleep(0.02)

    def write() -> None:
        with work.open("r+b") as file:
            file.write(PRECIOUS)

    asked = runner.Work(made, load.lay_out(made), str(tmp_path / "runs"))
    runner.run(asked, Meddler(write, before_phase=0), lambda: False)
    assert load.clean(str(tmp_path)).removed == ()
    assert work.read_bytes() == PRECIOUS


def test_after_a_removal_that_failed_it_is_still_known_how_a_file_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, work = plan(tmp_path, 2 * MIB, 1, WRITES), tmp_path / "iocast-work.0.dat"
    lay(made)
    with monkeypatch.context() as patch:
        patch.setattr(marks, "remove_ours", lambda *_: os.rename(work, "/proc/self/busy"))
        assert load.clean(str(tmp_path)).left
    time.sleep(0.02)
    with work.open("r+b") as file:
        file.write(PRECIOUS)
    assert load.clean(str(tmp_path)).removed == ()
    assert work.read_bytes() == PRECIOUS


def test_after_a_lost_power_the_times_alone_are_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that was synced may be there, and the times of its writing not."""
    made, work = plan(tmp_path, 2 * MIB, 1, WRITES), tmp_path / "iocast-work.0.dat"
    lay(made)
    assert load.lay_out(made).files[0].fill is False
    with work.open("r+b") as file:
        file.write(PRECIOUS)
    mark, status = marks.read_mark(str(work)), work.stat()
    assert mark is not None
    changed = replace(mark, left_ns=status.st_mtime_ns)
    marks.write_mark(str(work), changed)  # as if the file had these times when it was left
    monkeypatch.setattr(marks, "_boot", lambda: "another")
    assert load.clean(str(tmp_path)).removed == ()
    assert work.read_bytes() == PRECIOUS

"""While a run goes on somebody moves its file away and puts something else there: that is never written to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.work_files import MIB, phase, plan
from msgspec.structs import replace

from iocast import load, runner
from iocast.errors import TargetError
from iocast.model.plan import Length, Phase, PhasePlan
from iocast.model.run import PhaseRecord
from iocast.model.workload import MixItem

WRITES = replace(phase("write"), length=Length(ios=200))
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

"""A link that names the device is flipped to another one while a run works: that other device is never written to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import small_job
from makers.disk_images import blank, tool

from iocast import load, runner
from iocast.errors import TargetError
from iocast.jobs import load_job
from iocast.load import core_phases
from iocast.load.opened_files import OpenedFiles
from iocast.model.plan import Phase, Plan
from iocast.model.run import PhaseRecord
from iocast.observe.target.device_stack import describe
from iocast.sessions.fitted_plan import make_plan
from iocast.sessions.target_finding import find_target

pytestmark = pytest.mark.device
Attach = Callable[..., str]


class Flipper:
    """A progress that turns the link at some moment of its own."""

    def __init__(self, flip: Callable[[], None], at: str) -> None:
        self._flip, self._at = flip, at

    def _now(self, moment: str) -> None:
        if moment == self._at:
            self._at = ""
            self._flip()

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        self._now(f"begin {number}")

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        self._now("tick")

    def end(self, record: PhaseRecord) -> None:
        self._now("end")

    def close(self) -> None:
        """Nothing."""


class Disks:
    """A link to the device that was given up, and another device, with a file system."""

    def __init__(self, folder: Path, attach: Attach) -> None:
        self.other, self.path = folder / "other", str(folder / "disk")
        blank(folder / "image")
        tool("mkfs.ext4", "-q")(self.other)
        self.device, self.elsewhere = attach(folder / "image"), attach(self.other)
        os.symlink(self.device, self.path)
        self.before = self.digest()

    def digest(self) -> str:
        descriptor = os.open(self.elsewhere, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        return hashlib.sha256(self.other.read_bytes()).hexdigest()

    def flip(self, back: bool = False) -> None:
        os.unlink(self.path)
        os.symlink(self.device if back else self.elsewhere, self.path)

    def plan(self, job: str) -> Plan:
        identity = describe(self.device).identity
        assert identity is not None
        return make_plan(load_job(job), find_target(self.path, identity.name), 1).plan


@pytest.mark.parametrize("moment", ["begin 0", "tick", "end", "begin 1"])
def test_a_run_that_writes_stays_on_its_device(tmp_path: Path, attach: Attach, moment: str) -> None:
    disks = Disks(tmp_path, attach)
    plan = disks.plan(small_job(tmp_path))
    done = runner.run(
        runner.Work(plan, load.lay_out(plan), str(tmp_path / "runs")), Flipper(disks.flip, moment), lambda: False
    )
    assert isinstance(done.error, TargetError)
    assert disks.digest() == disks.before


def test_nor_does_it_leave_it_when_the_link_is_flipped_after_all_checks(
    tmp_path: Path, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    disks = Disks(tmp_path, attach)
    plan = disks.plan(small_job(tmp_path))
    real = core_phases.measure_together

    def late(*arguments: object, **more: object) -> object:
        disks.flip()
        try:
            return real(*arguments, **more)  # type: ignore[arg-type]
        finally:
            disks.flip(back=True)

    monkeypatch.setattr(core_phases, "measure_together", late)
    image = (tmp_path / "image").read_bytes()
    done = runner.run(
        runner.Work(plan, load.lay_out(plan), str(tmp_path / "runs")), Flipper(lambda: None, ""), lambda: False
    )
    assert done.error is None
    assert disks.digest() == disks.before
    assert (tmp_path / "image").read_bytes() != image


def test_the_first_look_at_the_link_must_find_the_planned_device(tmp_path: Path, attach: Attach) -> None:
    disks = Disks(tmp_path, attach)
    plan = disks.plan(small_job(tmp_path))
    disks.flip()
    with OpenedFiles(load.lay_out(plan), plan.target) as opened, pytest.raises(TargetError, match="replaced"):
        opened.descriptors([disks.path])


def test_a_run_that_reads_notices_another_device_between_rows(tmp_path: Path, attach: Attach) -> None:
    disks = Disks(tmp_path, attach)
    job = Path(small_job(tmp_path))
    reading = job.with_name("reading.toml")
    reading.write_text(job.read_text().replace("randwrite", "randread").replace("write", "read"))
    plan = disks.plan(str(reading))
    assert not any(phase.workload.writes for phase in plan.phases)
    done = runner.run(
        runner.Work(plan, load.lay_out(plan), str(tmp_path / "runs")), Flipper(disks.flip, "begin 1"), lambda: False
    )
    assert isinstance(done.error, TargetError)
    assert "replaced during the run" in done.error.message

"""ORION's matrix on block devices and on a disk: several devices as one volume, overwritten only when each is named."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder
from makers.disk_images import MIB

from iocast import archive
from iocast.observe.target.device_stack import describe
from iocast.report.matrix.measured_points import orion_result
from iocast.tools import importers

pytestmark = [pytest.mark.device, pytest.mark.alone]
POINT = ("-run", "advanced", "-matrix", "point", "-num_small", "2", "-num_large", "1", "-duration", "1", "--no-page")


@pytest.fixture
def devices(tmp_path: Path, attach: Callable[..., str]) -> list[str]:
    found = []
    for number in range(2):
        image = tmp_path / f"disk{number}.img"
        image.write_bytes(b"\1" * 16 * MIB)
        found.append(attach(image))
    return found


def name_of(device: str) -> str:
    identity = describe(device).identity
    assert identity is not None
    return identity.name


def digests(tmp_path: Path) -> list[str]:
    return [hashlib.sha256((tmp_path / f"disk{number}.img").read_bytes()).hexdigest() for number in range(2)]


def test_several_devices_are_written_only_when_each_is_named(tmp_path: Path, devices: list[str]) -> None:
    before = digests(tmp_path)
    first = ("--destroy", name_of(devices[0]))
    for named in ((), first):
        refused = iocast("matrix", *devices, *POINT, "-write", "50", *named, cwd=tmp_path)
        assert refused.returncode == 2
        assert "would overwrite" in refused.stderr
    assert digests(tmp_path) == before
    both = (*first, "--destroy", name_of(devices[1]))
    done = iocast("matrix", *devices, *POINT, "-write", "50", "-simulate", "raid0", *both, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert all(new != old for new, old in zip(digests(tmp_path), before, strict=True))
    run = archive.load(str(run_folder(tmp_path / "iocast-runs")))
    assert any("overwrote" in warning for warning in run.warnings)
    assert [member.path for member in run.plan.target.members] == devices


def test_devices_are_read_without_being_named(tmp_path: Path, devices: list[str]) -> None:
    before = digests(tmp_path)
    done = iocast("matrix", *devices, *POINT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path) == before


def test_a_short_run_on_a_disk_reads_back(tmp_path: Path) -> None:
    """N = IOPS x latency at every point, in ORION's own files, as its importer reads them."""
    words = ("--run", "simple", "--duration", "1", "--size", "64MiB", "--luns", "2", "--num-disks", "1", "--no-page")
    done = iocast("matrix", tmp_path, *words, "--files", "files", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = orion_result(archive.load(str(run_folder(tmp_path / "iocast-runs"))))
    assert len(result.points) == 7
    for at in result.points:
        for side, outstanding in ((at.small, at.point.small), (at.large, at.point.large)):
            if side is not None:
                assert side.per_s * side.mean_us / 1e6 == pytest.approx(outstanding, rel=0.05)
    (back,) = importers.read((str(tmp_path / "files"),))
    assert len(back.phases) == 7

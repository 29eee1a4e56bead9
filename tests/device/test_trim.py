"""Trims of real block devices, by both engines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.load import trimming
from iocast.load.core_phases import measure
from iocast.model.plan import EngineName, FileRegion, Length, PhasePlan
from iocast.model.workload import Closed, MixItem, Sequential, Unique

pytestmark = pytest.mark.device
MIB = 1 << 20


@pytest.mark.parametrize("engine", ["uring", "sync"])
def test_a_discard_on_a_loop_device(tmp_path: Path, loop_device: Callable[[int], str], engine: EngineName) -> None:
    device = loop_device(16 * MIB)
    if trimming.device_refuses(device):
        pytest.skip("loop devices here take no discards")
    os.sync()
    before = os.stat(tmp_path / "image0").st_blocks
    plan = PhasePlan(
        name="trim", role="measure", engine=engine, files=(FileRegion(device, 4 * MIB, 8 * MIB),),
        mix=(MixItem("trim", 1 << 16),), locality=Sequential(), arrival=Closed(), users=1, depth=4, direct=True,
        sync="none", fsync_every=0, payload=Unique(), length=Length(bytes=8 * MIB), interval_ns=10**9, seed=1,
    )  # fmt: skip
    done = measure(plan, lambda *_: True)[0]
    assert (done.error_count, done.ios, done.bytes) == (0, 128, 8 * MIB)
    assert done.engine.name in (engine, "sync")
    assert done.engine.name == engine or any("Linux 6.12" in note for note in done.engine.notes)
    data = Path(device).read_bytes()
    assert not any(data[4 * MIB : 12 * MIB])
    assert data[:MIB] == (tmp_path / "image0").read_bytes()[:MIB]
    assert any(data[: 4 * MIB])
    assert (before - os.stat(tmp_path / "image0").st_blocks) * 512 >= 7 * MIB

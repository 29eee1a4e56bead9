"""What the kernel refuses is done without, and the card says so: io_uring itself, locked memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import iocast, run_folder

from iocast import archive

pytestmark = pytest.mark.device


def test_the_card_says_which_engine_ran_and_why(tmp_path: Path) -> None:
    before = (sys.executable, str(Path(__file__).parent / "without_io_uring.py"))
    done = iocast("card", ".", "--size", "16MiB", "--time", "50ms", cwd=tmp_path, before=before)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "io_uring is not to be had here (Operation not permitted" in said
    assert "sync engine instead" in said
    for record in archive.load(str(run_folder(tmp_path / "iocast-runs"))).phases:
        assert record.plan.engine == "auto"
        assert record.measurement.engine.name == "sync"
        assert record.measurement.asked_depth == record.plan.users * record.plan.depth
        if record.phase.name == "randread 8k x4 d16":
            assert record.measurement.depth_mean > 32


@pytest.mark.parametrize(("size_bytes", "without"), [(4096, "sync engine instead"), (65536, "registered buffers")])
def test_little_locked_memory_is_lived_with(tmp_path: Path, size_bytes: int, without: str) -> None:
    """Enough for a page: no ring at all. Enough for rings: buffers that are not registered."""
    before = (sys.executable, str(Path(__file__).parent / "with_little_locked_memory.py"), str(size_bytes))
    done = iocast("card", ".", "--size", "16MiB", "--time", "50ms", cwd=tmp_path, before=before)
    assert done.returncode == 0, done.stderr
    measured = [record.measurement for record in archive.load(str(run_folder(tmp_path / "iocast-runs"))).phases]
    assert all(each.ios > 0 and not each.errors for each in measured)
    assert any(without in note for each in measured for note in each.engine.notes)

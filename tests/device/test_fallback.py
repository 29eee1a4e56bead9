"""What the kernel refuses is done without, and the card says so: io_uring itself, locked memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from makers.command_line import IOCAST, environment, iocast, run_folder
from makers.rootly import need

from iocast import archive

pytestmark = pytest.mark.device
NOBODY = 65534


def test_the_card_says_which_engine_ran_and_why(tmp_path: Path) -> None:
    before = (sys.executable, str(Path(__file__).parents[1] / "makers" / "without_io_uring.py"))
    done = iocast("card", ".", "--full", "--size", "16MiB", "--time", "50ms", cwd=tmp_path, before=before)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    by = "refused by seccomp, as containers do by default: Operation not permitted"
    assert f"io_uring is not available ({by}" in said
    assert "sync engine instead" in said
    for record in archive.load(str(run_folder(tmp_path / "iocast-runs"))).phases:
        assert record.plan.engine == "auto"
        assert record.measurement.engine.name == "sync"
        assert record.measurement.asked_depth == record.plan.users * record.plan.depth
        if record.phase.name == "randread 8k 4x16":
            assert record.measurement.depth_mean > 32


@pytest.mark.parametrize(("size_bytes", "without"), [(4096, "sync engine instead"), (65536, "registered buffers")])
def test_little_locked_memory_is_lived_with(tmp_path: Path, size_bytes: int, without: str) -> None:
    """Enough for a page: no ring at all. Enough for rings: buffers that are not registered."""
    before = (
        sys.executable,
        str(Path(__file__).parents[1] / "makers" / "with_little_locked_memory.py"),
        str(size_bytes),
    )
    done = iocast("card", ".", "--size", "16MiB", "--time", "50ms", cwd=tmp_path, before=before)
    assert done.returncode == 0, done.stderr
    measured = [record.measurement for record in archive.load(str(run_folder(tmp_path / "iocast-runs"))).phases]
    assert all(each.ios > 0 and not each.errors for each in measured)
    assert any(without in note for each in measured for note in each.engine.notes)


@pytest.fixture
def own_place() -> Iterator[Path]:
    """A directory of a plain user's own: those of pytest are root's alone."""
    with TemporaryDirectory(prefix="iocast-test-") as place:
        os.chown(place, NOBODY, NOBODY)
        yield Path(place)


@pytest.mark.parametrize("verb", ["card", "run"])
@pytest.mark.parametrize(("size_bytes", "without"), [(0, "sync engine instead"), (65536, "registered buffers")])
def test_a_plain_user_may_lock_little(own_place: Path, verb: str, size_bytes: int, without: str) -> None:
    """Another user than root, without any right of root's, and a limit that many systems set: 64 KiB, or nothing."""
    need("setpriv", "prlimit")
    plain = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all")
    before = ("prlimit", f"--memlock={size_bytes}:{size_bytes}", *plain)
    env = {"HOME": str(own_place)}
    known = subprocess.run([*before, *IOCAST, "--version"], env=environment(**env), cwd=own_place, capture_output=True)
    if known.returncode:
        pytest.skip("another user may not read this Python or these sources")
    job = own_place / "job.toml"
    job.write_text('name = "plain"\n[files]\nsize = "16MiB"\n[[phase]]\nsize = "8k"\ndepth = 32\ntime = "50ms"\n')
    words = (job, ".") if verb == "run" else (".", "--size", "16MiB", "--time", "50ms")
    done = iocast(verb, *words, "--full", cwd=own_place, before=before, **env)
    assert done.returncode == 0, done.stderr
    run = archive.load(str(run_folder(own_place / "iocast-runs")))
    measured = [record.measurement for record in run.measured]
    assert all(each.ios > 0 and not each.errors for each in measured)
    assert any(without in note for each in measured for note in each.engine.notes)
    assert without in " ".join(done.stdout.split())
    assert os.stat(own_place / "iocast-runs").st_uid == NOBODY

"""Work files that share blocks with a snapshot or a reflinked copy: it keeps its bytes, and room is counted."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from makers.command_line import iocast
from makers.rootly import Mount, command, need

from iocast.load.extents import survey

pytestmark = pytest.mark.device
MIB = 1 << 20
NAME = "iocast-work.0.dat"
JOB = """\
name = "reflinked"
[files]
size = "{size}"
[defaults]
time = "100ms"
size = "8k"
pattern = "random"
[[phase]]
test = "rows"
{more}
"""


@pytest.fixture(params=["xfs", "btrfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path, mounted: Mount) -> Path:
    """A directory on a file system with reflinks."""
    need(f"mkfs.{request.param}", "losetup")
    image = tmp_path / "image"
    image.write_bytes(b"")
    os.truncate(image, 340 * MIB)  # mkfs.xfs makes none below 300 MiB
    command(f"mkfs.{request.param}", "-q", *(["-m", "reflink=1"] if request.param == "xfs" else []), image)
    return mounted("mounted", "-o", "loop", image)


def _run(place: Path, more: str = "write = 100", size: str = "8MiB") -> subprocess.CompletedProcess[str]:
    job = place.parent / "job.toml"
    job.write_text(JOB.format(more=more, size=size))
    return iocast("run", job, place, "--out", place.parent / "runs", cwd=place.parent)


def _reflink(file: Path, to: Path, *options: str) -> str:
    """Copies it by reference; returns the digest of both."""
    command("cp", "--reflink=always", *options, file, to)
    return _digest(to)


def _digest(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes()).hexdigest()


def test_a_snapshot_keeps_its_bytes_and_writes_hit_blocks_of_the_work_file_alone(place: Path) -> None:
    assert _run(place).returncode == 0
    snapshot = place / "snapshot"
    before = _reflink(place / NAME, snapshot)
    assert survey(str(place / NAME)).shared_bytes == 8 * MIB
    again = _run(place)
    assert again.returncode == 0, again.stderr
    said = " ".join(again.stderr.split())
    assert f"{NAME} shares 8.0 MiB with a snapshot or a reflinked copy: it is laid out anew" in said
    assert _digest(snapshot) == before
    assert survey(str(place / NAME)).shared_bytes == 0
    assert "laid out anew" not in _run(place).stderr


def test_a_run_that_only_reads_leaves_the_sharing_alone(place: Path) -> None:
    assert _run(place).returncode == 0
    _reflink(place / NAME, place / "snapshot")
    done = _run(place, more="")
    assert done.returncode == 0, done.stderr
    assert "laid out anew" not in done.stderr
    assert survey(str(place / NAME)).shared_bytes == 8 * MIB


def test_blocks_of_a_snapshot_are_no_room_for_the_work_file(place: Path) -> None:
    """Of 340 MiB the work file has 150 and a snapshot the same: no second 150 are left, though all are "allocated"."""
    assert _run(place, size="150MiB").returncode == 0
    snapshot = place / "snapshot"
    before = _reflink(place / NAME, snapshot)
    command("fallocate", "-l", "60MiB", place / "others")
    free = os.statvfs(place).f_bavail
    refused = _run(place, size="150MiB")
    assert refused.returncode == 2
    assert "a work file of 150 MiB does not fit" in refused.stderr
    assert os.statvfs(place).f_bavail == free
    assert _digest(snapshot) == before


def test_a_users_file_that_was_reflinked_onto_our_name(place: Path) -> None:
    assert _run(place).returncode == 0
    users = place / "precious"
    users.write_bytes(os.urandom(8 * MIB))
    before = _reflink(users, place / NAME)  # into the file that iocast made
    refused = _run(place)
    assert refused.returncode == 2
    assert f"{NAME} was written to by another program since iocast left it" in refused.stderr
    assert _digest(place / NAME) == _digest(users) == before
    assert _reflink(users, place / NAME, "--remove-destination") == before  # in its place
    refused = _run(place)
    assert refused.returncode == 2
    assert f"{NAME} exists and was not created by iocast" in refused.stderr
    assert iocast("clean", place, cwd=place.parent).stdout == ""
    assert _digest(place / NAME) == _digest(users) == before

"""Trees on small file systems: inodes and space that run out are told as that, and everything can be removed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.command_line import iocast
from makers.rootly import Mount, command, need

JOB = 'name = "t"\n[tree]\ndepth = 1\nwidth = 4\nfiles = {files}\nsize = "{size}"\n[[phase]]\n{phase}\n'


def _made(tmp_path: Path, mounted: Mount, attach: Callable[..., str], mib: int, *maker: object) -> Path:
    """A file system of so many MiB, made by this command."""
    need(str(maker[0]))
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(mib << 20)
    device = attach(image)
    command(*maker, device)
    return mounted("fs", device)


def _ext4(tmp_path: Path, mounted: Mount, attach: Callable[..., str], inodes: int) -> Path:
    return _made(tmp_path, mounted, attach, 16, "mkfs.ext4", "-q", "-N", inodes)


def _cleaned(tmp_path: Path, place: Path) -> set[str]:
    """What is there when the tree has been removed."""
    done = iocast("clean", place, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return {path.name for path in place.iterdir()} - {"lost+found"}


def _run(tmp_path: Path, place: Path, files: int, size: str, phase: str) -> tuple[int, str]:
    (tmp_path / "job.toml").write_text(JOB.format(files=files, size=size, phase=phase))
    done = iocast("run", "job.toml", place, "--out", "runs", "--json", cwd=tmp_path)
    return done.returncode, done.stderr + done.stdout


def test_more_files_than_inodes_are_refused_before_anything_is_made(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str]
) -> None:
    place = _ext4(tmp_path, mounted, attach, 128)
    code, said = _run(tmp_path, place, 100, "0", 'operations = "stat"\npasses = 1')
    assert code
    assert "the tree needs 405 inodes" in said
    assert "mkfs.ext4 -N" in said
    assert {path.name for path in place.iterdir()} == {"lost+found"}


def test_a_tree_that_was_written_to_is_still_ours(tmp_path: Path) -> None:
    """The second run took it up as if it were a file, whose end is noted; the third one took it for foreign."""
    place = tmp_path / "place"
    place.mkdir()
    for _ in range(3):
        code, said = _run(tmp_path, place, 4, "4k", 'operations = "write"\nsize = "4k"\npasses = 1')
        assert code == 0, said
    assert _cleaned(tmp_path, place) == set()


def test_what_is_mounted_on_a_directory_of_a_tree_is_not_of_the_tree(tmp_path: Path) -> None:
    """A bind mount has the device of the tree: what it shows was removed, where a copy had kept the modes."""
    need("mount")
    place, copy = tmp_path / "place", tmp_path / "copy"
    place.mkdir()
    code, said = _run(tmp_path, place, 4, "4k", 'operations = "stat"\npasses = 1')
    assert code == 0, said
    directory = place / "iocast-tree" / "d0"
    command("cp", "--archive", directory, copy)
    (copy / "f0").write_text("precious\n")
    before = {each.name: each.read_bytes() for each in copy.iterdir()}
    command("mount", "--bind", copy, directory)
    try:
        refused = iocast("clean", place, cwd=tmp_path)
        assert refused.returncode == 0 or "error" in refused.stderr
        _run(tmp_path, place, 4, "8k", 'operations = "write"\nsize = "4k"\npasses = 1')
        assert {each.name: each.read_bytes() for each in copy.iterdir()} == before
    finally:
        command("umount", directory)
    assert _cleaned(tmp_path, place) == set()


def test_inodes_that_run_out_while_files_are_made_are_told_and_counted(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str]
) -> None:
    place = _ext4(tmp_path, mounted, attach, 512)
    # The tree is there without its files; others take the inodes meanwhile.
    code, said = _run(tmp_path, place, 100, "0", 'operations = ["create", "unlink"]\npasses = 1')
    assert not code, said
    taken = place / "taken"
    taken.mkdir()
    free = int(command("stat", "-f", "-c", "%d", place))
    for number in range(free - 200):
        (taken / str(number)).touch()
    code, said = _run(tmp_path, place, 100, "0", 'operations = "create"\npasses = 1\nusers = 2')
    assert code == 0, said  # what was measured counts; the errors are in it
    assert "ENOSPC" in said, said
    assert "inodes" in said, said
    failed = json.loads(said[said.index("{") :])["errors"]
    assert failed[0]["op"] == "create"
    assert failed[0]["count"] >= 200
    assert _cleaned(tmp_path, place) == {"taken"}
    assert len(list(taken.iterdir())) == free - 200


def _take_all_but(place: Path, mib: tuple[int, ...]) -> None:
    """Takes the space, as much of it as the file system gives to one file: btrfs keeps some for itself."""
    left = os.statvfs(place)
    with (place / "taken").open("wb") as file:
        for each in mib:
            try:
                return os.posix_fallocate(file.fileno(), 0, left.f_bavail * left.f_frsize - (each << 20))
            except OSError:
                continue
    pytest.skip("the file system gives its space to nobody")


SMALL = {
    "ext4": (16, "mkfs.ext4", "-q", "-N", 2048),
    "xfs": (320, "mkfs.xfs", "-q"),
    "btrfs": (128, "mkfs.btrfs", "-q", "--mixed"),
}


@pytest.mark.parametrize("kind", SMALL)
def test_space_that_runs_out_leaves_no_half_a_file(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str], kind: str
) -> None:
    place = _made(tmp_path, mounted, attach, *SMALL[kind])
    code, said = _run(tmp_path, place, 10, "16k", 'operations = "create"\npasses = 1')
    assert code == 0, said
    _take_all_but(place, (2, 8, 24))
    code, said = _run(tmp_path, place, 10, "1MiB", 'operations = "create"\npasses = 1')
    assert code == 0, said
    errors = json.loads(said[said.index("{") :])["errors"]
    assert [(error["op"], error["error"]) for error in errors] == [("create", "ENOSPC")], errors
    sizes = {path.stat().st_size for path in (place / "iocast-tree").rglob("f*")}
    assert sizes <= {1 << 20}, "a file that could not be written whole is removed again"
    assert _cleaned(tmp_path, place) == {"taken"}


def test_the_inodes_of_xfs_are_a_share_of_its_space_and_run_out_too(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str]
) -> None:
    place = _made(tmp_path, mounted, attach, 320, "mkfs.xfs", "-q", "-i", "maxpct=1")
    code, said = _run(tmp_path, place, 3000, "0", 'operations = "stat"\npasses = 1')
    assert code, said
    assert "the tree needs 12,005 inodes" in said, said
    assert not list(place.iterdir())

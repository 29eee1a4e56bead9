"""Whether a place can trim is found out by trying, or from what the kernel says of a device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from makers.work_files import listing

from iocast.errors import TargetError
from iocast.load import trimming


def test_a_folder_that_punches_holes(tmp_path: Path) -> None:
    assert trimming.folder_refuses(str(tmp_path)) == ""
    assert listing(tmp_path) == []


def test_a_file_system_that_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trimming, "_PUNCH", 0x1 | 0x2 | 0x8)  # no such mode anywhere
    assert "cannot punch holes" in trimming.folder_refuses(str(tmp_path))
    monkeypatch.setattr(trimming, "_PUNCH", 0x1)  # allocates, and takes nothing away
    assert "the data is still there" in trimming.folder_refuses(str(tmp_path))
    assert listing(tmp_path) == []


def test_a_device_is_asked_and_a_partition_asks_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = os.stat("/dev/null").st_rdev
    name = f"{os.major(number)}:{os.minor(number)}"
    disk = tmp_path / "disk"
    (disk / "queue").mkdir(parents=True)
    (disk / "part").mkdir()
    monkeypatch.setattr(trimming, "SYSFS", tmp_path)
    for most, refused in (("0", True), ("1073741824", False)):
        (disk / "queue" / "discard_max_bytes").write_text(most + "\n")
        for place in (disk, disk / "part"):
            (tmp_path / name).symlink_to(place)
            assert bool(trimming.device_refuses("/dev/null")) == refused
            (tmp_path / name).unlink()
    assert "no discard support" in trimming.device_refuses("/dev/null")


def test_what_takes_the_name_of_the_trial_file_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs.dat"
    theirs.write_bytes(b"theirs" * 20_000)
    whole, held = theirs.read_bytes(), trimming.held_path

    def exchanged(path: str) -> str:
        os.rename(theirs, path)
        return held(path)

    monkeypatch.setattr(trimming, "held_path", exchanged)
    with pytest.raises(TargetError):
        trimming.folder_refuses(str(tmp_path))
    (left,) = (path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size == len(whole))
    assert left.read_bytes() == whole

"""Images and their mounts in a directory where others may rename: what they put in the way of iocast stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.rootly import need

from iocast.archive.writing.renaming import others_may_rename
from iocast.errors import IocastError, TargetError
from iocast.load import file_system_images as images

pytestmark = pytest.mark.device
MIB = 1 << 20
SIZE_BYTES = 16 * MIB
NOBODY = 65534


@pytest.fixture
def seen_by_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mounts stay in the namespace of the tests, which other tests use."""
    need("mount", "umount", "mkfs.ext4", "wipefs")
    monkeypatch.setattr(images, "_mount_alone", lambda: None)


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A file that must stay as it is."""
    file = tmp_path / "of_root"
    file.write_bytes(b"kept" * (SIZE_BYTES // 4))
    before = file.stat()
    yield file
    assert file.read_bytes() == b"kept" * (SIZE_BYTES // 4)
    assert file.stat().st_mtime_ns == before.st_mtime_ns


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of an unprivileged user."""
    need("losetup")
    place = tmp_path / "theirs"
    place.mkdir()
    os.chown(place, NOBODY, NOBODY)
    return place


def test_programs_that_format_keep_nothing_in_files_of_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    """mke2fs keeps what it overwrites in a file with the name of the device, over the one that is there."""
    monkeypatch.setenv("E2FSPROGS_UNDO_DIR", "/var/lib/e2fsprogs")
    monkeypatch.setenv("MKE2FS_CONFIG", "/etc/other.conf")
    assert "E2FSPROGS_UNDO_DIR=none" in images._run("env").splitlines()
    assert "MKE2FS_CONFIG" not in images._run("env")


def _swapped_around(step: Callable[..., Any], path: Path, to: Path, *, before: bool) -> Callable[..., Any]:
    """The step, and a link to another file in place of the image, just before it or after."""

    def swap() -> None:
        path.rename(path.with_name("aside"))
        path.symlink_to(to)

    def swapped(*given: object, **options: object) -> object:
        if before:
            swap()
        made = step(*given, **options)
        if not before:
            swap()
        return made

    return swapped


@pytest.mark.usefixtures("seen_by_all")
@pytest.mark.parametrize("before", [True, False], ids=["before it is filled", "before it is attached"])
def test_an_image_is_the_file_that_was_made(
    theirs: Path, victim: Path, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    image = Path(images.image_path(str(theirs)))
    monkeypatch.setattr(images, "_fill", _swapped_around(images._fill, image, victim, before=before))
    notes: list[IocastError] = []
    with images.loop_device(str(theirs), SIZE_BYTES, notes.append) as device:
        backing = Path(f"/sys/block/{Path(device).name}/loop/backing_file")
        assert backing.read_text().strip() == str(image.with_name("aside"))
        with images.file_system("ext4", device, str(theirs), notes.append) as place:
            Path(place, "written").write_bytes(b"x" * MIB)
        images.blank(device)
    assert not backing.exists()
    assert [note.message for note in notes] == [f"{image} is not the file that iocast created there"]
    assert image.is_symlink()


def test_an_image_that_is_replaced_as_soon_as_it_is_made_is_refused(
    theirs: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = Path(images.image_path(str(theirs)))
    monkeypatch.setattr(images, "create", _swapped_around(images.create, image, victim, before=False))
    notes: list[IocastError] = []
    with (
        pytest.raises(TargetError, match="was replaced while iocast made it"),
        images.loop_device(str(theirs), SIZE_BYTES, notes.append),
    ):
        pass
    assert len(notes) == 1


@pytest.mark.parametrize("configures", [images._LOOP_CONFIGURE, 0x4C7F], ids=["at once", "in the steps of Linux 5.7"])
def test_a_loop_device_goes_with_whoever_has_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configures: int
) -> None:
    need()
    monkeypatch.setattr(images, "_LOOP_CONFIGURE", configures)
    with images.loop_device(str(tmp_path), SIZE_BYTES) as device:
        loop = Path(f"/sys/block/{Path(device).name}/loop")
        assert (loop / "autoclear").read_text() == "1\n"
        assert (loop / "backing_file").read_text() == f"{tmp_path}/iocast-work.image.dat\n"
        assert Path(f"/sys/block/{Path(device).name}/ro").read_text() == "0\n"
        with open(device, "rb") as opened:
            assert opened.read(4096) != bytes(4096)
    assert not loop.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_device_over_another_file_is_refused_before_anything_is_written(
    theirs: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure = images._configure

    def other(handle: int, _: int) -> None:
        with victim.open("r+b") as file:
            configure(handle, file.fileno())

    monkeypatch.setattr(images, "_configure", other)
    with (
        pytest.raises(IocastError, match="stands on another file than the image: nothing was written to it"),
        images.loop_device(str(theirs), SIZE_BYTES),
    ):
        pass
    assert list(theirs.iterdir()) == []
    backings = Path("/sys/block").glob("loop*/loop/backing_file")
    assert str(victim) not in [backing.read_text().strip() for backing in backings]


@pytest.mark.usefixtures("seen_by_all")
def test_a_link_in_the_place_of_the_mount_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    link = tmp_path / "iocast-work.mount"
    said = "is a symbolic link, and iocast does not mount through links"
    images.check_mount_place(str(tmp_path))
    link.symlink_to(foreign)
    with pytest.raises(TargetError, match=said):
        images.check_mount_place(str(tmp_path))
    with (
        images.loop_device(str(tmp_path), SIZE_BYTES) as device,
        pytest.raises(TargetError, match=said) as refused,
        images.file_system("ext4", device, str(tmp_path)),
    ):
        pass
    assert refused.value.hint == "move it away, or give another directory"
    assert (list(foreign.iterdir()), link.is_symlink()) == ([], True)


def test_an_empty_directory_of_somebody_is_no_place_for_a_mount(tmp_path: Path) -> None:
    """It was taken, and removed afterwards with its owner and mode."""
    (tmp_path / "iocast-work.mount").mkdir()
    with pytest.raises(TargetError, match="was not created by iocast"):
        images.check_mount_place(str(tmp_path))
    (tmp_path / "iocast-work.mount").rmdir()
    images.make_place(str(tmp_path / "iocast-work.mount"))
    images.check_mount_place(str(tmp_path))


@pytest.mark.usefixtures("seen_by_all")
def test_where_others_may_rename_the_mount_is_elsewhere(theirs: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (theirs / "iocast-work.mount").symlink_to(foreign)
    with images.loop_device(str(theirs), SIZE_BYTES) as device:
        with images.file_system("ext4", device, str(theirs)) as place:
            assert Path(place).parent == Path("/run")
            assert os.stat(place).st_dev == os.stat(device).st_rdev
            Path(place, "written").write_bytes(b"x")
            assert list(foreign.iterdir()) == []
        assert not os.path.lexists(place)
    assert [each.name for each in theirs.iterdir()] == ["iocast-work.mount"]


@pytest.mark.usefixtures("seen_by_all")
def test_a_place_that_cannot_be_removed_hides_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[IocastError] = []
    with images.loop_device(str(tmp_path), SIZE_BYTES) as device:
        with images.file_system("ext4", device, str(tmp_path), notes.append) as place:
            run = images._run
            monkeypatch.setattr(
                images, "_run", lambda *words: (run(*words), Path(words[-1], "somebody's").touch(), "")[2]
            )
        monkeypatch.undo()
    assert [note.message for note in notes] == [f"cannot remove {place}: Directory not empty"]
    Path(place, "somebody's").unlink()
    Path(place).rmdir()


@pytest.mark.parametrize(
    ("owner", "mode", "alone"),
    [(0, 0o755, True), (0, 0o1777, True), (0, 0o777, False), (0, 0o775, False), (NOBODY, 0o755, False)],
)
def test_who_may_rename_is_asked_of_every_directory_above(tmp_path: Path, owner: int, mode: int, alone: bool) -> None:
    need()
    above = tmp_path / "above"
    below = above / "of_root"
    below.mkdir(parents=True)
    os.chown(above, owner, owner)
    above.chmod(mode)
    assert others_may_rename(above) != alone
    assert others_may_rename(below) != alone
    (tmp_path / "link").symlink_to(below)
    assert others_may_rename(tmp_path / "link")

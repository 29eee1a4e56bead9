"""A room for a while: nobody else can open it, and whoever takes its name gets nothing and loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from iocast.archive.writing import private_rooms
from iocast.archive.writing.held_folder import HeldFolder, make_folder
from iocast.archive.writing.private_rooms import private_room, sweep_rooms, temporary_room
from iocast.errors import ArchiveError


def test_a_room_is_private_and_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    with private_room(tmp_path, ".room-") as room:
        (made,) = tmp_path.iterdir()
        assert made.name.startswith(".room-")
        assert made.stat().st_mode & 0o777 == 0o700
        (room.place / "below").mkdir()
        (room.place / "below" / "file").write_bytes(b"x")
        (room.place / "link").symlink_to(tmp_path)
        assert (made / "below" / "file").exists()
    assert list(tmp_path.iterdir()) == []


def test_what_takes_its_name_gets_nothing_and_loses_nothing(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "kept").write_bytes(b"kept")
    with private_room(tmp_path, ".room-") as room:
        room.path.rename(tmp_path / "aside")
        room.path.symlink_to(foreign)
        (room.place / "file").write_bytes(b"x")
        assert (tmp_path / "aside" / "file").exists()
    assert [each.name for each in foreign.iterdir()] == ["kept"]
    assert list((tmp_path / "aside").iterdir()) == []
    assert room.path.is_symlink()


@pytest.mark.parametrize("put", ["a link", "a folder with files"])
def test_what_is_put_in_its_place_while_it_is_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: str
) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "kept").write_bytes(b"kept")
    made = os.mkdir

    def swapped(name: str, mode: int, *, dir_fd: int) -> None:
        made(name, mode, dir_fd=dir_fd)
        (tmp_path / name).rmdir()
        if put == "a link":
            (tmp_path / name).symlink_to(foreign)
        else:
            foreign.rename(tmp_path / name)

    def make(above: HeldFolder, name: str, *, private: bool) -> HeldFolder:
        with monkeypatch.context() as patched:
            patched.setattr(os, "mkdir", swapped)
            return make_folder(above, name, private=private)

    monkeypatch.setattr(private_rooms, "make_folder", make)
    with pytest.raises(ArchiveError, match="cannot make a folder in"), private_room(tmp_path, ".room-"):
        pass
    assert len(list(tmp_path.glob("*/kept"))) >= 1


def test_a_room_whose_process_was_killed_is_removed_by_the_next_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = (
        "import os, signal; from iocast.archive.writing.private_rooms import temporary_room\n"
        "with temporary_room('.room-') as room:\n"
        "    (room.place / 'below').mkdir(); (room.place / 'below' / 'file').write_bytes(b'x')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    (dead,) = tmp_path.iterdir()
    foreign = tmp_path / ".room-0123456789abcdef"  # of such a name, but iocast did not make it
    foreign.mkdir()
    with temporary_room(".room-") as alive:
        sweep_rooms(".room-")
        assert not dead.exists()
        assert alive.path.exists()
        assert foreign.exists()

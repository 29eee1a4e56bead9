"""Files get their names when they are whole, and in place of nothing but what was looked at."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from makers import proofs

from iocast.archive.writing import renaming, whole_files
from iocast.archive.writing.whole_files import NameTaken, growing, remove_leftover, remove_leftovers, status_of


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """The descriptor of an empty folder."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(params=["nameless", "named"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With O_TMPFILE and renameat2, and as file systems are that have neither."""
    if request.param == "named":
        opened = os.open

        def without_nameless(path: str, flags: int, *rest: int, **more: int) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, "not here")
            return opened(path, flags, *rest, **more)

        monkeypatch.setattr(whole_files.os, "open", without_nameless)
        monkeypatch.setattr(renaming, "_renameat2", lambda *_: errno.EINVAL)


@pytest.mark.usefixtures("file_system")
class TestNames:
    """A file with and without a name while it grows."""

    def put(self, folder: int, text: bytes) -> None:
        with growing(folder, "notes") as file:
            os.write(file.descriptor, text)
            file.take_name(status_of(folder, "notes"))

    def test_a_file_is_made_and_replaced(self, folder: int, tmp_path: Path) -> None:
        self.put(folder, b"one")
        self.put(folder, b"other")
        assert os.listdir(tmp_path) == ["notes"]
        assert (tmp_path / "notes").read_bytes() == b"other"
        assert not os.listxattr(tmp_path / "notes")

    @pytest.mark.parametrize("former", [b"one", None])
    def test_what_took_the_growing_name_does_not_get_the_name_of_the_file(
        self, folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, former: bytes | None
    ) -> None:
        """Whoever may rename in the folder could have any file of it renamed to the output's name."""
        if former is not None:
            self.put(folder, former)
        (tmp_path / "theirs").write_bytes(b"theirs")

        def swap(call: Callable[..., object]) -> Callable[..., object]:
            def swapped(*words: object) -> object:
                if (tmp_path / "theirs").exists():
                    (growing_name,) = tmp_path.glob(".notes.*")
                    growing_name.rename(tmp_path / "aside")
                    (tmp_path / "theirs").rename(growing_name)
                return call(*words)

            return swapped

        monkeypatch.setattr(whole_files, "exchange", swap(whole_files.exchange))
        monkeypatch.setattr(whole_files, "rename_to_free_name", swap(whole_files.rename_to_free_name))
        with contextlib.suppress(NameTaken):
            self.put(folder, b"other")
        kept = [each.read_bytes() for each in tmp_path.glob(".notes.*")]
        if kept or (tmp_path / "aside").exists():  # else it never had a growing name
            assert kept == [b"theirs"]
            assert ((tmp_path / "notes").read_bytes() if former else status_of(folder, "notes")) == former

    def test_what_was_not_finished_is_gone(self, folder: int, tmp_path: Path) -> None:
        with growing(folder, "notes") as file:
            os.write(file.descriptor, b"half")
        assert not os.listdir(tmp_path)

    def test_what_takes_a_free_name_meanwhile_stays(self, folder: int, tmp_path: Path) -> None:
        with growing(folder, "notes") as file:
            (tmp_path / "notes").write_text("theirs")
            with pytest.raises(NameTaken):
                file.take_name(None)
        assert (tmp_path / "notes").read_text() == "theirs"
        assert os.listdir(tmp_path) == ["notes"]

    def test_what_takes_the_place_of_the_former_one_stays(self, folder: int, tmp_path: Path) -> None:
        self.put(folder, b"ours")
        former = status_of(folder, "notes")
        (tmp_path / "notes").rename(tmp_path / "moved")
        (tmp_path / "notes").write_text("theirs")
        with growing(folder, "notes") as file, pytest.raises(NameTaken):
            file.take_name(former)
        assert (tmp_path / "notes").read_text() == "theirs"
        assert sorted(os.listdir(tmp_path)) == ["moved", "notes"]

    def test_a_link_that_takes_the_name_is_not_followed(self, folder: int, tmp_path: Path) -> None:
        (tmp_path / "victim").write_text("keep")
        with growing(folder, "notes") as file:
            (tmp_path / "notes").symlink_to("victim")
            with pytest.raises(NameTaken):
                file.take_name(None)
        assert (tmp_path / "victim").read_text() == "keep"


def test_between_the_look_and_the_rename_nothing_is_lost(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last moment: names change places, and change back where the other one was not meant."""
    (tmp_path / "notes").write_text("ours")
    exchange = whole_files.exchange

    def swapped(at: int, one: str, other: str) -> bool:
        monkeypatch.setattr(whole_files, "exchange", exchange)
        (tmp_path / "notes").unlink()
        (tmp_path / "notes").write_text("theirs")
        return exchange(at, one, other)

    monkeypatch.setattr(whole_files, "exchange", swapped)
    with growing(folder, "notes") as file, pytest.raises(NameTaken):
        file.take_name(status_of(folder, "notes"))
    assert os.listdir(tmp_path) == ["notes"]
    assert (tmp_path / "notes").read_text() == "theirs"


LEFT = ".card.html.0a1b2c3d.new"


def _leftover(folder: Path, name: str = LEFT) -> Path:
    path = folder / name
    path.write_text("half")
    proofs.growing(path)
    return path


def test_a_leftover_among_files_of_others_is_known_by_its_mark(folder: int, tmp_path: Path) -> None:
    _leftover(tmp_path)
    (tmp_path / ".card.html.ffffffff.new").write_text("mine")
    remove_leftovers(folder, "card.html")
    assert os.listdir(tmp_path) == [".card.html.ffffffff.new"]


def test_what_another_process_is_writing_is_left_alone(folder: int, tmp_path: Path) -> None:
    path = _leftover(tmp_path)
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        remove_leftovers(folder, "card.html")
        assert path.exists()


def test_a_link_a_second_name_and_a_pipe_are_no_leftovers(folder: int, tmp_path: Path) -> None:
    victim = _leftover(tmp_path, "victim")
    (tmp_path / "link").symlink_to(victim)
    os.link(victim, tmp_path / "second")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "second", "pipe"):
        remove_leftover(folder, name)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe", "second", "victim"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a file of another user")
def test_a_file_of_another_user_is_left_alone(folder: int, tmp_path: Path) -> None:
    os.chown(path := _leftover(tmp_path), 1234, 1234)
    remove_leftover(folder, LEFT)
    assert path.read_text() == "half"

"""A file that a person named: what iocast did not make stays, its own is replaced, and it is whole or as it was."""

from __future__ import annotations

import errno
import os
import stat
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from makers import proofs
from makers.rootly import need

from iocast.archive.writing import named_outputs
from iocast.archive.writing.named_outputs import check_output, is_own, put_output
from iocast.errors import ArchiveError

PAGE = b'<!doctype html>\n<html><head><meta charset="utf-8">\n<meta name="generator" content="iocast 0.1">'
DOCUMENT = b'{\n  "kind": "card",\n  "schema_version": 1,\n  "title": "card quick"\n}\n'


def test_a_new_file_is_there_whole_and_nothing_else_is(tmp_path: Path) -> None:
    put_output(tmp_path / "rows.csv", b"a,b\n")
    assert (tmp_path / "rows.csv").read_bytes() == b"a,b\n"
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_its_own_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    put_output(path, b"one\n")
    path.chmod(0o600)
    put_output(path, b"two\n")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two\n", 0o600)
    assert is_own(path)


@pytest.mark.parametrize("content", [b"", b"mine\n", b'{"kind": "card"}', b"<!doctype html>\n<p>mine"])
def test_what_iocast_did_not_make_stays_without_force(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "card.html"
    path.write_bytes(content)
    for refused in (lambda: check_output(path), lambda: put_output(path, b"new")):
        with pytest.raises(ArchiveError, match="exists, and iocast did not make it") as why:
            refused()
        assert "--force" in why.value.hint
    assert path.read_bytes() == content
    put_output(path, b"new", force=True)
    assert path.read_bytes() == b"new"


def test_what_was_changed_since_stays_without_force(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    put_output(path, b"one\n", "--to")
    with path.open("a") as file:
        file.write("two\n")
    with pytest.raises(ArchiveError, match="was changed after iocast wrote it") as why:
        put_output(path, b"new", "--to")
    assert "name another file with --to" in why.value.hint
    assert path.read_text() == "one\ntwo\n"


@pytest.mark.parametrize("content", [PAGE, DOCUMENT, b"a,b\n"])
def test_without_attributes_nothing_says_whose_a_file_is(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invoices of others begin as our documents do, and a page of ours may have the remarks of somebody in it."""
    path = tmp_path / "file"
    path.write_bytes(content)
    assert not is_own(path), "the file system has attributes, and this file has none: an editor or a copy made it"

    def unsupported(*_: object) -> bytes:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "getxattr", unsupported)
    assert not is_own(path)
    with pytest.raises(ArchiveError, match="keeps no attributes that would tell") as why:
        put_output(path, b"new")
    assert "--force" in why.value.hint
    assert path.read_bytes() == content
    put_output(path, b"new", force=True)
    assert path.read_bytes() == b"new"


def test_a_page_that_an_editor_made_anew_stays_without_force(tmp_path: Path) -> None:
    """`sed -i` writes another file, without our attribute: its notes were lost."""
    path = tmp_path / "card.html"
    put_output(path, PAGE, "-o")
    edited = path.read_bytes() + b"<p>my notes</p>"
    path.unlink()
    path.write_bytes(edited)
    with pytest.raises(ArchiveError, match="exists, and iocast did not make it"):
        put_output(path, b"new", "-o")
    assert path.read_bytes() == edited


def test_no_link_is_followed_even_with_force(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("keep\n")
    for name, to in (("there", other), ("nowhere", tmp_path / "nothing")):
        (tmp_path / name).symlink_to(to)
        for force in (False, True):
            with pytest.raises(ArchiveError, match="is a symbolic link"):
                put_output(tmp_path / name, b"new", force=force)
    assert other.read_text() == "keep\n"
    assert sorted(os.listdir(tmp_path)) == ["nowhere", "other", "there"]


def test_what_a_killed_iocast_left_is_removed_by_the_next_of_that_name(tmp_path: Path) -> None:
    left = tmp_path / ".card.csv.0a1b2c3d.new"
    left.write_text("half")
    proofs.growing(left)
    others = ("card.csv.new", ".card.csv.iocast.new", ".card.csv.ffffffff.new")  # iocast had the second for itself
    for name in others:
        (tmp_path / name).write_text("mine")
    put_output(tmp_path / "card.csv", b"rows")
    assert sorted(os.listdir(tmp_path)) == sorted(["card.csv", *others])
    assert {(tmp_path / name).read_text() for name in others} == {"mine"}


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is a directory"):
        put_output(tmp_path, b"new", force=True)


def test_a_pipe_and_the_null_device_get_the_bytes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    put_output(pipe, b"through\n")
    reader.join()
    assert got == [b"through\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    put_output(Path(os.devnull), b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_takes_the_place_of_a_pipe_after_the_look_gets_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, theirs = tmp_path / "pipe", tmp_path / "theirs"
    os.mkfifo(pipe)
    theirs.write_bytes(b"theirs")
    looked = named_outputs._former

    def swapped(*words: Any) -> os.stat_result | None:
        former = looked(*words)
        pipe.rename(tmp_path / "aside")
        theirs.rename(pipe)
        return former

    monkeypatch.setattr(named_outputs, "_former", swapped)
    with pytest.raises(ArchiveError, match="was made by another program while iocast wrote"):
        put_output(pipe, b"new")
    assert pipe.read_bytes() == b"theirs"


def test_a_place_that_is_missing_is_named_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"cannot write .*/no/card\.csv: No such file or directory"):
        check_output(tmp_path / "no" / "card.csv")


def test_what_came_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program takes the name after the look: before, a rename replaced its file."""
    for before in (None, b"ours"):
        path = tmp_path / f"card-{before is None}.csv"
        if before is not None:
            put_output(path, before)

        def write_meanwhile(descriptor: int, data: bytes, path: Path = path) -> None:
            theirs = path.with_name("theirs")
            theirs.write_bytes(b"theirs")
            os.replace(theirs, path)

        with monkeypatch.context() as patched:
            patched.setattr(named_outputs, "write_all", write_meanwhile)
            with pytest.raises(ArchiveError, match="was made by another program while iocast wrote"):
                put_output(path, b"new")
        assert path.read_bytes() == b"theirs"


def test_a_write_that_fails_leaves_the_former_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "card.csv"
    put_output(path, b"one")

    def full(descriptor: int, data: bytes) -> None:
        os.write(descriptor, data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(named_outputs, "write_all", full)
    with pytest.raises(ArchiveError, match=r"cannot write .*card.csv: No space left on device"):
        put_output(path, b"two")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"one", ["card.csv"])


def _access_list(user: int) -> bytes:
    """As `setfacl` sets it: the owner and one more user read and write, the group and others have no access."""
    entries = [(0x01, 6, -1), (0x02, 6, user), (0x04, 0, -1), (0x10, 6, -1), (0x20, 0, -1)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def test_a_replaced_file_keeps_its_access_list(tmp_path: Path) -> None:
    """The mode of a file with a list shows the most that it gives, not what its group may do."""
    path = tmp_path / "rows.csv"
    put_output(path, b"one\n")
    try:
        os.setxattr(path, "system.posix_acl_access", _access_list(1234))
    except OSError:
        pytest.skip("this file system keeps no access lists")
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    put_output(path, b"two\n")
    assert os.getxattr(path, "system.posix_acl_access") == _access_list(1234)
    assert path.read_bytes() == b"two\n"


def test_where_the_access_list_cannot_be_kept_nobody_gains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    put_output(path, b"one\n")
    try:
        os.setxattr(path, "system.posix_acl_access", _access_list(1234))
    except OSError:
        pytest.skip("this file system keeps no access lists")
    set_attribute = os.setxattr

    def refuse(place: int, name: str, value: bytes) -> None:
        if name == "system.posix_acl_access":
            raise OSError(errno.ENOTSUP, "no lists here")
        set_attribute(place, name, value)

    monkeypatch.setattr("iocast.archive.writing.whole_files.os.setxattr", refuse)
    put_output(path, b"two\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_device_that_may_keep_data_needs_force(tmp_path: Path) -> None:
    """A tape, or the memory of a board, as a character device."""
    need("true")
    tape = tmp_path / "tape"
    os.mknod(tape, stat.S_IFCHR | 0o600, os.makedev(9, 0))
    with pytest.raises(ArchiveError, match="is a device that keeps data"):
        check_output(tape)
    null = tmp_path / "null"
    os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    put_output(null, b"gone")

"""A mark counts only when it is the caller's or root's, names the very file, and says everything."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers.work_files import MIB, lay, plan

from iocast import load
from iocast.errors import TargetError
from iocast.load.filling import create
from iocast.load.marks import identity, made_here, mark_path, read_mark
from iocast.load.work_files import WorkFile, own_file

SOMEBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")


def forged(path: Path, **changes: object) -> None:
    """The mark that a file at `path` would have if iocast had made it, with changes."""
    descriptor = os.open(path, os.O_RDONLY)
    inode, generation = identity(descriptor)
    os.close(descriptor)
    said = {"made_by": "iocast", "size_bytes": 2 * MIB, "whole": True, "inode": inode, "generation": generation}
    Path(mark_path(str(path))).write_text(json.dumps({**said, **changes}))


def refused(path: Path) -> None:
    """Neither written to nor removed."""
    held = path.read_bytes()
    assert not own_file(str(path))
    with pytest.raises(TargetError):
        load.clean(str(path))
    assert load.clean(str(path.parent)).removed == ()
    with pytest.raises(TargetError):
        create(WorkFile(str(path), MIB, fill=True))
    assert path.read_bytes() == held


@needs_root
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_a_mark_of_another_user_is_not_believed(tmp_path: Path, mode: int) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    private = shared / "x.dat"
    private.write_bytes(b"private")
    forged(private)
    assert made_here(str(private)) is not None, "root's own mark of this very file counts"
    os.chown(mark_path(str(private)), SOMEBODY, SOMEBODY)
    assert read_mark(str(private)) is None
    refused(private)


@needs_root
def test_an_empty_mark_of_another_user_is_no_trace_of_a_kill(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    mark = tmp_path / "iocast-work.0.dat.iocast"
    mark.touch()
    os.chown(mark, SOMEBODY, SOMEBODY)
    with pytest.raises(TargetError, match="not an iocast mark"):
        create(WorkFile(str(tmp_path / "iocast-work.0.dat"), MIB, fill=True))
    assert load.clean(str(tmp_path)).removed == ()


def test_a_mark_without_its_generation_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(b"private")
    forged(path)
    if json.loads(Path(mark_path(str(path))).read_bytes())["generation"] is None:
        pytest.skip("this file system keeps no generations")
    forged(path, generation=None)
    refused(path)


def test_a_mark_that_names_no_file_is_not_believed_of_an_older_one(tmp_path: Path) -> None:
    """An empty file may be a lock of somebody: the mark must have been there first, as iocast writes it first."""
    path = tmp_path / "x.dat"
    path.touch()
    os.utime(path, (1, 1))
    forged(path, inode=None, generation=None)
    refused(path)


@needs_root
def test_where_others_can_put_files_a_mark_that_names_none_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "x.dat"
    path.touch()
    forged(path, inode=None, generation=None, whole=False)
    os.utime(path)
    assert made_here(str(path)) is not None
    tmp_path.chmod(0o777)
    refused(path)
    tmp_path.chmod(0o1777)
    assert made_here(str(path)) is not None
    os.chown(path, SOMEBODY, SOMEBODY)
    refused(path)


def test_a_moved_mark_does_not_make_another_file_ours(tmp_path: Path) -> None:
    lay(plan(tmp_path))
    private = tmp_path / "private.dat"
    private.write_bytes(b"private")
    (tmp_path / "iocast-work.0.dat.iocast").rename(mark_path(str(private)))
    refused(private)

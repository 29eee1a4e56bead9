"""Holes and unwritten extents are seen, to the block, by whatever the file system offers."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iocast.load.extents import survey

BLOCK = 4096


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=st.lists(st.booleans(), min_size=1, max_size=40))
def test_every_hole_is_counted(tmp_path: Path, written: list[bool]) -> None:
    file = tmp_path / "file"
    file.unlink(missing_ok=True)
    with open(file, "wb") as out:
        for number, full in enumerate(written):
            if full:
                os.pwrite(out.fileno(), os.urandom(BLOCK), number * BLOCK)
        os.truncate(out.fileno(), len(written) * BLOCK)
    extents = survey(str(file))
    assert extents.size_bytes == len(written) * BLOCK
    assert extents.hole_bytes == written.count(False) * BLOCK
    assert extents.whole == all(written)


def _without_fiemap(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(fcntl, "ioctl", refused)


@pytest.mark.parametrize(("layout", "holes"), [("X", 0), ("X.X", 1), (".X", 1), ("X..", 2), ("..", 2)])
def test_seek_hole_where_there_is_no_fiemap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, holes: int
) -> None:
    file = tmp_path / "file"
    with open(file, "wb") as out:
        for number, sign in enumerate(layout):
            if sign == "X":
                os.pwrite(out.fileno(), os.urandom(BLOCK), number * BLOCK)
        os.truncate(out.fileno(), len(layout) * BLOCK)
    _without_fiemap(monkeypatch)
    extents = survey(str(file))
    assert extents.method == "SEEK_HOLE"
    assert "FIEMAP is not supported here" in extents.why_not
    assert extents.hole_bytes == holes * BLOCK


def test_allocated_but_unwritten_is_not_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    subprocess.run(["fallocate", "-l", "1M", file], check=True)
    extents = survey(str(file))
    if extents.method != "FIEMAP":
        pytest.skip(f"only FIEMAP sees unwritten extents: {extents.why_not}")
    assert (extents.hole_bytes, extents.unwritten_bytes) == (0, 1 << 20)

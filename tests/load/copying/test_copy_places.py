"""The source of a copy: the same file from its first look to its last, whatever the file system does with its room."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from iocast.errors import TargetError
from iocast.load.copy_places import find_source, open_source


def test_room_that_a_file_system_lays_out_later_is_no_change(tmp_path: Path) -> None:
    """A file that was written a moment ago gets its blocks when the kernel writes it back."""
    path = tmp_path / "source"
    path.write_bytes(os.urandom(1 << 16))
    source = find_source(str(path))
    before_written_back = replace(source, allocated_bytes=source.allocated_bytes + 4096)
    os.close(open_source(before_written_back))


def test_other_contents_are_a_change(tmp_path: Path) -> None:
    path = tmp_path / "source"
    path.write_bytes(b"one")
    source = find_source(str(path))
    os.utime(path, ns=(0, 0))
    with pytest.raises(TargetError, match="was changed during the copies"):
        open_source(source)

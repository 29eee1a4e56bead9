"""A folder that was not there: by time and name, numbered within a second, refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.archive.writing import fresh_folders
from iocast.archive.writing.fresh_folders import fresh_folder
from iocast.errors import ArchiveError


def test_folders_of_one_second_are_numbered_and_names_are_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh_folders.time, "strftime", lambda _: "then")
    made = [fresh_folder(tmp_path / "out", "copy of /data:1").name for _ in range(3)]
    assert made == ["then-copy-of--data-1", "then-copy-of--data-1-2", "then-copy-of--data-1-3"]
    assert fresh_folder(tmp_path, "").name == "then-unnamed"


def test_a_place_that_cannot_have_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ArchiveError, match=r"cannot create a folder in .*/file"):
        fresh_folder(tmp_path / "file", "a")

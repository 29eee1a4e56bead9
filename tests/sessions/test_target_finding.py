"""A path as a person gives it becomes a target."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import TargetError
from iocast.sessions.target_finding import find_target


def test_a_file_to_be_made_stands_on_its_directory(tmp_path: Path) -> None:
    target = find_target(str(tmp_path / "new.dat"))
    assert (target.kind, target.path, target.size_bytes) == ("file", str(tmp_path / "new.dat"), None)
    assert target.filesystem == find_target(str(tmp_path)).filesystem


def test_a_path_that_looks_like_a_directory_misspelt_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(TargetError) as refused:
        find_target(str(tmp_path / "mnt"))
    assert (refused.value.message, refused.value.hint) == (
        f"{tmp_path}/mnt does not exist",
        f"check the path; a new work file needs a suffix, such as {tmp_path}/mnt.dat",
    )


def test_a_run_folder_is_no_storage(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert find_target(str(tmp_path)).kind == "directory"  # of others: a run has a summary or rows too
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(TargetError, match="is a run folder") as refused:
        find_target(str(tmp_path))
    assert "iocast diagnose --for" in str(refused.value.hint)

"""Immutable and append-only files are told, where the file system has such attributes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from makers.rootly import command, need

from iocast.errors import TargetError
from iocast.load.file_attributes import fixed, refuse_fixed


@pytest.mark.parametrize(("letter", "what"), [("i", "immutable"), ("a", "append-only")])
def test_it_is_named_with_the_way_out(tmp_path: Path, letter: str, what: str) -> None:
    need("chattr")
    file = tmp_path / "x.dat"
    file.touch()
    command("chattr", f"+{letter}", file)
    try:
        assert fixed(str(file)) == (what, letter)
        with pytest.raises(TargetError, match=f"is {what}") as refused:
            refuse_fixed(str(tmp_path), str(file))
        assert refused.value.hint.startswith(f"chattr -{letter} ")
    finally:
        subprocess.run(["chattr", f"-{letter}", str(file)], check=True)
    refuse_fixed(str(file))


def test_what_has_none_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path / "link", tmp_path / "absent", Path("/proc/self/status")):
        assert fixed(str(path)) == ("", "")

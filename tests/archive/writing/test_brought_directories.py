"""Directories that were missing go again when nothing came of a verb: those that iocast made, and no others."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from iocast.archive.writing.growing_folders import growing_folder
from iocast.errors import SpecError
from iocast.sessions.comparing import group_folder


def fail(base: Path) -> None:
    """A verb that ends before its folder has a name."""
    with pytest.raises(SpecError), growing_folder(base, ["run"], private=False):
        raise SpecError("not this trace", "another one")


def comparing(base: Path) -> None:
    """One whose group stays empty."""
    with group_folder(str(base), "ab"):
        pass


VERBS = pytest.mark.parametrize("verb", [fail, comparing])


@VERBS
def test_what_was_made_goes_with_the_folder(tmp_path: Path, verb: Callable[[Path], None]) -> None:
    (tmp_path / "there").mkdir()
    verb(tmp_path / "there" / "two" / "three")
    assert [each.name for each in tmp_path.rglob("*")] == ["there"]


@VERBS
def test_what_is_in_use_meanwhile_stays(tmp_path: Path, verb: Callable[[Path], None]) -> None:
    with growing_folder(tmp_path / "one" / "two", ["run"], private=False):
        verb(tmp_path / "one" / "two")
        verb(tmp_path / "one" / "three")
    assert [each.name for each in (tmp_path / "one").iterdir()] == ["two"]


@VERBS
def test_what_another_program_made_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: Callable[[Path], None]
) -> None:
    made, base = os.mkdir, tmp_path / "results"

    def meanwhile(name: Any, mode: int = 0o777, **more: Any) -> None:
        if os.path.basename(name) == "results" and not base.exists():
            made(base, 0o750)
        made(name, mode, **more)

    monkeypatch.setattr(os, "mkdir", meanwhile)
    verb(base)
    assert base.is_dir()


@VERBS
def test_an_older_directory_that_takes_the_place_of_ours_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: Callable[[Path], None]
) -> None:
    made, base, theirs = os.mkdir, tmp_path / "results", tmp_path / "theirs"
    theirs.mkdir()
    os.utime(theirs, ns=(0, 10**18))

    def swapped(name: Any, mode: int = 0o777, **more: Any) -> None:
        made(name, mode, **more)
        if os.path.basename(name) == "results" and theirs.exists():
            base.rename(tmp_path / "aside")
            theirs.rename(base)

    monkeypatch.setattr(os, "mkdir", swapped)
    verb(base)
    assert base.is_dir()


@VERBS
def test_what_somebody_took_over_meanwhile_stays(tmp_path: Path, verb: Callable[[Path], None]) -> None:
    """It was to hold one run, and has another mode by now: it is used for more."""
    made: Any = os.mkdir
    base = tmp_path / "runs"
    with pytest.MonkeyPatch.context() as patch:

        def mkdir(name: str, *arguments: Any, **more: Any) -> None:
            made(name, *arguments, **more)
            if base.exists() and base.stat().st_mode & 0o7777 != 0o2770 and name != base.name:
                base.chmod(0o2770)

        patch.setattr(os, "mkdir", mkdir)
        verb(base)
    assert base.exists()

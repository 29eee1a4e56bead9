"""A kernel file held open: read whole, again from its start, closed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.observe import counter_file
from iocast.observe.counter_file import CounterFile


def test_it_is_read_whole_however_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter_file, "_CHUNK_BYTES", 7)
    path = tmp_path / "counters"
    path.write_text("one 1\ntwo 2\nthree 3\n")
    file = CounterFile(str(path))
    assert file.read() == "one 1\ntwo 2\nthree 3\n"
    path.write_text("one 9\n")
    assert file.read() == "one 9\n"
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.read()


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        CounterFile(str(tmp_path / "none"))

"""`iocast note` keeps words and tags beside a run; `iocast runs` shows them and lists by them."""

from __future__ import annotations

import json
from pathlib import Path

from makers import card_runs
from makers.command_line import iocast

from iocast.archive import RunFolder


def test_a_note_is_kept_shown_and_found(tmp_path: Path) -> None:
    for _ in range(2):
        RunFolder.create(str(tmp_path / "iocast-runs"), card_runs.quick_card())
    noted = iocast("note", "last", "new firmware", "--tag", "prod", "--json", cwd=tmp_path)
    assert json.loads(noted.stdout) == {"note": "new firmware", "tags": ["prod"]}
    listed = iocast("runs", "--tag", "prod", "--json", cwd=tmp_path)
    (line,) = json.loads(listed.stdout)["runs"]
    assert (line["note"], line["tags"]) == ("new firmware", ["prod"])
    assert "tags" in iocast("runs", cwd=tmp_path).stdout
    assert iocast("note", "last", "", "--untag", "prod", cwd=tmp_path).stdout == ""
    empty = iocast("runs", "--tag", "prod", "--match", "x", cwd=tmp_path)
    assert empty.stdout == ""
    assert empty.stderr.startswith('no run in iocast-runs has --match "x" and --tag prod')
    refused = iocast("note", "last", "--untag", "prod", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "it has no tags" in refused.stderr

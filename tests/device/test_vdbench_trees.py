"""A vdbench parameter file of a tree, run on a real directory: counts are exact, names are removed again."""

from __future__ import annotations

import json
import os
from pathlib import Path

from makers.command_line import iocast

FILE = """\
fsd=fsd1,anchor=/nowhere,depth=2,width=2,files=5,size=8k
fwd=fwd1,fsd=fsd1,operation=getattr,threads=2,xfersize=4k,fileio=sequential
rd=made,fwd=fwd1,fwdrate=max,format=yes,elapsed=1,operation=getattr
rd=rates,fwd=fwd1,fwdrate=200,elapsed=1,interval=1,operations=(read,write)
rd=gone,fwd=fwd1,fwdrate=max,elapsed=5,operations=(mkdir,rmdir,open,close,setattr,delete)
rd=clean,fwd=fwd1,fwdrate=max,format=clean,elapsed=1
"""
FILES = 20


def test_every_operation_runs_on_a_real_directory(tmp_path: Path) -> None:
    (tmp_path / "tree.vdb").write_text(FILE)
    place = tmp_path / "place"
    place.mkdir()
    done = iocast("run", "tree.vdb", place, "--json", "--time", "300ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["phase"]: row for row in json.loads(done.stdout)["rows"]}
    assert set(rows) == {
        *("made format", "made operation=getattr max", "rates operation=read @200/s", "rates operation=write @200/s"),
        *(f"gone operation={each} max" for each in ("mkdir", "rmdir", "open", "close", "setattr", "delete")),
        "clean clean",
    }
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    phases = {
        each["phase"]["name"]: each["measurement"] for each in json.loads((folder / "run.json").read_text())["phases"]
    }
    counted = {name: sum(op["ios"] for op in each["ops"]) for name, each in phases.items() if "ops" in each}
    assert counted["made format"] == counted["gone operation=delete max"] == counted["clean clean"] == FILES
    assert not any(each.get("errors") for each in phases.values())
    flat = iocast("report", folder, "--format", "flatfile", cwd=tmp_path).stdout
    assert "made_format" in flat
    cleaned = iocast("clean", place, cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stderr
    assert [name for _, names, files in os.walk(place) for name in (*names, *files)] == []

"""A vdbench parameter file of a tree, run on a real directory: counts are exact, names are removed again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers.command_line import iocast

from iocast import archive

pytestmark = pytest.mark.alone

FILE = """\
fsd=fsd1,anchor=/nowhere,depth=2,width=2,files=5,size=8k
fwd=fwd1,fsd=fsd1,operation=getattr,threads=2,xfersize=4k,fileio=sequential
rd=made,fwd=fwd1,fwdrate=max,format=yes,elapsed=1,operation=getattr
rd=rates,fwd=fwd1,fwdrate=200,elapsed=1,interval=1,foroperations=(read,write)
rd=gone,fwd=fwd1,fwdrate=max,elapsed=5,foroperations=(mkdir,rmdir,open,close,setattr,delete)
rd=clean,fwd=fwd1,fwdrate=max,format=clean,elapsed=1
"""
FILES = 20
# Two trees at once, a third one in loops: (directories, files) 1 x 3, 1 x 4, then 1 x 2 and 2 x 2.
SEVERAL = """\
fsd=fsd1,anchor=/a,depth=1,width=1,files=3
fsd=fsd2,anchor=/b,depth=1,width=1,files=4
fwd=names,fsd=fsd*,operation=getattr,threads=2
fwd=own,fsd=fsd1,operation=getattr
rd=both,fwd=names,fwdrate=400,format=yes,elapsed=1
rd=loop,fwd=own,fwdrate=max,format=yes,elapsed=1,fordepth=(1,2),forwidth=(2),forfiles=(1)
"""


def test_several_trees_at_once_and_in_loops(tmp_path: Path) -> None:
    (tmp_path / "several.vdb").write_text(SEVERAL)
    place = tmp_path / "place"
    place.mkdir()
    done = iocast("run", "several.vdb", place, "--json", "--time", "200ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    counted = {each.phase.name: each.measurement for each in archive.load(str(folder)).phases}
    assert not any(each.error_count for each in counted.values())
    assert [(name, counted[name].ios) for name in counted if "format" in name] == [
        ("both format fsd1", 3),
        ("both format fsd2", 4),
        ("loop depth=1 width=2 files=1 format", 2),
        ("loop depth=2 width=2 files=1 format", 4),
    ]
    assert counted["both @400/s fsd1"].ios + counted["both @400/s fsd2"].ios > 20
    named = ("iocast-tree", "iocast-tree.2")
    assert [sum(len(files) for _, _, files in os.walk(place / name)) - 1 for name in named] == [4, 4]
    cleaned = iocast("clean", place, cwd=tmp_path)
    assert (cleaned.returncode, list(place.iterdir())) == (0, []), cleaned.stderr


def test_every_operation_runs_on_a_real_directory(tmp_path: Path) -> None:
    (tmp_path / "tree.vdb").write_text(FILE)
    place = tmp_path / "place"
    place.mkdir()
    done = iocast("run", "tree.vdb", place, "--json", "--time", "300ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["phase"]: row for row in json.loads(done.stdout)["rows"]}
    assert set(rows) == {
        *("made format", "made max", "rates operation=read @200/s", "rates operation=write @200/s"),
        *(f"gone operation={each} max" for each in ("mkdir", "rmdir", "open", "close", "setattr", "delete")),
        "clean clean",
    }
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    counted = {each.phase.name: each.measurement for each in archive.load(str(folder)).phases}
    exact = ("made format", "gone operation=mkdir max", "gone operation=rmdir max", "gone operation=delete max")
    assert [counted[name].ios for name in (*exact, "clean clean")] == [FILES] * 5
    assert all(counted[name].ios > FILES for name in rows if name.endswith(("open max", "close max", "setattr max")))
    assert not any(each.error_count for each in counted.values())
    flat = iocast("report", folder, "--format", "flatfile", cwd=tmp_path).stdout
    assert "made_format" in flat
    assert iocast("report", folder, "-o", "x.flatfile", cwd=tmp_path).returncode == 0
    assert (tmp_path / "x.flatfile").read_text() == flat
    cleaned = iocast("clean", place, cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stderr
    assert [name for _, names, files in os.walk(place) for name in (*names, *files)] == []

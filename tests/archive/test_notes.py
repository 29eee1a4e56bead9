"""Notes are kept beside a run and never touch it; what cannot be read costs only the notes, and is not overwritten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers import card_runs
from makers.rootly import need
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder
from iocast.archive.catalogue import group_kind, runs_below
from iocast.errors import ArchiveError, SpecError
from iocast.model.summary import Notes
from iocast.report.card.judged import judge


def _saved(out: Path) -> str:
    return str(RunFolder.create(str(out), card_runs.quick_card()).path)


def test_notes_are_kept_listed_and_shown_and_the_run_is_as_it_was(tmp_path: Path) -> None:
    folder = _saved(tmp_path)
    before = (Path(folder) / "run.json").read_bytes()
    kept = archive.save_notes(
        folder, Notes(note="  new firmware\x1b[31m\r\nfrom Monday\n", tags=("prod", "fw2", "prod", ""))
    )
    assert kept == Notes(note="new firmware[31m\nfrom Monday", tags=("prod", "fw2")), "no terminal escapes"
    assert archive.load_notes(folder) == kept
    assert json.loads((Path(folder) / "notes.json").read_text())["notes_version"] == 1
    assert runs_below(str(tmp_path))[0].notes == kept
    section = judge(archive.load(folder), folder).report().sections[0]
    assert (section.code, section.paragraphs) == ("notes", ("new firmware[31m", "from Monday", "Tags: prod, fw2"))
    assert (Path(folder) / "run.json").read_bytes() == before
    assert not archive.save_notes(folder, Notes())
    assert not (Path(folder) / "notes.json").exists(), "no notes leave no file"
    assert judge(archive.load(folder), folder).report().sections[0].code != "notes"


@pytest.mark.parametrize(
    "notes",
    [
        Notes(note="x" * 10_001),
        *(Notes(tags=(tag,)) for tag in ("two words", "a,b", "x" * 41, "bell\x07")),
        Notes(tags=tuple(f"t{number}" for number in range(21))),
    ],
)
def test_what_is_too_long_or_no_tag_is_refused(tmp_path: Path, notes: Notes) -> None:
    with pytest.raises(SpecError):
        archive.save_notes(_saved(tmp_path), notes)


@pytest.mark.parametrize(
    "text", ["{", '{"notes_version": 1, "tags": ["two words"]}', '{"notes_version": 99}', "[]", "\xff"]
)
def test_notes_that_cannot_be_read_are_kept_and_cost_nothing_else(tmp_path: Path, text: str) -> None:
    folder = _saved(tmp_path)
    file = Path(folder) / "notes.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ArchiveError, match=r"notes\.json"):
        archive.save_notes(folder, Notes(note="new"))
    assert file.read_bytes() == text.encode("latin-1")
    assert runs_below(str(tmp_path))[0].notes == Notes()
    section = judge(archive.load(folder), folder).report().sections[0]
    assert section.code == "notes"
    assert section.paragraphs[0].startswith("Notes not shown: ")


@pytest.mark.parametrize("text", ['{"title": "lab book", "pages": ["A", "B"]}', '{"note": "mine", "colour": "red"}'])
@pytest.mark.parametrize("note", ["checked", ""])
def test_notes_of_somebody_are_neither_replaced_nor_removed(tmp_path: Path, text: str, note: str) -> None:
    """They lost what iocast does not know, or went with an empty note."""
    folder = _saved(tmp_path)
    (file := Path(folder) / "notes.json").write_text(text)
    file.chmod(0o640)
    with pytest.raises(ArchiveError, match=r"notes\.json was put there by another program"):
        archive.change_notes(folder, note)
    assert (file.read_text(), file.stat().st_mode & 0o777) == (text, 0o640)


def test_what_is_no_run_gets_no_notes(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(ArchiveError, match="is not a run folder"):
        archive.change_notes(str(tmp_path), "x")
    assert not (tmp_path / "notes.json").exists()


def test_notes_of_an_older_iocast_are_changed(tmp_path: Path) -> None:
    """They have no attribute: they are known by what is in them."""
    folder = _saved(tmp_path)
    archive.change_notes(folder, "old")
    os.removexattr(Path(folder) / "notes.json", "user.iocast.sha256")
    assert archive.change_notes(folder, "new").note == "new"


def test_tags_are_added_and_removed(tmp_path: Path) -> None:
    folder = _saved(tmp_path)
    assert archive.change_notes(folder, "first", add=("a", "b")) == Notes(note="first", tags=("a", "b"))
    assert archive.change_notes(folder, None, add=("c",), remove=("a",)) == Notes(note="first", tags=("b", "c"))
    assert archive.change_notes(folder, None) == archive.change_notes(folder, None)
    assert archive.change_notes(folder, "") == Notes(tags=("b", "c"))
    with pytest.raises(SpecError, match='no tag "nope"'):
        archive.change_notes(folder, None, remove=("nope",))
    with pytest.raises(ArchiveError, match="not a run folder"):
        archive.change_notes(str(tmp_path), "x")


def test_runs_of_a_repeat_or_ab_know_their_group(tmp_path: Path) -> None:
    found = runs_below(_saved(tmp_path))[0]
    names = {
        "2026-11-23T025246-repeat-oltp/2026-run": "2026-11-23T025246-repeat-oltp",
        "db1/2026-11-23T025246-ab-oltp/A/2026-run": "db1/2026-11-23T025246-ab-oltp",
        "2026-11-23T025246-repeat-oltp": "",
        "db1/2026-run": "",
        "my-repeat-x/run": "",
    }
    assert {name: replace(found, name=name).group for name in names} == names
    assert [group_kind(each) for each in names.values()] == ["repeat", "ab", "", "", ""]


def test_a_note_of_root_stays_its_owners(tmp_path: Path) -> None:
    need("true")
    folder = _saved(tmp_path)
    archive.save_notes(folder, Notes(note="mine"))
    for place in (folder, Path(folder) / "notes.json"):
        os.chown(place, 1234, 1234)
    archive.save_notes(folder, Notes(note="of root"))
    status = (Path(folder) / "notes.json").stat()
    assert (status.st_uid, status.st_gid) == (1234, 1234)

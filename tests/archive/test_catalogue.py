"""Runs are found below a directory, listed from their summaries, and named by the beginning of their names."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder
from iocast.archive import catalogue as catalogue_module
from iocast.archive.catalogue import Catalogue, find_run, labels, runs_below
from iocast.archive.summary_file import read_summary
from iocast.errors import ArchiveError
from iocast.model.run import Run
from iocast.model.summary import Notes, Summary


def _saved(out: Path, minutes: int = 0, **changes: object) -> Path:
    run: Run = card_runs.quick_card()
    run = replace(run, started_unix_ns=run.started_unix_ns + minutes * 60 * card_runs.SECOND_NS, **changes)
    return RunFolder.create(str(out), run).path


def test_runs_are_found_in_groups_too_and_the_newest_comes_first(tmp_path: Path) -> None:
    old, new = _saved(tmp_path), _saved(tmp_path / "ab-x" / "A", minutes=5)
    found = runs_below(str(tmp_path))
    assert [run.folder for run in found] == [str(new), str(old)]
    assert found[0].name == f"ab-x/A/{new.name}"
    assert found[0].summary
    assert (found[0].summary.rows, found[0].summary.target) == (8, "/mnt/db")


def test_a_summary_that_is_missing_or_damaged_is_made_from_the_run(tmp_path: Path) -> None:
    folder = _saved(tmp_path)
    kept = read_summary(str(folder))
    for text in (None, "{", "{}"):
        (folder / archive.SUMMARY_FILE).unlink(missing_ok=True)
        if text is not None:
            (folder / archive.SUMMARY_FILE).write_text(text)
        assert read_summary(str(folder)) == kept


def test_an_unreadable_run_is_listed_last_with_the_reason(tmp_path: Path) -> None:
    good, bad = _saved(tmp_path), _saved(tmp_path, minutes=9)
    (bad / archive.RUN_FILE).write_text("{")
    (bad / archive.SUMMARY_FILE).unlink()
    found = runs_below(str(tmp_path))
    assert [run.folder for run in found] == [str(good), str(bad)]
    assert "is invalid" in found[1].why


def test_names_that_are_no_text_are_listed_and_refused_in_words(tmp_path: Path) -> None:
    """A list of thousands does not fail for one name; what would move the cursor is not sent to a terminal."""
    folder = _saved(tmp_path)
    folder.rename(tmp_path / "a\x1b[2J\nb")
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff"))
    shutil.copytree(tmp_path / "a\x1b[2J\nb", odd)
    found = runs_below(str(tmp_path))
    assert sorted(run.name for run in found) == ["a�[2J�b", "odd-�"]
    msgspec.json.encode([run.name for run in found])
    with pytest.raises(ArchiveError, match="odd-� is not UTF-8 text") as refused:
        archive.load(str(odd))
    assert "rename" in refused.value.hint
    (tmp_path / "by another name").symlink_to(odd)
    assert archive.load(str(tmp_path / "by another name"))


def test_a_run_is_named_by_its_beginning_or_last(tmp_path: Path) -> None:
    old, new = _saved(tmp_path), _saved(tmp_path, minutes=60 * 24 * 40)
    assert find_run(str(tmp_path), "last") == str(new)
    assert find_run(str(tmp_path), str(old)) == str(old)
    assert find_run(str(tmp_path), old.name[:8]) == str(old)
    for name, said in (("2", "2 runs start with 2"), ("nothing", "the tag nothing or a name that starts so")):
        with pytest.raises(ArchiveError, match=said):
            find_run(str(tmp_path), name)
    with pytest.raises(ArchiveError, match="no runs in"):
        find_run(str(tmp_path / "absent"), "last")


def test_a_tag_is_the_newest_run_that_bears_it(tmp_path: Path) -> None:
    first, second, third = (_saved(tmp_path, minutes=minutes) for minutes in (0, 60, 120))
    for folder, tag in ((first, "before"), (second, "before"), (third, "after"), (first, third.name)):
        archive.change_notes(str(folder), None, add=(tag,))
    assert find_run(str(tmp_path), "before") == str(second)
    assert find_run(str(tmp_path), "after") == str(third)
    assert find_run(str(tmp_path), third.name) == str(third), "its own name, before the tag of another one"
    (tmp_path / "before").mkdir()
    fourth = _saved(tmp_path / "before", minutes=180)
    assert find_run(str(tmp_path), "before") == str(tmp_path / "before"), "a folder of runs, before a tag"
    assert find_run(str(tmp_path), fourth.name) == str(fourth)


def test_what_is_listed_is_found_by_its_name_and_a_group_by_its_own(tmp_path: Path) -> None:
    first, second = _saved(tmp_path / "group-a"), _saved(tmp_path / "group-a", minutes=60)
    alone = _saved(tmp_path)
    for run in runs_below(str(tmp_path)):
        assert find_run(str(tmp_path), run.name) == run.folder
    assert find_run(str(tmp_path), first.name) == str(alone), "the name in the directory, before one that is deeper"
    for name in ("group-a", "group"):
        assert find_run(str(tmp_path), name) == str(tmp_path / "group-a")
    assert find_run(str(tmp_path), str(tmp_path / "group-a")) == str(tmp_path / "group-a")
    assert find_run(str(tmp_path), second.name) == str(second)
    assert find_run(str(tmp_path / "absent"), "name") == "name", "whoever opens it says what is wrong"


def test_labels_of_one_folder_given_twice_have_no_doubled_slash() -> None:
    assert labels(("/run/a", "/run/a")) == ("run/a (1)", "run/a (2)")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders whose summary was read; changes are told by their times at once."""
    folders: list[str] = []

    def read(folder: str) -> Summary:
        folders.append(folder)
        return read_summary(folder)

    monkeypatch.setattr(catalogue_module, "read_summary", read)
    monkeypatch.setattr(catalogue_module, "_UNSURE_NS", 0)
    return folders


def test_only_a_folder_that_has_changed_is_read_again(tmp_path: Path, reads: list[str]) -> None:
    old, new = _saved(tmp_path), _saved(tmp_path / "ab-x" / "A", minutes=5)
    listed = Catalogue(str(tmp_path))
    first = listed.runs()
    assert sorted(reads) == sorted([str(old), str(new)])
    reads.clear()
    assert listed.runs() is first
    assert reads == []
    archive.save_notes(str(old), Notes(note="firmware 2.1"))
    assert [run.notes.note for run in listed.runs()] == ["", "firmware 2.1"]
    assert reads == [str(old)]


@pytest.mark.parametrize("change", ["edited", "added", "renamed", "deleted", "emptied"])
def test_a_list_is_never_older_than_its_folders(tmp_path: Path, reads: list[str], change: str) -> None:
    folder, other = _saved(tmp_path), _saved(tmp_path, minutes=5)
    archive.save_notes(str(folder), Notes(note="a"))
    listed = Catalogue(str(tmp_path))
    listed.runs()
    match change:
        case "edited":  # in its place, as some editors do
            (folder / archive.NOTES_FILE).write_text('{"notes_version": 1, "note": "of another length"}')
        case "added":
            _saved(tmp_path, minutes=9)
        case "renamed":
            folder.rename(tmp_path / "another")
        case "deleted":
            shutil.rmtree(folder)
        case "emptied":
            (folder / archive.RUN_FILE).unlink()
    assert listed.runs() == runs_below(str(tmp_path))
    assert str(other) in {run.folder for run in listed.runs()}


def test_a_run_under_way_is_asked_each_time(tmp_path: Path, reads: list[str]) -> None:
    """It may lose its process without a change of its folder."""
    folder = _saved(tmp_path, status="running")
    listed = Catalogue(str(tmp_path))
    listed.runs()
    listed.runs()
    assert reads == [str(folder)] * 2

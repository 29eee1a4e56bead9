"""A run is renamed beside itself and never over another; deleting takes its files and nothing else."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from makers import proofs
from makers.saved_runs import empty_run
from makers.saved_runs import saved as saved_under_way

from iocast import archive
from iocast.archive import RunFolder, open_run
from iocast.archive.writing.named_outputs import put_page
from iocast.errors import ArchiveError, SpecError
from iocast.model.run import Run
from iocast.model.summary import Notes


def saved(tmp_path: Path) -> tuple[Run, RunFolder]:
    run, folder = saved_under_way(tmp_path)
    folder.end()
    return run, folder


def _everything(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_a_run_keeps_its_id_and_its_place_when_it_is_renamed(tmp_path: Path) -> None:
    run, made = saved(tmp_path)
    new = archive.rename_run(str(made.path), " after the firmware ")
    assert new == str(made.path.parent / "after the firmware")
    assert archive.load(new).run_id == run.run_id
    assert not made.path.exists()
    assert archive.rename_run(new, "after the firmware") == new


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a\\b", "a\nb", "x" * 121, "last", "\0"])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    _, made = saved(tmp_path)
    before = _everything(tmp_path)
    with pytest.raises(SpecError):
        archive.rename_run(str(made.path), name)
    assert _everything(tmp_path) == before


def test_nothing_is_renamed_over_something_else(tmp_path: Path) -> None:
    _, made = saved(tmp_path)
    for taken in ("file", "folder", "link"):
        path = made.path.parent / taken
        {"file": path.touch, "folder": path.mkdir, "link": lambda path=path: path.symlink_to("nowhere")}[taken]()
        with pytest.raises(ArchiveError, match="already exists"):
            archive.rename_run(str(made.path), taken)
    assert made.path.exists()


def test_the_whole_run_goes_with_its_experiments_and_nothing_beside_it(tmp_path: Path) -> None:
    _, made = saved(tmp_path / "one")
    _, other = saved(tmp_path / "other")
    _, inner = saved(tmp_path / "inner")
    archive.save_notes(str(made.path), Notes(note="x"))
    put_page(open_run(str(made.path), made.run_id), "report.html", b"<!doctype html>")
    (made.path / "summary.json.new").touch()  # its process died while it wrote
    left = made.path / "summary.json.new"
    proofs.growing(left)
    (made.path / "experiments/repeat").mkdir(parents=True)
    inner.path.rename(made.path / "experiments/repeat/trial")
    kept = _everything(tmp_path / "other")
    assert archive.delete_run(str(made.path)) == ()
    assert not made.path.exists()
    assert made.path.parent.exists()
    assert _everything(tmp_path / "other") == kept
    assert other.path.exists()


def test_what_is_not_of_the_run_stays_and_links_are_not_followed(tmp_path: Path) -> None:
    _, made = saved(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("000.parquet", "precious"):
        (outside / name).touch()
    (made.path / "mine.txt").touch()
    (made.path / "intervals/my.parquet").touch()
    (made.path / "experiments").symlink_to(outside)
    (made.path / "samples").symlink_to(outside)
    assert archive.delete_run(str(made.path)) == ("experiments", "intervals", "mine.txt", "samples")
    assert _everything(made.path) == {"experiments", "intervals", "intervals/my.parquet", "mine.txt", "samples"}
    assert _everything(outside) == {"000.parquet", "precious"}
    with pytest.raises(ArchiveError, match="not a run folder"):
        archive.delete_run(str(made.path))
    link = tmp_path / "link"
    link.symlink_to(saved(tmp_path / "again")[1].path)
    with pytest.raises(ArchiveError, match="not a run folder"):
        archive.delete_run(str(link))


def test_a_run_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    folder = RunFolder.create(str(tmp_path), empty_run())
    before = _everything(tmp_path)
    for change in (archive.delete_run, lambda path: archive.rename_run(path, "new")):
        with pytest.raises(ArchiveError, match="still running"):
            change(str(folder.path))
    assert _everything(tmp_path) == before
    (folder.path / "summary.json").write_text("damaged")
    (folder.path / "run.json").write_text("damaged")
    with pytest.raises(ArchiveError, match="still running"):
        archive.delete_run(str(folder.path))
    (folder.path / "under_way.json").unlink()
    with pytest.raises(ArchiveError, match=r"nothing proves that iocast wrote .*run\.json"):
        archive.delete_run(str(folder.path))
    assert archive.delete_run(str(folder.path), unproven=True) == (), "a damaged run can be deleted"
    _, made = saved(tmp_path / "diagnosed")
    RunFolder.create(str(made.path / "experiments"), empty_run())
    with pytest.raises(ArchiveError, match="still running"):
        archive.delete_run(str(made.path))
    assert archive.load(str(made.path)).measured, "an experiment of it is running"


def _training(tmp_path: Path) -> Path:
    """A directory of somebody whose files have the names of those of a run."""
    folder = tmp_path / "training"
    (folder / "samples").mkdir(parents=True)
    for name in ("report.html", "notes.json", "weights.bin", "samples/000.parquet"):
        (folder / name).write_text("mine")
    (folder / "run.json").write_text('{"experiment": "bert"}')
    (folder / "summary.json").write_text('{"acc": 0.9}')
    (folder / "diagnosis.json").write_text("{}")
    return folder


def test_a_directory_of_somebody_with_a_run_json_is_neither_renamed_nor_deleted(tmp_path: Path) -> None:
    """It was renamed, and lost its documents and samples."""
    folder = _training(tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ArchiveError, match="is not a run folder"):
        archive.rename_run(str(folder), "training2")
    with pytest.raises(ArchiveError, match=r"nothing proves that iocast wrote samples/000\.parquet"):
        archive.delete_run(str(folder))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


FOREIGN = ("report.html", "intervals/999.parquet", "diagnosis.json", "samples/007.jsonl", "experiments/one/run.json")


@pytest.mark.parametrize("name", FOREIGN[:-1])
def test_a_run_with_a_file_of_somebody_is_deleted_only_by_a_second_word(tmp_path: Path, name: str) -> None:
    """Five foreign files went with their run."""
    _, made = saved(tmp_path)
    for each in (name, "intervals/7.new", "notes.json.new", FOREIGN[-1]):
        (made.path / each).parent.mkdir(parents=True, exist_ok=True)
        (made.path / each).write_text("mine")
    before = _everything(made.path)
    with pytest.raises(ArchiveError, match="nothing is deleted"):
        archive.delete_run(str(made.path))
    assert _everything(made.path) == before
    (made.path / name).rename(tmp_path / "mine")
    assert archive.delete_run(str(made.path)) == ("experiments", "intervals", "notes.json.new")
    assert _everything(made.path / "experiments") == {"one", "one/run.json"}
    assert (made.path / "intervals/7.new").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_second_word_is_not_for_files_of_others_nor_for_second_names(tmp_path: Path) -> None:
    _, made = saved(tmp_path)
    for name in ("report.html", "notes.json"):
        (made.path / name).write_text("mine")
    os.chown(made.path / "report.html", 1234, 1234)
    os.link(made.path / "notes.json", tmp_path / "second")
    assert archive.delete_run(str(made.path), unproven=True) == ("notes.json", "report.html")


def test_a_copy_without_attributes_is_known_by_its_content(tmp_path: Path) -> None:
    """All but a page that somebody may have added to; that goes with the second word."""
    _, made = saved(tmp_path)
    archive.save_notes(str(made.path), Notes(note="x"))
    put_page(open_run(str(made.path), made.run_id), "report.html", b"<!doctype html>")
    copy = tmp_path / "copy"
    shutil.copytree(made.path, copy, copy_function=shutil.copyfile)
    assert archive.change_notes(str(copy), "y", add=("tag",)).note == "y"
    assert archive.rename_run(str(copy), "moved") == str(tmp_path / "moved")
    with pytest.raises(ArchiveError, match=r"nothing proves that iocast wrote report\.html$"):
        archive.delete_run(str(tmp_path / "moved"))
    assert archive.delete_run(str(tmp_path / "moved"), unproven=True) == ()
    kept = tmp_path / "kept"
    shutil.copytree(made.path, kept)  # with attributes
    assert archive.delete_run(str(kept)) == ()


def test_a_page_of_somebody_that_came_during_the_run_is_not_replaced(tmp_path: Path) -> None:
    """The folder is opened again for the page, and then nothing was known of who wrote what."""
    _, made = saved(tmp_path)
    (page := made.path / "report.html").write_text("mine")
    with pytest.raises(ArchiveError, match=r"report\.html was put there by another program"):
        put_page(open_run(str(made.path), made.run_id), "report.html", b"<!doctype html>")
    assert page.read_text() == "mine"
    page.unlink()
    for text in (b"<!doctype html>", b"<!doctype html> again"):
        put_page(open_run(str(made.path), made.run_id), "report.html", text)
    assert page.read_bytes() == b"<!doctype html> again"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_where_no_file_has_attributes_a_run_is_noted_and_deleted(tmp_path: Path) -> None:
    (place := tmp_path / "place").mkdir()
    if subprocess.run(["mount", "-t", "ramfs", "none", place], check=False).returncode:
        pytest.skip("ramfs cannot be mounted here")
    try:
        _, made = saved(place)
        folder = str(made.path)
        for note in ("one", "two"):
            assert archive.change_notes(folder, note).note == note
        put_page(open_run(folder, made.run_id), "report.html", b"<!doctype html>")
        (made.path / "run.json.new").write_text("mine")
        del made
        with pytest.raises(ArchiveError, match=r"nothing proves that iocast wrote report\.html$"):
            archive.delete_run(folder)
        assert archive.delete_run(folder, unproven=True) == ("run.json.new",)
    finally:
        gc.collect()
        subprocess.run(["umount", "-l", place], check=True)

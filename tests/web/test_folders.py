"""What the pages are made of: a run that is followed costs little, and a page is never older than its folder."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from makers.asked import Asker
from makers.command_line import iocast
from makers.damaged_folders import FILES, damaged, whole_folder
from makers.saved_runs import empty_run, measured
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder
from iocast.errors import ArchiveError
from iocast.model.experiment import Diagnosis
from iocast.web import folders as folders_module
from iocast.web.folders import Folders

KEPT = Path(__file__).parents[1] / "archive/version_1/diagnosed"


def test_a_diagnosis_made_later_is_on_the_page(tmp_path: Path) -> None:
    shutil.copytree(KEPT, tmp_path / "run")
    diagnosis = archive.load_diagnosis(str(KEPT))
    assert diagnosis is not None
    (tmp_path / "run/diagnosis.json").unlink()
    folders = Folders(str(tmp_path))
    question = diagnosis.steps[0].question
    assert question not in folders.page("run")
    archive.save_diagnosis(tmp_path / "run", diagnosis)
    assert question in folders.page("run")
    archive.save_diagnosis(tmp_path / "run", Diagnosis())
    assert question not in folders.page("run")


def test_a_page_is_made_once_while_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(KEPT, tmp_path / "run")
    folders = Folders(str(tmp_path))
    page = folders.page("run")
    monkeypatch.setattr(archive, "load", None)
    assert folders.page("run") == page


def test_the_page_of_a_run_under_way_has_each_row(tmp_path: Path) -> None:
    """The document of the run does not change while rows are added."""
    run = empty_run()
    folder = RunFolder.create(str(tmp_path), run)
    folders = Folders(str(tmp_path))
    pages = []
    for number, name in enumerate(("zebra-one", "zebra-two")):
        record, intervals = measured(run, number, name)
        run = replace(run, phases=(*run.phases, record))
        folder.save_phase(number, name, intervals, ())
        folder.save(run)
        pages.append(folders.page(folder.path.name))
    assert ["zebra-one" in page for page in pages] == [True, True]
    assert ["zebra-two" in page for page in pages] == [False, True]


def test_following_a_run_does_not_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = empty_run()
    folder = RunFolder.create(str(tmp_path), run)
    folders = Folders(str(tmp_path))
    read: list[str] = []
    load = archive.load

    def counted(path: str) -> Any:
        read.append(path)
        return load(path)

    monkeypatch.setattr(archive, "load", counted)
    assert folders.progress(folder.path.name)["under_way"] is None, "no phase has begun"
    for number in (0, 10):
        record, _ = measured(run, number)
        folder.begin(record.phase.name, number, 12)
        assert folders.progress(folder.path.name)["under_way"]["phase"] == record.phase.name
        run = replace(run, phases=(*run.phases, record))
        folder.save(run)
    folder.begin("the next", 12, 12)
    followed = folders.progress(folder.path.name)
    assert [row["row"] for row in followed["rows"]] == [record.phase.name for record in run.phases]
    assert read == []
    folder.end()
    folder.save(replace(run, status="done"))
    ended = [folders.progress(folder.path.name) for _ in range(3)]
    assert len(read) == 1, "once, when it has ended"
    assert ended[0]["rows"] == followed["rows"]
    assert (ended[0]["under_way"], ended[0]["summary"]["status"]) == (None, "done")


def test_a_dead_run_is_followed_no_further(tmp_path: Path) -> None:
    run = empty_run()
    folder = RunFolder.create(str(tmp_path), run)
    folder.begin("one", 1, 2)
    file = folder.path / "under_way.json"
    file.write_text(file.read_text().replace('"started_ticks":', '"started_ticks":9'))
    found = Folders(str(tmp_path)).progress(folder.path.name)
    assert (found["summary"]["status"], found["under_way"]) == ("dead", None)


@pytest.mark.long
def test_following_a_damaged_run_says_so_in_words(tmp_path: Path) -> None:
    """What a page is told is JSON, or a refusal; never a fault of the server."""
    whole = whole_folder(tmp_path / "whole")
    folder = tmp_path / "runs/run"
    shutil.copytree(whole, folder)
    for seed in range(120):
        name = FILES[seed % len(FILES)]
        (folder / name).write_bytes(damaged((whole / name).read_bytes(), random.Random(seed)))
        with contextlib.suppress(ArchiveError):
            json.dumps(Folders(str(folder.parent)).progress("run"), allow_nan=False)
        shutil.copyfile(whole / name, folder / name)


def test_a_page_that_has_the_list_is_not_sent_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser asks every two seconds; ten thousand runs are five megabytes."""
    monkeypatch.setattr(folders_module, "FRESH_S", 0.0)
    first = RunFolder.create(str(tmp_path), empty_run()).path.name
    asker = Asker(tmp_path)
    listed = asker.get("/api/runs").json
    assert [run["name"] for run in listed["runs"]] == [first]
    again = asker.get(f"/api/runs?have={listed['version']}")
    assert (again.status, again.text) == (204, "")
    RunFolder.create(str(tmp_path), empty_run())
    changed = asker.get(f"/api/runs?have={listed['version']}").json
    assert len(changed["runs"]) == 2
    assert changed["version"] != listed["version"]


def test_a_trend_is_made_without_another_look_at_all_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(KEPT, tmp_path / "run")
    folders = Folders(str(tmp_path))
    runs = folders.of_trend("", "", "")
    monkeypatch.setattr(Folders, "runs", None)
    assert "<html" in Folders(str(tmp_path)).trend(runs)


def test_a_gate_is_compared_with_the_intervals_of_a_gate(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text('name = "j"\n[[phase]]\ntest = "randread"\nsize = "8k"\ntime = "1s"\n')
    assert iocast("repeat", "5", "job.toml", "sim:nvme", "--out", "runs", cwd=tmp_path).returncode == 0
    (baseline,) = (tmp_path / "runs").iterdir()
    done = iocast("gate", baseline, "--out", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (gate,) = (each for each in (tmp_path / "runs").iterdir() if each != baseline)
    page = Folders(str(tmp_path / "runs")).comparison([baseline.name, gate.name])
    assert "they hold whenever one stops and for all 2 figures at once" in page

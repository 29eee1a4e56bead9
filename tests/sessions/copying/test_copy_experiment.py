"""experiment copy on real files: what is copied, what is refused, what stays and what is removed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import msgspec
import pytest
from makers.command_line import iocast, start

from iocast.archive import copy_folder
from iocast.errors import ArchiveError, SpecError, TargetError
from iocast.sessions.copy_experiment import CopyRequest, copy_experiment, plan_copies
from iocast.sessions.listener import Quiet

SIZE = (1 << 20) + 4097


def _source(tmp_path: Path) -> Path:
    file = tmp_path / "source"
    file.write_bytes(os.urandom(SIZE))
    return file


def _request(tmp_path: Path, **changes: object) -> CopyRequest:
    there = tmp_path / "there"
    there.mkdir(exist_ok=True)
    usual = {"source": str(_source(tmp_path)), "destination": str(there), "rounds": 1, "out": str(tmp_path / "runs")}
    return msgspec.convert({**usual, **changes}, CopyRequest)


def test_every_way_is_made_proven_and_removed(tmp_path: Path) -> None:
    request = _request(tmp_path)
    before = Path(request.source).read_bytes()
    made = copy_experiment(request, Quiet())
    assert made is not None
    assert {trial.cell.method for trial in made.run.trials} == set(made.run.plan.methods)
    assert len(made.run.trials) == 20
    for trial in made.run.trials:
        refused = trial.figures.refused
        assert trial.same is (None if refused else True), trial
        assert refused is None or refused.unsupported
    assert sum(trial.whole for trial in made.run.trials) >= 12, "the plain ways work everywhere"
    assert list((tmp_path / "there").iterdir()) == []
    assert Path(request.source).read_bytes() == before
    assert copy_folder.load(made.folder) == made.run


def test_the_order_is_drawn_anew_in_each_round_and_repeats_with_the_seed(tmp_path: Path) -> None:
    request = _request(tmp_path, rounds=3, methods=("splice", "sendfile", "read-write-block"))
    cells = plan_copies(request).cells
    rounds = [[(cell.method, cell.cache) for cell in cells if cell.round == number] for number in (1, 2, 3)]
    assert all(sorted(each) == sorted(rounds[0]) for each in rounds)
    assert rounds[0] != rounds[1]
    assert plan_copies(request).cells == cells
    assert plan_copies(msgspec.structs.replace(request, seed=2)).cells != cells
    assert not (tmp_path / "runs").exists(), "a plan does nothing"


def test_one_copy_stays_if_asked_for_and_is_replaced_by_none(tmp_path: Path) -> None:
    request = _request(tmp_path, methods=("splice",), keep=True)
    made = copy_experiment(request, Quiet())
    kept = tmp_path / "there" / "iocast-copy.source"
    assert made is not None
    assert made.run.kept == str(kept)
    assert kept.read_bytes() == Path(request.source).read_bytes()
    before = kept.read_bytes()
    Path(request.source).write_bytes(b"a later content")
    with pytest.raises(ArchiveError, match="exists, and iocast did not make it"):
        copy_experiment(request, Quiet())
    assert kept.read_bytes() == before, "it has the data of a person"


@pytest.mark.parametrize("name", ["file", "link"])
def test_what_iocast_did_not_make_is_never_replaced(tmp_path: Path, name: str) -> None:
    request = _request(tmp_path)
    there = tmp_path / "there" / name
    (tmp_path / "other").write_bytes(b"other")
    there.write_bytes(b"mine") if name == "file" else there.symlink_to(tmp_path / "other")
    with pytest.raises(ArchiveError):
        copy_experiment(msgspec.structs.replace(request, destination=str(there)), Quiet())
    assert (tmp_path / "other").read_bytes() == b"other"
    assert name == "link" or there.read_bytes() == b"mine"


def test_the_source_itself_is_no_destination(tmp_path: Path) -> None:
    request = _request(tmp_path)
    with pytest.raises(TargetError, match="is SOURCE itself"):
        copy_experiment(msgspec.structs.replace(request, destination=request.source), Quiet())


@pytest.mark.parametrize("kind", ["directory", "fifo", "empty", "missing"])
def test_what_cannot_be_copied_is_refused(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "odd"
    if kind == "directory":
        source.mkdir()
    elif kind == "fifo":
        os.mkfifo(source)
    elif kind == "empty":
        source.touch()
    with pytest.raises(TargetError):
        plan_copies(_request(tmp_path, source=str(source)))


def test_a_copy_that_does_not_fit_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(1 << 43)  # more than any disk here has
    with pytest.raises(TargetError, match="would not fit"):
        copy_experiment(_request(tmp_path, source=str(huge)), Quiet())
    assert not (tmp_path / "runs").exists()


def test_unknown_ways_are_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match='unknown way "splise"'):
        plan_copies(_request(tmp_path, methods=("splise",)))


@pytest.mark.long
def test_what_a_killed_one_left_is_removed_by_the_next(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(32 << 20))
    there = tmp_path / "there"
    there.mkdir()
    words = ("experiment", "copy", source, there, "--methods", "splice", "--no-page")
    process = start(*words, "--rounds", "50", cwd=tmp_path)
    deadline = time.monotonic() + 50
    while not list(there.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    left = list(there.iterdir())
    assert [file.name for file in left] in ([], [".iocast-copy.source.iocast.new"])
    done = iocast(*words, "--rounds", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(there.iterdir()) == []


def test_the_command_tells_and_shows_again(tmp_path: Path) -> None:
    _source(tmp_path)
    words = ("experiment", "copy", "source", ".", "--methods", "splice,read-write-block", "--rounds", "1", "--no-page")
    done = iocast(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Source not in the page cache" in done.stdout
    assert "all copies are removed; SOURCE is only read" in done.stderr
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    assert iocast("report", folder, cwd=tmp_path).stdout.splitlines()[:3] == done.stdout.splitlines()[:3]
    assert "4 copies" in iocast(*words, "--plan", cwd=tmp_path).stdout
    wrong = iocast("experiment", "copy", "source", cwd=tmp_path)
    assert (wrong.returncode, "takes SOURCE and DESTINATION" in wrong.stderr) == (2, True)
    assert "belong to `iocast experiment copy`" in iocast("experiment", "cache", "--keep", cwd=tmp_path).stderr

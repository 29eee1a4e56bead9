"""While a run goes on somebody moves its folder away and puts another there, or plants files in it: all of the run
lands in the folder that it made, and nothing of others is written to.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.work_files import MIB, phase, plan
from msgspec.structs import replace

from iocast import archive, load, runner
from iocast.model.plan import Length, Phase
from iocast.model.run import PhaseRecord
from iocast.runner.saving import Performed

READS = replace(phase("read"), length=Length(ios=50))
NAMES = ("run.json", "rows.jsonl", "summary.json", "under_way.json", "intervals/002.parquet", "samples/002.parquet")


class Meddler:
    """A progress that does something to the run folder when the second row begins."""

    def __init__(self, runs: Path, swap: Callable[[Path], None]) -> None:
        self._runs, self._swap = runs, swap

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        if number == 2:
            (folder,) = (each for each in self._runs.resolve().iterdir() if not each.name.startswith("."))
            self._swap(folder)

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        """Nothing."""

    def end(self, record: PhaseRecord) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def _run(tmp_path: Path, swap: Callable[[Path], None], runs: str = "runs") -> Performed:
    (tmp_path / "target").mkdir()
    made = plan(tmp_path / "target", 2 * MIB, 1, READS, READS, READS)
    meddler = Meddler(tmp_path / runs, swap)
    return runner.run(runner.Work(made, load.lay_out(made), str(tmp_path / runs)), meddler, lambda: False)


def _foreign(folder: Path) -> dict[str, bytes]:
    """A folder of somebody with a file for each that iocast writes."""
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"precious " + name.encode())
    return _contents(folder)


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_link_in_the_place_of_the_run_folder_leads_nowhere(tmp_path: Path) -> None:
    before = _foreign(tmp_path / "other")

    def swap(folder: Path) -> None:
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "other")

    done = _run(tmp_path, swap)
    assert _contents(tmp_path / "other") == before
    assert (done.error, done.run.status, done.folder) == (None, "done", tmp_path / "moved")
    kept = archive.load(str(tmp_path / "moved"))
    assert [record.phase.name for record in kept.measured] == [record.phase.name for record in done.run.measured]
    assert len(list((tmp_path / "moved" / "intervals").iterdir())) == 4, "the tables are there too"


def test_a_foreign_folder_in_its_place_is_not_written_to(tmp_path: Path) -> None:
    before = _foreign(tmp_path / "other")

    def swap(folder: Path) -> None:
        folder.rename(tmp_path / "moved")
        (tmp_path / "other").rename(folder)

    done = _run(tmp_path, swap)
    (theirs,) = (each for each in (tmp_path / "runs").iterdir())
    assert _contents(theirs) == before
    assert done.folder == tmp_path / "moved"


def test_a_link_to_all_runs_that_flips_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "runs").symlink_to(tmp_path / "mine")
    before: dict[str, bytes] = {}

    def swap(folder: Path) -> None:
        before.update(_foreign(tmp_path / "other" / folder.name))
        (tmp_path / "runs").unlink()
        (tmp_path / "runs").symlink_to(tmp_path / "other")

    done = _run(tmp_path, swap)
    (theirs,) = (tmp_path / "other").iterdir()
    assert _contents(theirs) == before
    (ours,) = (tmp_path / "mine").iterdir()
    assert done.folder is not None
    assert done.folder.resolve() == ours
    assert archive.load(str(ours)).status == "done"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv")
def test_a_neighbour_in_his_own_directory_gets_nothing_written_and_sees_nothing() -> None:
    """Root keeps its runs in a directory of somebody, who may rename there what he likes."""
    with tempfile.TemporaryDirectory() as room:
        Path(room).chmod(0o755)
        (place := Path(room) / "neighbour").mkdir()
        (secret := Path(room) / "only-root").mkdir(0o700)
        os.chown(place, 1234, 1234)
        before = _foreign(secret)

        def swap(folder: Path) -> None:
            as_neighbour = ("setpriv", "--reuid=1234", "--regid=1234", "--clear-groups")
            looked = subprocess.run([*as_neighbour, "ls", folder], capture_output=True, check=False)
            assert looked.returncode, "he must not look into it"
            subprocess.run([*as_neighbour, "mv", folder, place / "moved"], check=True)
            subprocess.run([*as_neighbour, "ln", "-s", secret, folder], check=True)

        done = _run(Path(room), swap, "neighbour")
        assert _contents(secret) == before
        assert (done.error, done.folder) == (None, place / "moved")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")
def test_a_mount_over_the_run_folder_gets_nothing(tmp_path: Path) -> None:
    before = _foreign(tmp_path / "other")
    mounted: list[Path] = []

    def swap(folder: Path) -> None:
        subprocess.run(["mount", "--bind", tmp_path / "other", folder], check=True)
        mounted.append(folder)

    try:
        done = _run(tmp_path, swap)
        assert _contents(tmp_path / "other") == before
    finally:
        for each in mounted:
            subprocess.run(["umount", each], check=True)
    assert done.run.status == "done"
    assert archive.load(str(mounted[0])).status == "done"


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _hard_link(path: Path, victim: Path) -> None:
    os.link(victim, path)


def _pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("plant", [_link, _hard_link, _pipe])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_planted_in_the_folder_is_not_written_to_and_no_row_is_lost(
    tmp_path: Path, plant: Callable[[Path, Path], None], name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")

    def swap(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        plant(folder / name, victim)

    done = _run(tmp_path, swap)
    assert victim.read_text() == "precious"
    assert done.folder is not None
    if name == "run.json" or done.error is not None:
        assert done.error is not None
        assert f"{Path(name).name} " in done.error.message
        assert "move it away" in done.error.message
    else:
        assert name == "under_way.json", "who only watches costs no run"
        assert archive.load(str(done.folder)).status == "done"


def test_a_folder_that_is_replaced_by_a_link_is_neither_swept_nor_discarded(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    before = _foreign(tmp_path / "other")
    made = plan(tmp_path / "target", 2 * MIB, 1, READS)
    folders: list[Path] = []

    def stop_at_once() -> bool:
        if not folders:
            folders.extend(tmp_path.glob("runs/*"))
            for each in folders:
                each.rename(tmp_path / "moved")
                each.symlink_to(tmp_path / "other")
        return bool(folders)

    done = runner.run(
        runner.Work(made, load.lay_out(made), str(tmp_path / "runs")), Meddler(tmp_path, print), stop_at_once
    )
    assert done.folder is None, "nothing was measured"
    assert _contents(tmp_path / "other") == before
    assert os.path.islink(folders[0])

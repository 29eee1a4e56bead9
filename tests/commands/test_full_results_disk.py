"""The file system of the results fills while a run goes on: what was measured is shown, whichever verb measured it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast
from makers.ladder_runs import pool

from iocast.archive import RunFolder
from iocast.errors import ArchiveError

JOB = """\
name = "three"

[[phase]]
test = "randread"
size = "8k"
users = [1, 2, 4]
time = "1s"
"""
FULL = "cannot write rows: No space left on device"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose runs keep the intervals of one row: those of the second do not fit any more."""
    (tmp_path / "three.toml").write_text(JOB)
    save = RunFolder.save_phase

    def full(self: RunFolder, number: int, *rest: object) -> None:
        if number:
            raise ArchiveError(FULL, "free some space")
        save(self, number, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(RunFolder, "save_phase", full)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("run", "three.toml", "sim:hdd"),
        ("card", "sim:hdd", "--time", "1s"),
        ("repeat", "3", "three.toml", "sim:hdd"),
        ("ab", "three.toml", "sim:hdd", "sim:nvme"),
        ("forecast", "--measure", pool(8), "--iops", "1000", "--time", "3s"),
        ("diagnose", "sim:hdd", "--job", "three.toml"),
        ("experiment", "concurrent-readers", "sim:nvme", "--time", "1s"),
    ],
    ids=lambda words: words[0],
)
def test_all_rows_that_were_measured_are_shown_with_the_error(place: Path, words: tuple[str, ...]) -> None:
    done = iocast(*words, cwd=place, COLUMNS="120")
    assert done.returncode == 2, done.stderr
    assert f"error: {FULL}\n" in done.stderr
    assert sum(line.lstrip().startswith("[") for line in done.stderr.splitlines()) == 2, "the second has its line"
    shown = done.stdout + done.stderr
    if words[0] == "experiment":
        rows = [line.split()[0] for line in shown.split("\nreaders ")[1].split("\n\n")[0].splitlines()[1:]]
        assert rows == ["1", "2"], "judged from memory"
        return
    table = shown.split("\nResults\n")[1].split("\n\n")[0].splitlines()
    assert ("p50" in table[0], len(table)) == (True, 3), "the second row, too"
    assert "The run is incomplete: the rows above are those that finished." in shown
    assert "To see all figures: iocast report" not in shown, "the folder has not all of them"


def test_documents_and_files_have_them_too(place: Path) -> None:
    told = json.loads(iocast("run", "three.toml", "sim:hdd", "--json", cwd=place).stdout)
    assert [row["phase"] for row in told["rows"]] == ["randread 8k 1x1", "randread 8k 2x1"]
    done = iocast("run", "three.toml", "sim:hdd", "-o", "card.html", cwd=place)
    assert (done.returncode, "wrote card.html" in done.stderr) == (2, True)
    assert "2x1" in (place / "card.html").read_text()


def test_a_diagnosis_that_cannot_be_kept_costs_no_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise ArchiveError(FULL, "free some space")

    monkeypatch.setattr("iocast.sessions.measure.diagnose_run", full)
    done = iocast("card", "sim:nvme", "--diagnose", "--time", "1s", cwd=tmp_path)
    assert (done.returncode, f"error: {FULL}\n" in done.stderr) == (2, True)
    assert "A random 8k read takes" in done.stdout

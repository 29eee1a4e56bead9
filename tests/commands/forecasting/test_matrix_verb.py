"""iocast matrix as it is typed: ORION's spelling and ours, what is refused, what the plan shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder


@pytest.mark.parametrize(
    "words",
    [
        ("--run", "oltp", "--num-disks", "2", "--duration", "1m", "--testname", "t"),
        (
            "-run",
            "oltp",
            "-num_disks",
            "2",
            "-duration",
            "60",
            "-testname",
            "t",
            "-hugenotneeded",
            "-verbose",
            "-simulate",
            "CONCAT",
        ),
    ],
)
def test_both_spellings_give_one_plan(words: tuple[str, ...], tmp_path: Path) -> None:
    plan = json.loads(iocast("matrix", "sim:nvme", *words, "--plan", "--json", cwd=tmp_path).stdout)
    assert plan["points"][:3] == [{"small": 0, "large": 0}, {"small": 2, "large": 0}, {"small": 4, "large": 0}]
    assert (len(plan["points"]), plan["seconds"]) == (21, 1200.0)
    assert len(plan["plan"]["phases"]) == 20


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-run", "simple", "-num_disk", "4"), 'no option "-num_disk"; did you mean "-num_disks"?'),
        (("-run", "simple", "--num-dsks", "4"), 'no option "--num-dsks"; did you mean "--num-disks"?'),
        (("-run", "simpel"), '--run: "simpel" is not one of simple, normal'),
        (("-run", "simple", "-matrix", "row"), "-matrix needs -run advanced"),
        (("-run", "simple", "-duration", "1.5s"), '"1.5s" is not a whole number of seconds'),
        (("-run", "simple", "-storax", "asmlib"), "Oracle's own I/O library"),
        ((), "--run is missing"),
    ],
)
def test_what_it_does_not_know_is_refused(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    refused = iocast("matrix", "sim:nvme", *words, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert says in refused.stderr
    assert "\nhint: " in refused.stderr


def test_the_plan_shows_the_points(tmp_path: Path) -> None:
    shown = iocast("matrix", "sim:nvme", "--run", "normal", "--num-disks", "2", "--plan", cwd=tmp_path)
    assert "55 data points, of which small=0 large=0 has no I/O:" in shown.stdout
    assert "large=0 to 4 with small=0 to 10" in shown.stdout
    assert not (tmp_path / "iocast-runs").exists()


@pytest.mark.long
def test_a_run_can_be_shown_as_orion_shows_it(tmp_path: Path) -> None:
    quick = ("--run", "simple", "--duration", "1", "--no-page", "--files", "files")
    made = iocast("matrix", "sim:nvme", *quick, "--format", "orion", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "Maximum Small IOPS=" in made.stdout
    (summary,) = (tmp_path / "files").glob("orion_*_summary.txt")
    assert summary.read_text() == made.stdout
    folder = run_folder(tmp_path / "iocast-runs")
    assert iocast("report", folder, "--format", "orion", cwd=tmp_path).stdout == made.stdout
    again = iocast("report", folder, "--files", "again", cwd=tmp_path)
    assert "wrote again/" in again.stderr
    assert (tmp_path / "again" / summary.name).read_text() == made.stdout
    both = iocast("report", folder, "--files", "again", "-o", "card.html", cwd=tmp_path)
    assert (both.returncode, "--files and -o together" in both.stderr) == (2, True)
    card = iocast("report", folder, cwd=tmp_path, COLUMNS="80").stdout
    assert "Data points" in card
    assert max(map(len, card.splitlines())) <= 80
    points = json.loads(iocast("report", folder, "--json", cwd=tmp_path).stdout)["data_points"]
    assert [point["small_outstanding"] for point in points] == [1, 2, 3, 4, 5, 0, 0]


@pytest.mark.long
def test_only_a_matrix_is_shown_as_orion_shows_it(tmp_path: Path) -> None:
    iocast("card", "sim:nvme", "--time", "1s", cwd=tmp_path)
    refused = iocast("report", run_folder(tmp_path / "iocast-runs"), "--format", "orion", cwd=tmp_path)
    assert refused.returncode == 2
    assert "has no matrix of small and large I/Os" in refused.stderr

"""Grades on the command line: the scale, the service level, the exit code, and the list of runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("graded")
    done = iocast("card", "sim:nvme", "--out", "runs", cwd=place)
    assert done.returncode == 0, done.stderr
    return run_folder(place / "runs")


def _grades(text: str) -> dict[str, str]:
    return {row["code"]: row["letter"] for row in json.loads(text)["grades"]}


def test_the_card_has_a_letter_for_each_aspect(folder: Path) -> None:
    done = iocast("report", folder, "--json", cwd=folder)
    assert _grades(done.stdout) == {
        "random_read": "A+",
        "commit": "A+",
        "scan": "A+",
        "scaling": "A+",
        "write_interference": "A",
    }


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--fail-under", "a+"), 0), (("--slo", "p99<1ms"), 0)])
def test_a_grade_that_is_reached(folder: Path, arguments: tuple[str, ...], code: int) -> None:
    assert iocast("report", folder, *arguments, cwd=folder).returncode == code


def test_a_grade_that_is_missed_says_so_and_exits_with_one(folder: Path) -> None:
    missed = iocast("report", folder, "--slo", "p99<50us", "--fail-under", "B", cwd=folder)
    assert missed.returncode == 1
    assert "below grade B: the grade is" in missed.stderr
    none = iocast("report", folder, "--scale", "hailey2012", "--fail-under", "D", cwd=folder)
    assert none.returncode == 1
    assert "is missing" in none.stderr
    page = iocast("report", folder, "-o", "x.md", "--slo", "p99<50us", "--fail-under", "B", cwd=folder)
    assert page.returncode == 1
    assert "Service level" in (folder / "x.md").read_text()


def test_of_several_service_levels_the_worst_counts(folder: Path) -> None:
    kept, both = ("--slo", "p50<1s"), ("--slo", "p50<1s", "--slo", "p99<1us")
    assert iocast("report", folder, *kept, "--fail-on", "slo", cwd=folder).returncode == 0
    assert iocast("report", folder, *both, cwd=folder).returncode == 0, "no outcome fails unless it is asked for"
    missed = iocast("report", folder, *both, "--fail-on", "slo", "--json", cwd=folder)
    assert missed.returncode == 1
    assert "service level missed: The p99 of" in missed.stderr
    letters = [row["letter"] for row in json.loads(missed.stdout)["grades"] if row["code"] == "service_level"]
    assert letters == ["A+", "F"]
    unknown = iocast("report", folder, "--slo", "p99<1s", "--slo", "p99.9999<1s", "--fail-on", "slo", cwd=folder)
    assert unknown.returncode == 1
    alone = iocast("report", folder, "--fail-on", "slo", cwd=folder)
    assert (alone.returncode, "--slo 'p99<5ms' --fail-on slo" in alone.stderr) == (2, True)


def test_a_service_level_that_cannot_be_read_is_refused(folder: Path) -> None:
    refused = iocast("report", folder, "--slo", "fast", cwd=folder)
    assert refused.returncode == 2
    assert "--slo 'p99<5ms'" in refused.stderr


def test_the_grade_is_in_the_list_of_runs(folder: Path) -> None:
    listed = json.loads(iocast("runs", folder.parent, "--json", cwd=folder).stdout)["runs"]
    assert [(run["grade"], run["trust"]) for run in listed] == [("A+", "C")]

"""`iocast experiment`: lists, says beforehand, measures, judges, and leaves a run that shows it again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers.command_line import compare, iocast, run_folder, without_machine

from iocast.diagnose.experiments.named import TRIALS


def test_alone_it_lists_them_all(tmp_path: Path) -> None:
    done = iocast("experiment", cwd=tmp_path)
    assert [line.split()[0] for line in done.stdout.splitlines()] == [*(each.NAME for each in TRIALS), "copy"]
    assert all(line.endswith("?") for line in done.stdout.splitlines())


def test_a_mistake_names_the_nearest(tmp_path: Path) -> None:
    done = iocast("experiment", "zone", "sim:hdd", cwd=tmp_path)
    assert done.returncode == 2
    assert "zones" in done.stderr


def test_plan_shows_and_touches_nothing(tmp_path: Path) -> None:
    before = os.stat(tmp_path).st_mtime_ns
    done = iocast("experiment", "noise", ".", "--plan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "noise (1) (together: round 1: during)" in done.stdout
    assert "writes  for 9 s in 3 rows, in place" in done.stdout
    assert (list(tmp_path.iterdir()), os.stat(tmp_path).st_mtime_ns) == ([], before)


def test_a_simulated_device_start_to_end(tmp_path: Path) -> None:
    done = iocast(
        "experiment", "arm", "sim:hdd", "--time", "5s", "--no-page", "--out", "runs", cwd=tmp_path, COLUMNS="100"
    )
    assert done.returncode == 0, done.stderr
    folder = run_folder(tmp_path / "runs")
    compare("experiment_arm_hdd.txt", without_machine(done.stdout.replace(folder.name, "<run>")))
    shown = iocast("report", folder, "--json", cwd=tmp_path)
    report = json.loads(shown.stdout)
    assert report["verdict"].startswith('Yes. The mean of "opposite ends, first" is 3.')
    assert [row["test"] for row in report["experiment"]] == ["side by side", "opposite ends"]
    assert report["rows"]


def test_json_has_the_verdict_and_raw_figures(tmp_path: Path) -> None:
    done = iocast("experiment", "payload", "sim:nvme", "--time", "50ms", "--no-page", "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["answer"] == "rejected"
    assert all(row["moved_bytes_per_s"] > 0 and row["p99_ns"] > 0 for row in report["experiment"])
    assert [row["test"] for row in report["experiment"]] == ["unique", "zeros", "repeated", "compressible by half"]


def test_the_page_is_headed_by_the_answer(tmp_path: Path) -> None:
    done = iocast("experiment", "zones", "sim:nvme", "--time", "50ms", "--rounds", "2", "--out", "runs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (run_folder(tmp_path / "runs") / "report.html").read_text(encoding="utf-8")
    assert "Experiment zones" in page
    assert '<p class="verdict">No. ' in page


@pytest.mark.parametrize("name", ["noise", "payload", "verify", "holes", "first-write", "dio-matrix"])
def test_a_file_of_others_is_not_written(name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(4 << 20))
    before = data.read_bytes()
    done = iocast("experiment", name, "data", "--no-page", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{name} writes, and {data} is a file that iocast did not create" in done.stderr
    assert data.read_bytes() == before


def test_what_cannot_be_shown_is_refused_with_the_reason(tmp_path: Path) -> None:
    done = iocast("experiment", "request-size", "sim:hdd", cwd=tmp_path)
    assert done.returncode == 2
    assert "a simulated device has no kernel below it" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_several_simulated_devices_in_one_matrix(tmp_path: Path) -> None:
    paths = ("sim:nvme", "sim:nvme,serialised=writes")
    done = iocast(
        "experiment", "dio-matrix", *paths, "--time", "50ms", "--no-page", "--out", "runs", "--json", cwd=tmp_path
    )
    report = json.loads(done.stdout)
    verdicts = [row["verdict"] for row in report["experiment"]]
    assert verdicts == ["parallel", "parallel", "parallel", "serialised"]
    again = json.loads(iocast("report", run_folder(tmp_path / "runs"), "--json", cwd=tmp_path).stdout)
    assert again["verdict"] == report["verdict"]

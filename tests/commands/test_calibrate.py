"""`iocast calibrate`: says beforehand, measures, answers, and leaves a run that shows it again and can be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import compare, iocast, run_folder, without_machine

DEVICE = "sim:nvme,iops=5000/s"


def calibrate(tmp_path: Path, *more: str, columns: str = "100") -> tuple[str, Path]:
    asked = ("--max-latency", "2ms", "--time", "5s", "--no-page", "--out", "runs", *more)
    done = iocast("calibrate", DEVICE, *asked, cwd=tmp_path, COLUMNS=columns)
    assert done.returncode == 0, done.stderr
    return done.stdout, run_folder(tmp_path / "runs")


def test_a_simulated_device_start_to_end(tmp_path: Path) -> None:
    said, folder = calibrate(tmp_path, "--disks", "4", columns="80")
    compare("calibrate_capped.txt", without_machine(said.replace(folder.name, "<run>")))
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.long
def test_json_is_a_document_of_the_schema_and_the_card_has_it_too(tmp_path: Path) -> None:
    said, folder = calibrate(tmp_path, "--json", "--percentile", "mean")
    told = json.loads(said)
    assert told["kind"] == "calibration"
    assert (told["requested"][0]["limit_ns"], told["requested"][0]["quantile"]) == (2_000_000, None)
    maxima = {row["code"]: row for row in told["maxima"]}
    assert maxima["most_iops"]["rate_per_s"] == pytest.approx(5000, rel=0.01)
    assert maxima["most_iops"]["rate_low_per_s"] <= 5000 <= maxima["most_iops"]["rate_high_per_s"]
    assert maxima["most_throughput"]["throughput_low_bytes_per_s"] > 3e9
    assert sum(maxima["most_iops"]["latency_shares"]) == pytest.approx(1)
    assert {row["closed"] for row in told["curve"]} == {True, False}
    assert all(row["statistic_ns"] == row["response_mean_ns"] for row in told["curve"])
    card = json.loads(iocast("report", folder, "--json", cwd=tmp_path).stdout)
    headed = card["calibration"]
    assert (card["kind"], headed["maxima"], headed["curve"]) == ("card", told["maxima"], told["curve"])


@pytest.mark.long
def test_csv_is_the_curve(tmp_path: Path) -> None:
    said, _ = calibrate(tmp_path, "--format", "csv")
    head, *lines = said.splitlines()
    assert {"phase", "users", "depth", "rate_per_s", "statistic_ns", "verdict"} <= set(head.split(","))
    assert lines[0].startswith("randread 8k 1x1,")
    assert sum(line.startswith("open 8k") for line in lines) >= 6


@pytest.mark.long
def test_two_calibrations_compare_and_stand_side_by_side(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        calibrate(tmp_path / seed, "--seed", seed)
    folders = [str(run_folder(tmp_path / seed / "runs")) for seed in ("1", "2")]
    done = iocast("compare", *folders, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "randread 8k 1x8" in done.stdout
    group = tmp_path / "group"
    group.mkdir()
    for number, folder in enumerate(folders):
        Path(folder).rename(group / f"{number}-calibrate")
    repeats = iocast("report", str(group), cwd=tmp_path)
    assert repeats.returncode == 0, repeats.stderr
    assert "randread 8k 1x8" in repeats.stdout


@pytest.mark.long
def test_a_file_of_others_is_only_read(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(range(256)) * 4096 * 16)
    before = (tmp_path / "data").read_bytes()
    asked = ("--max-latency", "1s", "--time", "200ms", "--no-page", "--out", "runs", "--json")
    done = iocast("calibrate", "data", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kind"] == "calibration"
    assert (tmp_path / "data").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--max-latency"),
        (("--max-latency", "fast"), "--max-latency"),
        (("--max-latency", "1ms", "--percentile", "median"), "not a percentile from 50 to 99.9"),
    ],
)
def test_mistakes_name_the_option(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = iocast("calibrate", DEVICE, *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.long
def test_it_repeats_itself_and_is_no_job_of_repeat(tmp_path: Path) -> None:
    asked = ("--max-latency", "2ms", "--time", "1s", "--repeat", "2", "--out", "runs")
    done = iocast("calibrate", DEVICE, *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Calibrations")
    again = done.stderr.splitlines()[-1].partition("to see this again: iocast ")[2].split()
    assert iocast(*again, cwd=tmp_path).stdout == done.stdout
    refused = iocast("repeat", "3", "calibrate", ".", cwd=tmp_path)
    assert refused.returncode == 2
    assert "hint: for example iocast calibrate PATH --max-latency 10ms --repeat 3" in refused.stderr

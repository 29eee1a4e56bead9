"""`iocast size`: devices by name, by file and by run, the interview, and capacity alone refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from makers.command_line import IOCAST, compare, environment, iocast, run_folder

NEED = ("--capacity", "2TB", "--iops", "30000", "--mbps", "800", "--read", "70%", "--size", "8k", "--slo", "5ms")
LADDER = """\
name = "ladder"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
users = [1, 2, 4, 8, 16, 32]
"""


def test_what_binds(tmp_path: Path) -> None:
    shown = iocast("size", *NEED, "--device", "sata-ssd", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    compare("size_sata_ssd.txt", shown.stdout)


def test_the_library(tmp_path: Path) -> None:
    compare("size_library.txt", iocast("size", *NEED, cwd=tmp_path).stdout)


def test_capacity_alone_is_refused(tmp_path: Path) -> None:
    refused = iocast("size", "--capacity", "2TB", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "capacity alone does not size storage" in refused.stderr
    assert "hint: give --iops" in refused.stderr
    assert "--interview" in refused.stderr


def test_numbers_as_people_write_them(tmp_path: Path) -> None:
    told = json.loads(
        iocast("size", "--capacity", "2TB", "--iops", "30k", "--device", "nvme", "--json", cwd=tmp_path).stdout
    )
    assert told["states"][0]["rate_per_s"] == 30_000 * 1.3 / 2
    refused = iocast("size", "--capacity", "2TB", "--iops", "many", cwd=tmp_path)
    assert '--iops: "many" is not a rate' in refused.stderr


@pytest.mark.long
def test_the_interview(tmp_path: Path) -> None:
    def asked(answers: str) -> subprocess.CompletedProcess[str]:
        command = [*IOCAST, "size", "--interview", "--device", "sata-ssd", "--json"]
        return subprocess.run(
            command,
            input=answers,
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    sized = asked("3000\n-\n200ms\n30\n\n\n\n2TB\n")
    assert sized.returncode == 0, sized.stderr
    assert json.loads(sized.stdout)["states"][0]["limit_ns"] == 6_667_000
    assert "That leaves 6.67 ms for each I/O" in sized.stderr
    refused = asked("-\n-\n")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "capacity alone does not size storage" in refused.stderr


@pytest.mark.long
def test_a_measured_ladder(tmp_path: Path) -> None:
    (tmp_path / "ladder.toml").write_text(LADDER)
    run = iocast("run", "ladder.toml", "sim:nvme", "--time", "30s", "--out", "runs", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    folder = run_folder(tmp_path / "runs")
    asked = ("--capacity", "500GB", "--iops", "200000", "--read", "100%", "--slo", "1ms", "--device", folder)
    told = json.loads(iocast("size", *asked, "--json", cwd=tmp_path).stdout)
    assert {each["need"] for each in told["counts"]} >= {"capacity", "iops", "latency", "failure"}
    assert told["states"][0]["met"] is True
    assert any("trust A to C" in note for note in told["notes"])
    refused = iocast("size", *asked[:4], "--read", "70%", "--device", folder, cwd=tmp_path)
    assert "has no ladder of random writes with trust C or better" in refused.stderr

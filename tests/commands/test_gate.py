"""gate: what passes, what does not, what stays open, what is no baseline; the recipes for systems of CI."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import junitparser
import pytest
from makers.command_line import environment, iocast

JOB = """\
name = "storage"
[[phase]]
test = "randread"
size = "8k"
users = 2
time = "5s"
"""
SLOWER = ",slow=0s..100000s:1.1"  # every service takes a tenth longer
DEVICE = "sim:nvme,service=exponential:4ms,servers=4"
RECIPES = Path(__file__).parents[2] / "examples" / "ci"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a job and a baseline of ten runs."""
    directory = tmp_path_factory.mktemp("gate")
    (directory / "storage.toml").write_text(JOB)
    done = iocast("repeat", "10", "storage.toml", DEVICE, "--out", "baseline", cwd=directory)
    assert done.returncode == 0, done.stderr
    return directory


def test_equal_storage_passes(place: Path) -> None:
    done = iocast("gate", "baseline", "--out", "equal", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["gate"]["outcome"] == "passed"
    assert 3 <= said["gate"]["rounds"] < said["gate"]["most_rounds"] == 10
    assert (said["pairs"][0]["first"], said["pairs"][0]["other"]) == ("baseline", "now")


def test_a_tenth_slower_is_a_regression(place: Path) -> None:
    done = iocast("gate", "baseline", DEVICE + SLOWER, "--out", "slow", "-o", "gate.xml", "--force", cwd=place)
    assert done.returncode == 1, done.stderr
    (suite,) = junitparser.JUnitXml.fromfile(str(place / "gate.xml"))
    ends = {case.name: [type(each).__name__ for each in case.result] for case in suite}
    assert ends == {"randread 8k 2x1 throughput": ["Failure"], "randread 8k 2x1 p99": ["Failure"]}
    assert "Regression after " in (place / "gate.xml").read_text("utf-8")
    assert "to see this again: iocast compare baseline slow" in done.stderr
    (runs,) = (place / "slow").iterdir()
    again = iocast("compare", "baseline", str(runs), "--json", cwd=place)
    row = json.loads(again.stdout)["pairs"][0]["rows"][0]
    assert row["paired"], "the runs of one seed belong together, though one side has more"
    assert row["ratio"] == pytest.approx(1 / 1.1, rel=0.01)


def test_what_is_faster_passes(place: Path) -> None:
    done = iocast("gate", "baseline", DEVICE.replace("4ms", "2ms"), "--out", "fast", cwd=place)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"Passed after \d+ rounds: of 2 figures of throughput and p99, none is worse by 10% or more", done.stdout
    )


def test_what_scatters_too_much_stays_open(place: Path) -> None:
    """Three rounds of two figures at once: no interval is narrow enough, so nothing is said."""
    noisy = f"{DEVICE},noise=500/s:2s/7s"
    words = ("gate", DEVICE, noisy, "--job", "storage.toml", "--rounds", "3", "--out", "open")
    done = iocast(*words, "--json", cwd=place)
    assert (done.returncode, json.loads(done.stdout)["gate"]["outcome"]) == (3, "undecided")
    shown = iocast(*words, cwd=place)
    assert "Not decided after 3 rounds: of 2 figures of throughput and p99, 0 kept, 2 open; " in " ".join(
        shown.stdout.split()
    )


def test_a_smaller_limit_takes_more_rounds(place: Path) -> None:
    slightly = DEVICE + ",slow=0s..100000s:1.03"
    codes = {
        limit: iocast("gate", "baseline", slightly, "--limit", limit, "--out", f"limit-{limit}", cwd=place).returncode
        for limit in ("10%", "2")
    }
    assert codes == {"10%": 0, "2": 1}
    refused = iocast("gate", "baseline", "--limit", "80%", cwd=place)
    assert (refused.returncode, "from 1% to 50%" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("baseline", "--time", "1s"), "--size and --time are those of the baseline"),
        (("missing",), "missing"),
        ((DEVICE, "--job", "storage.toml"), "PATH is missing"),
        (("two", DEVICE), "a baseline needs at least 3 runs, of different seeds"),
        (("chosen",), "are chosen as it runs"),
    ],
)
def test_what_is_no_baseline(words: tuple[str, ...], why: str, place: Path) -> None:
    if words[0] == "two" and not (place / "two").exists():
        iocast("repeat", "2", "storage.toml", DEVICE, "--out", "two", cwd=place)
    if words[0] == "chosen" and not (place / "chosen").exists():
        iocast("calibrate", DEVICE, "--max-latency", "20ms", "--repeat", "3", "--out", "chosen", cwd=place)
    before = sorted(path.name for path in place.iterdir())
    done = iocast("gate", *words, "--out", "none", cwd=place)
    assert (done.returncode, why in done.stderr) == (2, True), done.stderr
    assert sorted(path.name for path in place.iterdir()) == before, "nothing is made"


def test_free_space_is_no_part_of_a_baseline(tmp_path: Path) -> None:
    """On a disk of others it changes from run to run, and the plan of each run has it."""
    (tmp_path / "storage.toml").write_text(JOB)
    iocast("repeat", "3", "storage.toml", DEVICE, "--out", "baseline", cwd=tmp_path)
    for number, file in enumerate(sorted(tmp_path.glob("baseline/*/*/run.json"))):
        run = json.loads(file.read_text("utf-8"))
        run["target"]["free_bytes"] = 10**9 + number
        file.write_text(json.dumps(run), "utf-8")
    done = iocast("gate", "baseline", "--out", "now", cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr


def test_a_gate_is_no_baseline(place: Path) -> None:
    iocast("gate", "baseline", "--out", "itself", cwd=place)
    (runs,) = (place / "itself").iterdir()
    done = iocast("gate", str(runs), "--out", "none", cwd=place)
    assert (done.returncode, "was made by a gate itself" in done.stderr) == (2, True), done.stderr


def script(name: str) -> str:
    """What a recipe runs in a shell, as its system would."""
    text = (RECIPES / name).read_text("utf-8")
    match name:
        case "github-actions.yml":
            blocks = re.findall(r"run: \|\n((?: {10}.*\n)+)", text)
        case "gitlab-ci.yml":
            blocks = re.findall(r"^    - (.*)\n", text, re.MULTILINE)
        case _:
            blocks = re.findall(r"script: '''\n(.*?)'''", text, re.DOTALL)
    assert blocks
    return "\n".join(blocks)


@pytest.mark.parametrize("name", sorted(path.name for path in RECIPES.iterdir()))
def test_recipes_for_ci(name: str, place: Path) -> None:
    """Equal storage passes, slower storage fails, and both leave a file for the system to show."""
    path = os.pathsep.join((str(place / "bin"), os.environ["PATH"]))
    (place / "bin").mkdir(exist_ok=True)
    program = place / "bin" / "iocast"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m iocast "$@"\n')
    program.chmod(0o755)
    for device, code in ((DEVICE, 0), (DEVICE + SLOWER, 1)):
        (place / "gate.xml").unlink(missing_ok=True)
        env = environment(PATH=path, OLD=DEVICE, STORAGE=device)
        done = subprocess.run(["bash", "-e", "-c", script(name)], cwd=place, env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        (suite,) = junitparser.JUnitXml.fromfile(str(place / "gate.xml"))
        assert suite.tests == 2

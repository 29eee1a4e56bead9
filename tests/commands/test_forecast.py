"""iocast forecast on the command line: one line first, at 80 columns, as JSON, as a page; refusals with a hint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast
from makers.ladder_runs import pool

ASKED = ("--iops", "4000", "--slo", "p99=8ms")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ladder of 8 servers of 1 ms."""
    place = tmp_path_factory.mktemp("forecast")
    done = iocast("forecast", "--measure", pool(8), *ASKED, cwd=place)
    assert done.returncode == 0, done.stderr
    assert "p99 will be 4." in done.stdout
    return place


@pytest.mark.long
def test_the_verdict_is_the_first_line_after_the_head(place: Path) -> None:
    done = iocast("forecast", "--on", "last", *ASKED, "--explain", "--what-if", "load*2", cwd=place, COLUMNS="80")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[3].startswith(("OK: at 4,000 IOPS", "MARGINAL: at 4,000 IOPS"))
    beyond = [
        line for line in lines if len(line) > 80 and "iocast forecast" not in line and not line.startswith("Fore")
    ]
    assert beyond == []
    assert "NOT OK: 8,000 IOPS is 100% of the" in done.stdout


@pytest.mark.long
def test_verdicts_that_fail_are_chosen(place: Path) -> None:
    """Without --fail-on every verdict is an answer: 0."""
    beyond = ("forecast", "--on", "last", "--iops", "80000", "--slo", "p99=8ms")
    done = iocast(*beyond, cwd=place)
    assert (done.returncode, "NOT OK: 80,000 IOPS is 10 times the" in done.stdout) == (0, True)
    assert iocast(*beyond, "--fail-on", "not-ok,unknown", cwd=place).returncode == 1
    assert iocast(*beyond, "--fail-on", "unknown", cwd=place).returncode == 0


def test_forms(place: Path) -> None:
    told = json.loads(iocast("forecast", "--on", "last", *ASKED, "--json", cwd=place).stdout)
    assert told["kind"] == "forecast"
    assert told["forecast"]["verdict"] in ("ok", "marginal")
    done = iocast("forecast", "--on", "last", *ASKED, "-o", "f.html", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "Forecast" in (place / "f.html").read_text()
    for form in ("markdown", "csv"):
        assert iocast("forecast", "--on", "last", *ASKED, "--format", form, cwd=place).returncode == 0


def test_refusals(place: Path) -> None:
    for words, error in (
        (("--on", "last"), "error: give the load with --iops or with --rates"),
        (ASKED, "error: give either --on RUN or --measure PATH"),
        (("--on", "last", "--iops", "x"), "error: --iops: "),
        (("--on", "last", *ASKED, "--what-if", "magic"), 'error: --what-if "magic" is not understood'),
        (("--on", "no-such-run", *ASKED), "error: "),
    ):
        done = iocast("forecast", *words, cwd=place)
        assert done.returncode == 2, words
        assert done.stderr.startswith(error), done.stderr
        assert "hint: " in done.stderr


def test_rows_too_short_to_be_used_are_refused_before_they_are_measured(tmp_path: Path) -> None:
    short = iocast("forecast", "--measure", pool(8), *ASKED, "--time", "2999ms", cwd=tmp_path)
    assert (short.returncode, short.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert short.stderr.startswith("error: --time 2999ms is too short for a forecast: a row needs 3 intervals of 1s\n")
    assert "hint: give --time 3s or more" in short.stderr


@pytest.mark.long
def test_the_least_time_that_a_refusal_names_is_enough(tmp_path: Path) -> None:
    least = iocast("forecast", "--measure", pool(8), *ASKED, "--time", "3s", cwd=tmp_path)
    assert least.returncode == 0, least.stderr
    assert "too short: fewer than three whole intervals" not in least.stdout
    verified = iocast("forecast", "--on", "last", *ASKED, "--verify", pool(8), "--time", "2s", cwd=tmp_path)
    assert "error: --time 2s is too short" in verified.stderr, verified.stderr

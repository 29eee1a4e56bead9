"""iocast watch: lines of this machine, tapes, scrapes, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from makers.command_line import IOCAST
from makers.left_out import long_after
from makers.live_moments import tape_of_a_load

from iocast.tools.oracle.capture_script import shipped


def _run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*IOCAST, "watch", *words], cwd=cwd, capture_output=True, text=True, timeout=60)


@pytest.mark.long
def test_lines_json_and_csv_of_one_tape_agree(tmp_path: Path) -> None:
    made = _run("iostat", "--interval", "100ms", "--count", "2", "--record", ".", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("Device ") == 2
    folder = next(path.name for path in tmp_path.iterdir())
    assert f"tape: ./{folder}" in made.stderr or f"tape: {folder}" in made.stderr
    played = _run("iostat", "--tape", folder, cwd=tmp_path)
    assert played.stdout == made.stdout
    objects = [
        json.loads(line) for line in _run("iostat", "--tape", folder, "--json", cwd=tmp_path).stdout.splitlines()
    ]
    rows = list(csv.DictReader(io.StringIO(_run("iostat", "--tape", folder, "--csv", cwd=tmp_path).stdout)))
    assert [each["Device"] for each in objects] == [row["Device"] for row in rows]
    assert [each["r/s"] for each in objects] == [float(row["r/s"]) for row in rows]


def _scraped(address: str) -> str:
    """What it answers; nothing before the first moment."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            return str(answer.read(), "utf-8")
    except urllib.error.HTTPError as early:
        if early.code != 503:
            raise
        time.sleep(0.05)
        return ""


def _check(text: str) -> None:
    """What Prometheus' own tool says of it: that it can be read, and nothing about its names."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.long
def test_a_scraper_is_answered(tmp_path: Path) -> None:
    watching = subprocess.Popen(
        [*IOCAST, "watch", "--listen", "127.0.0.1:0", "--interval", "100ms"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert watching.stderr is not None
        said, before = "", list[str]()
        while "/metrics" not in said or (not os.geteuid() and not any("tracing costs" in each for each in before)):
            line = watching.stderr.readline()
            assert line, "it ended"
            said = line if "/metrics" in line else said
            before.append(line)
        address = re.search(r"http://[\w.:]+/metrics", said)
        assert address is not None
        assert os.geteuid() or "CPU time an I/O" in "".join(before), "it serves without saying what it costs"
        body, deadline = "", time.monotonic() + 20
        while "iocast_" not in body and time.monotonic() < deadline:
            body = _scraped(address[0])
        assert "node_disk_reads_completed_total{" in body
        _check(body)
    finally:
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=20) == 0


@pytest.mark.long
def test_a_mode_of_a_database_plays_a_tape_under_a_heading_and_refuses_one_without_it(tmp_path: Path) -> None:
    folder = tape_of_a_load(tmp_path)
    played = _run("pgmon", "--tape", folder, cwd=tmp_path)
    assert (played.returncode, played.stdout.count("most in")) == (0, 1)
    assert played.stdout.count("| DataFileRead") == 20
    objects = [json.loads(line) for line in _run("pgmon", "--tape", folder, "--json", cwd=tmp_path).stdout.splitlines()]
    assert {(each["AAS"], each["io_AAS"], each["top_io_wait"]) for each in objects} == {(3, 3, "DataFileRead")}
    made = _run("iostat", "--interval", "100ms", "--count", "1", "--record", "other", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (other,) = (tmp_path / "other").iterdir()
    refused = _run("pgmon", "--tape", str(other), cwd=tmp_path)
    assert refused.returncode == 2
    assert "has no samples of postgresql" in refused.stderr


def test_the_script_for_sqlplus_is_printed(tmp_path: Path) -> None:
    printed = _run("--sqlplus-script", cwd=tmp_path)
    assert (printed.returncode, printed.stdout) == (0, shipped())


@pytest.mark.parametrize(
    ("words", "said"),
    long_after(
        1,
        [
            (("iostat", "--interval", "1ms"), "too short"),
            (("iostat", "--json", "--csv"), "exclude each other"),
            (("iostat", "--device", "nosuchdisk", "--count", "1"), "does not exist"),
            (("--tape", "nowhere"), "is not a run folder"),
            (("--tape", ".", "--record", "."), "--tape plays"),
            (("--listen", "nowhere"), "is not HOST:PORT"),
            (("--tape", ".", "--speed", "-1"), "below 0"),
            (("pgmon", "--count", "1"), "reads a database"),
            (("pgmon", "--database", "mysql://app@/", "--count", "1"), "reads a database"),
        ],
    ),
)
def test_refusals(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    refused = _run(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert said in refused.stderr
    assert "hint: " in refused.stderr
    assert not list(tmp_path.iterdir())

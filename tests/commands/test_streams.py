"""Streams that are closed, full or left by their reader: a run goes on to its end and leaves with its own code."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, in_own_process, iocast, run_folder, small_job
from makers.left_out import long_after, long_but

RUN = ("run", "card-quick", "sim:nvme", "--time", "10ms", "--no-page")
STREAMS = ("closed", "full", "left")


@contextmanager
def _stream(kind: str) -> Iterator[int]:
    """What a shell hands over: a device that is full, or a pipe whose reader may have gone."""
    if kind == "full":
        end = os.open("/dev/full", os.O_WRONLY)
    else:
        gone, end = os.pipe()
        if kind == "left":
            os.close(gone)
    try:
        yield end
    finally:
        os.close(end)


def _run(place: Path, stdout: str, stderr: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """iocast with its streams as a shell redirects them; "" keeps one."""
    closed = "".join(f" {number}>&-" for number, kind in ((1, stdout), (2, stderr)) if kind == "closed")
    with _stream(stdout) as out, _stream(stderr) as err:
        return subprocess.run(
            ["/bin/sh", "-c", f'exec "$@"{closed}', "sh", *IOCAST, *arguments],
            cwd=place,
            env=environment(),
            stdout=out if stdout in ("full", "left") else subprocess.PIPE,
            stderr=err if stderr in ("full", "left") else subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )


def _status(place: Path) -> tuple[str, bool]:
    folder = run_folder(place / "iocast-runs")
    run = json.loads((folder / "run.json").read_bytes())
    return run["status"], len(run["phases"]) == len(run["plan"]["phases"])


@pytest.mark.parametrize("stdout", long_but(("", *STREAMS), "closed", "left"))
@pytest.mark.parametrize("stderr", long_but(("", *STREAMS), "", "left"))
def test_a_run_goes_on_to_its_end(stdout: str, stderr: str, tmp_path: Path) -> None:
    done = _run(tmp_path, stdout, stderr, *RUN)
    assert (done.returncode, _status(tmp_path)) == (0, ("done", True))
    if (stdout, stderr) == ("full", ""):
        folder = run_folder(tmp_path / "iocast-runs")
        said = f"note: not printed: No space left on device; to see it: iocast report iocast-runs/{folder.name}"
        assert said in done.stderr.splitlines()


@pytest.mark.parametrize("stdout", long_after(1, STREAMS))
def test_a_missed_grade_is_still_a_missed_grade(stdout: str, tmp_path: Path) -> None:
    done = _run(
        tmp_path, stdout, "", "run", "card-quick", "sim:hdd", "--time", "10ms", "--no-page", "--fail-under", "A"
    )
    assert (done.returncode, _status(tmp_path)) == (1, ("done", True))


@pytest.mark.long
def test_the_page_is_left_although_nothing_can_be_printed(tmp_path: Path) -> None:
    done = _run(tmp_path, "full", "", *RUN[:-1])
    assert done.returncode == 0
    assert (run_folder(tmp_path / "iocast-runs") / "report.html").exists()


@pytest.mark.parametrize(
    "verb",
    long_after(
        1, map(pytest.param, [("repeat", "2", "card-quick", "sim:nvme"), ("ab", "card-quick", "sim:nvme", "sim:hdd")])
    ),
)
def test_all_runs_of_a_group_are_made_and_said(verb: tuple[str, ...], tmp_path: Path) -> None:
    done = _run(tmp_path, "full", "", *verb, "--time", "1ms", *(("--rounds", "1") if verb[0] == "ab" else ()))
    group = run_folder(tmp_path / "iocast-runs")
    assert done.returncode == 0, done.stderr
    assert "note: not printed: No space left on device" in done.stderr
    assert f"to see this again: iocast report iocast-runs/{group.name}" in done.stderr
    assert len(list(group.rglob("run.json"))) == 2


@pytest.mark.parametrize("stderr", long_after(1, STREAMS))
def test_a_refusal_keeps_its_code(stderr: str, tmp_path: Path) -> None:
    assert _run(tmp_path, "", stderr, "run", "nothing.toml").returncode == 2
    assert _run(tmp_path, "", stderr, "run", "--no-such-option").returncode == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts an empty /dev, in a namespace of its own")
def test_without_devices_an_error_says_what_is_missing() -> None:
    script = f"mount -t tmpfs none /dev && exec {' '.join(IOCAST)} runs"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False, env=environment()
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: /dev/null: ")
    assert "hint: mount /dev" in done.stderr


@pytest.mark.parametrize("words", [("run", "small.toml", "sim:nvme"), ("ab", "small.toml", "sim:nvme", "sim:nvme")])
def test_quiet_says_nothing_but_the_result(tmp_path: Path, words: tuple[str, ...]) -> None:
    small_job(tmp_path, direct=False)
    rounds = ("--rounds", "1") if words[0] == "ab" else ()
    quiet = iocast(*words, *rounds, "--quiet", cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert quiet.stdout
    refused = iocast(words[0], "missing.toml", *words[2:], "--quiet", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")


def test_a_locale_without_a_character_costs_that_character(tmp_path: Path) -> None:
    (tmp_path / "x\x1b").mkdir()
    done = in_own_process(
        "clean", "--dry-run", "x\x1b", cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr

"""`iocast replay` and `iocast capture` from outside: what they say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast
from makers.msr_traces import every, msr
from makers.rootly import need


def test_a_replay_is_a_run_whose_verdict_begins_with_it(tmp_path: Path) -> None:
    trace = msr(tmp_path, every(2.0, 500, 1.5))
    done = iocast("replay", trace, "sim:nvme", "--json", "--no-page", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    card = json.loads(done.stdout)
    assert card["verdict"].startswith("500 of 500 events of the trace were replayed at their times")
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    again = iocast("report", str(folder), "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["verdict"] == card["verdict"]


def test_a_replay_shows_the_times_of_the_trace_beside_its_own(tmp_path: Path) -> None:
    """Its screen said what not to use, and had no figure."""
    trace = msr(tmp_path, every(2.0, 500, 1.5))
    done = iocast("replay", trace, "sim:nvme", "--no-page", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    assert shown.index("Times in the trace and here") < shown.index("\nreplay ") < shown.index("\nNext")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("replay", "no-such-trace", "sim:nvme"), "no such file"),
        (("replay", "text.txt", "sim:nvme"), "no trace format"),
        (("replay", "trace.csv", "sim:nvme", "--speed", "0"), "--speed 0 is not from"),
        (("replay", "trace.csv", "sim:nvme", "--mode", "quick"), "quick"),
        (("replay", "trace.csv", "sim:nvme,size=1MiB"), "the trace reaches to 2,048,000 bytes"),
        (("replay", "trace.csv", "sim:nvme", "--target", "sdq"), "the trace has no target sdq"),
        (("capture",), "nothing to capture"),
        (("capture", "--iostat", "--pid", "1"), "--iostat logs disk counters"),
        (("capture", "--device", "vda", "--interval", "1s"), "--interval needs --iostat"),
        (("capture", "--path", "no-such-folder"), "no-such-folder does not exist"),
        (("capture", "--seconds", "-1", "--", "true"), "--time -1 is not above 0"),
    ],
)
def test_mistakes_are_refused_with_a_way_out(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    msr(tmp_path, every(2.0, 500, 1.5))
    (tmp_path / "text.txt").write_text("nothing that is a trace\n")
    done = iocast(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "iocast-runs").exists()


def test_a_capture_of_a_client_alone_says_where_the_io_of_its_server_is(tmp_path: Path) -> None:
    need()
    (tmp_path / "data").mkdir()
    done = iocast("capture", "--path", "data", "--", "true", cwd=tmp_path)
    if done.returncode and ("tracing" in done.stderr or "mounted" in done.stderr):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    assert "capturing calls of true on files below data into" in done.stderr
    assert "no I/O was seen: where a server makes the I/O for a command, capture --path DIR without" in done.stderr
    profiled = iocast("profile", "capture.parquet", cwd=tmp_path)
    assert (profiled.returncode, "capture.parquet holds no I/O" in profiled.stderr) == (2, True)


def test_counters_are_logged_for_as_long_as_asked_and_imported(tmp_path: Path) -> None:
    done = iocast("capture", "--iostat", "--interval", "50ms", "--time", "200ms", "-o", "week.log", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "week.log").read_text()
    assert text.count("TS ") == 5
    assert "to read it: iocast import week.log" in done.stderr
    if len(text.splitlines()) > 5:  # a machine with a disk
        read = iocast("import", "week.log", cwd=tmp_path)
        assert read.returncode == 0, read.stderr

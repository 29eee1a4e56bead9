"""Progress: plain lines where nobody looks, one line that stays one line on a terminal."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.left_out import long_after
from msgspec.structs import replace

from iocast import load
from iocast.commands.shell.progress import LiveProgress, PlainProgress, live_line, progress
from iocast.commands.shell.terminal_listener import TerminalListener, lines
from iocast.jobs import load_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.model.measurement import ErrorCount
from iocast.model.plan import Phase, Plan
from iocast.model.run import PhaseRecord
from iocast.sessions.events import BuildStep, DatabaseNoted, Stopped


@given(
    done=st.floats(0, 1),
    width=st.integers(1, 200),
    name=st.text("abc ×", max_size=40),
    wrong=st.sampled_from(["", "17 errors"]),
)
def test_the_live_line_fits(done: float, width: int, name: str, wrong: str) -> None:
    line = live_line(done, "3/14", name, "36.1k IOPS", wrong, "0:25 left", width)
    assert len(line) <= width
    if width >= 26:
        assert line.endswith("0:25 left")
        assert wrong in line


def test_the_bar_shows_the_share() -> None:
    for done, signs in ((0.0, 0), (0.5, 12), (1.0, 24)):
        assert live_line(done, "1/2", "a", "", "", "0:01 left", 100).count("━") == signs


@pytest.fixture(scope="module")
def record() -> PhaseRecord:
    """One measured phase."""
    made: Plan = make_plan(load_job("card-quick"), parse_target("sim:nvme"), seed=1, memory_bytes=1 << 30)[0]
    phase = replace(made.phases[0], length=replace(made.phases[0].length, seconds=0.01))
    handed = load.phase_plan(made, phase, load.lay_out(made).files, 1)
    return PhaseRecord(phase=phase, plan=handed, measurement=load.measure(handed, lambda *_: True)[0])


def test_plain_lines(record: PhaseRecord) -> None:
    out = io.StringIO()
    plain = progress(lambda: False, out)
    assert isinstance(plain, PlainProgress)
    plain.begin(record.phase, 8, 12, 75.01)
    plain.tick(1, 1, 1, 0)
    plain.end(record)
    plain.begin(record.phase, 9, 12, None)
    stopped = replace(record.measurement, stopped="interrupted")
    plain.end(replace(record, measurement=stopped))
    plain.close()
    one, two = out.getvalue().splitlines()
    assert re.fullmatch(r"\[ 9/12\] randread 8k 1x1: [\d.]+k IOPS, [\d.]+ MB/s, 1:15 left", one)
    assert re.fullmatch(r"\[10/12\] randread 8k 1x1: [\d.]+k IOPS, [\d.]+ MB/s, interrupted", two)


@pytest.mark.parametrize(("failed", "said"), [(0, ""), (1, ", 1 error"), (12, ", 12 errors")])
def test_failed_ios_are_counted_as_one_says_it(record: PhaseRecord, failed: int, said: str) -> None:
    out = io.StringIO()
    plain = PlainProgress(out)
    errors = (ErrorCount(op="read", errno=5, name="EIO", count=failed, first=()),) if failed else ()
    plain.begin(record.phase, 0, 1, None)
    plain.end(replace(record, measurement=replace(record.measurement, errors=errors)))
    assert out.getvalue().endswith(f" MB/s{said}\n")


class Screen(io.StringIO):
    """A terminal without a size."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def test_a_live_line_is_taken_away_at_the_end(record: PhaseRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, stop = Screen(), []
    live = progress(lambda: bool(stop), out)
    assert isinstance(live, LiveProgress)
    phase: Phase = replace(record.phase, length=replace(record.phase.length, seconds=10.0))
    live.begin(phase, 0, 2, 20.0)
    live.tick(2_000_000_000, 5000, 1 << 20, 3)
    stop.append(1)
    live.tick(2_100_000_000, 5000, 1 << 20, 3)
    live.end(record)
    live.close()
    first, second, third, last = [part.removesuffix("\x1b[K") for part in out.getvalue().split("\r")[1:]]
    assert first.endswith("1/2  randread 8k 1x1  0:20 left")
    assert second.endswith("1/2  randread 8k 1x1  2.50k IOPS  3 errors  0:20 left")
    assert third.endswith("stopping")
    assert last == ""


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress(lambda: False, Screen()), PlainProgress)


class Terminal:
    """A real terminal, by tmux."""

    def __init__(self, place: Path) -> None:
        self.tmux = ["tmux", "-S", str(place / "socket"), "-f", "/dev/null"]
        self.do("new-session", "-d", "-x", "100", "-y", "50", "-s", "t", "-c", str(place), "sh")
        # What is typed before the shell asks for it is echoed twice: wait for the prompt behind the first word.
        self.do("send-keys", "-t", "t", "PS1='> '; clear; echo above", "Enter")
        self.wait_for("above\n>")

    def do(self, *words: str) -> str:
        return subprocess.run([*self.tmux, *words], check=True, capture_output=True, text=True).stdout

    def type(self, line: str) -> None:
        self.do("send-keys", "-t", "t", line, "Enter")

    def screen(self) -> str:
        return self.do("capture-pane", "-p", "-S", "-100", "-t", "t")

    def wait_for(self, words: str) -> str:
        deadline = time.monotonic() + 30
        while words not in (shown := self.screen()):
            assert time.monotonic() < deadline, shown
            time.sleep(0.05)
        return shown


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    made = Terminal(tmp_path)
    yield made
    made.do("kill-server")


JOB = """\
name = "seen"
[files]
size = "4MiB"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
direct = false
[[phase]]
test = "one"
[[phase]]
test = "two"
"""


@pytest.mark.long
def test_a_real_terminal_that_is_resized(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB)
    terminal.type(f"{sys.executable} -m iocast run job.toml . --no-page >card; echo ended $?")
    assert "━" in terminal.wait_for("one 8k 1x1")
    terminal.do("resize-window", "-t", "t", "-x", "40", "-y", "50")
    terminal.wait_for("two 8k 1x1")
    terminal.do("resize-window", "-t", "t", "-x", "100", "-y", "50")
    shown = terminal.wait_for("ended 0")
    assert not re.search("━|╌| left|IOPS", shown), shown
    lines = [line for line in shown.splitlines() if line.strip()]
    assert lines[0] == "above"
    assert lines[-4].endswith("measures 2 rows: 6 s")
    assert lines[-3].startswith("note: results are written to the storage under test (")
    assert lines[-2:] == ["ended 0", ">"]
    assert "\x1b" not in (tmp_path / "card").read_text()


@pytest.mark.parametrize(
    ("setting", "coloured"), long_after(1, [("", True), ("NO_COLOR=1", False), ("TERM=dumb", False)])
)
def test_colours_are_for_terminals(terminal: Terminal, setting: str, coloured: bool) -> None:
    terminal.type(f"clear; {setting} {sys.executable} -m iocast card sim:nvme --time 1ms --no-page; echo ended $?")
    terminal.wait_for("ended 0")
    shown = terminal.do("capture-pane", "-e", "-p", "-S", "-100", "-t", "t")
    assert ("\x1b[1m" in shown) == coloured


def test_a_row_that_was_cut_short_is_not_counted_as_finished() -> None:
    assert list(lines(Stopped(2, 2, cut_short=1))) == ["stopped: 2 of 2 rows kept, 1 of them cut short"]
    assert list(lines(Stopped(1, 2))) == ["stopped: 1 of 2 rows finished and kept"]


def test_a_build_in_a_file_has_one_line_a_step_and_one_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    """A session tells a step five times a second, whichever verb builds."""
    listener, size = TerminalListener(), 150 << 20
    for fifth in range(750):
        listener.tell(BuildStep("fill", 1, fifth * size // 750, size, fifth / 5, 0))
    for step in ("index", "vacuum", "checkpoint"):
        for fifth in range(750, 760):
            listener.tell(BuildStep(step, 1, size, size, fifth / 5, 0))
    listener.tell(DatabaseNoted("its caches are empty"))
    assert capsys.readouterr().err.splitlines() == [
        "filling table 1: 0% of 150.0 MiB",
        "filling table 1: 40% of 150.0 MiB, about 90.0 s left",
        "filling table 1: 80% of 150.0 MiB, about 30.0 s left",
        "building the index of table 1",
        "vacuum and analyze of table 1",
        "checkpoint",
        "note: its caches are empty",
    ]


def test_a_build_on_a_terminal_is_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Screen()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setenv("TERM", "xterm")
    listener = TerminalListener()
    listener.tell(BuildStep("index", 1, 1 << 20, 1 << 20, 1.0, 0))
    listener.tell(BuildStep("checkpoint", 0, 1 << 20, 1 << 20, 1.1, 0))
    assert out.getvalue() == "\rbuilding the index of table 1\x1b[K\rcheckpoint\x1b[K"
    listener.tell(DatabaseNoted("done"))
    assert out.getvalue().endswith("\rcheckpoint\x1b[K\r\x1b[Knote: done\n")

"""A signal becomes a question, and lengths of time are said as one plans with them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iocast.commands import run_command_line
from iocast.commands.shell.interrupts import Interrupts
from iocast.text import about


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (39, "39 s"), (99.4, "99 s"), (1320, "22 min"), (7200, "2.0 h")]
)
def test_about(seconds: float, text: str) -> None:
    assert about(seconds) == text


def test_the_first_signal_is_a_question_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        assert (interrupts.stopped(), interrupts.exit_code) == (False, 0)
        os.kill(os.getpid(), signal.SIGTERM)
        assert (interrupts.stopped(), interrupts.exit_code) == (True, 143)
        assert signal.getsignal(signal.SIGINT) == signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.fixture
def sighup() -> Iterator[None]:
    """Hang-ups are not ignored, as they are where the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("sighup")
def test_sighup_ends_like_sigterm() -> None:
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        assert (interrupts.stopped(), interrupts.exit_code) == (True, 129)


@pytest.mark.usefixtures("sighup")
def test_a_hang_up_that_is_ignored_stays_ignored() -> None:
    """nohup keeps a run going."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGHUP)
        assert (interrupts.stopped(), interrupts.exit_code) == (False, 0)


@pytest.mark.parametrize("moment", ["import iocast.__main__", "import iocast.__main__; import iocast.commands"])
def test_an_interrupt_while_modules_are_imported_is_no_traceback(moment: str) -> None:
    program = f"import os, signal; {moment}; os.kill(os.getpid(), signal.SIGINT); import iocast.sessions.measure"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_an_interrupt_while_the_page_is_written_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("iocast.report.renderers.html.render", interrupted)
    assert run_command_line(["card", "sim:hdd", "--time", "1s"]) == 130
    shown = capsys.readouterr()
    assert shown.out.startswith("card quick · sim:hdd")
    assert shown.err.endswith("stopped\n")
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    assert sorted(os.listdir(folder)) == ["intervals", "run.json", "summary.json"]


def test_an_interrupt_while_a_query_runs_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """DuckDB answers Ctrl-C with an error of its own."""

    def query(*_: object, **__: object) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("iocast.sessions.clean_up.clean_up", query)
    assert run_command_line(["clean", "."]) == 130
    assert capsys.readouterr().err.endswith("stopped\n")

"""A signal becomes a question, and lengths of time are said as one plans with them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iocast.commands import run_command_line
from iocast.commands.shell import interrupts as interrupts_module
from iocast.commands.shell.interrupts import Interrupts
from iocast.text import about


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (39, "39 s"), (99.4, "99 s"), (1320, "22 min"), (7200, "2.0 h")]
)
def test_about(seconds: float, text: str) -> None:
    assert about(seconds) == text


@pytest.fixture
def long_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that the machine holds up in the midst of a burst is not killed for it."""
    monkeypatch.setattr(interrupts_module, "SAME_WISH_S", 3600.0)


@pytest.mark.usefixtures("long_second")
def test_a_burst_of_signals_is_one_question_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        assert (interrupts.stopped(), interrupts.exit_code) == (False, 0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGINT):
            os.kill(os.getpid(), number)
            assert (interrupts.stopped(), interrupts.exit_code) == (True, 143)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.long
def test_a_later_signal_kills_a_process_that_is_stuck() -> None:
    """Its first thread returns to Python neither for the first signal nor for those after it."""
    program = (
        "import hashlib\n"
        "from iocast.commands.shell.interrupts import Interrupts\n"
        "with Interrupts() as interrupts:\n"
        "    print('stuck', flush=True)\n"
        "    while True:\n"
        "        rounds = 2_000_000_000 if interrupts.stopped() else 1_000_000\n"
        "        hashlib.pbkdf2_hmac('sha256', b'a', b'b', rounds)\n"
    )
    stuck = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert stuck.stdout is not None
    assert stuck.stdout.readline() == "stuck\n"
    try:
        while stuck.poll() is None:
            stuck.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                stuck.wait(0.1)
    finally:
        stuck.kill()
    assert stuck.returncode == -signal.SIGTERM


def test_an_interrupt_within_an_import_is_raised_after_it(tmp_path: Path) -> None:
    """What C or a callback makes of it in there is an ImportError, a crash, or nothing."""
    (tmp_path / "interrupted.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhole = True\n")
    program = (
        "import time\n"
        "from iocast.commands.shell.interrupts import raise_between_imports\n"
        "raise_between_imports()\n"
        "try:\n"
        "    import interrupted\n"
        "    while True:\n"
        "        time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('whole' if interrupted.whole else 'half')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("whole\n", "")


def test_what_is_half_made_is_removed_whatever_comes_meanwhile() -> None:
    program = (
        "import os, signal\n"
        "from iocast.commands.shell import interrupts\n"
        "interrupts.SAME_WISH_S = 3600.0\n"
        "interrupts.raise_between_imports()\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt:\n"
        "    for _ in range(4):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    print('removed')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("removed\n", "")


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

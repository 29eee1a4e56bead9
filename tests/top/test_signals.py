"""A signal ends the screen as a key does: the terminal is as it was, and the tape is whole."""

from __future__ import annotations

import os
import pty
import select
import signal
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, run_folder
from makers.left_out import long_after

from iocast import archive

pytest.importorskip("textual")
pytestmark = pytest.mark.slow
SCREEN, BACK = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.mark.parametrize("number", long_after(1, [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]))
def test_the_terminal_is_given_back_and_the_tape_is_whole(tmp_path: Path, number: int) -> None:
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(tmp_path)
        os.execve(IOCAST[0], [*IOCAST, "top", "--interval", "100ms", "--record", "tapes"], environment(TERM="xterm"))
    said = b""
    while b"this machine" not in said.partition(SCREEN)[2]:
        said += os.read(terminal, 65536)
    os.kill(pid, number)
    try:
        while select.select([terminal], [], [], 60)[0]:
            said += os.read(terminal, 65536)
    except OSError:  # it has ended
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0, said[-500:]
    assert said.count(BACK) == said.count(SCREEN) == 1
    assert archive.load(str(run_folder(tmp_path / "tapes"))).status == "done"

"""Where tracepoints cannot be used, strace follows the process, and its lines become the same table."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import duckdb
import pytest

from iocast import _core
from iocast.errors import TargetError
from iocast.observe import capture
from iocast.observe.capture import Captured, HeldCommand

WRITES = (
    "import os; file = os.open('data', os.O_CREAT | os.O_WRONLY)\nfor _ in range(7): os.pwrite(file, b'x' * 512, 0)\n"
)


@pytest.fixture(autouse=True)
def _without_tracing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(_options: str, _to: str) -> None:
        raise _core.CoreError("block tracepoints: forbidden here", "run as root", 1)

    monkeypatch.setattr(_core, "Capture", refused)
    monkeypatch.chdir(tmp_path)


def test_a_command_is_followed_from_its_first_call(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    command = HeldCommand([sys.executable, "-I", "-c", WRITES])
    try:
        capturing = capture.start(Captured(pids=(command.pid,)), str(tmp_path / "events.parquet"))
    except TargetError as error:
        command.kill()
        pytest.skip(error.message)  # nobody may trace here
    assert "strace is used instead" in capturing.notes[0]
    command.let_go()
    while command.exit_code is None:
        pass
    if "strace" not in dict(_core.trace_formats()):
        capturing.stop()
        pytest.skip("no reader of strace yet")
    report = capturing.finish()
    ((writes,),) = duckdb.execute("select count(*) from 'events.parquet' where op = 1 and size = 512").fetchall()
    assert (writes, report.clock) == (7, "unix")


def test_a_device_has_no_other_way(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="forbidden here") as refused:
        capture.start(Captured(devices=(((254, 0), "vda"),)), str(tmp_path / "events.parquet"))
    assert refused.value.hint == "run as root"

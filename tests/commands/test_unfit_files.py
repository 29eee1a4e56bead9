"""A path of a file that never ends, or that nobody writes: refused by every verb that reads it, with the way out."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, iocast

TRACE = "fio version 3 iolog\n1 file add\n2 file open\n" + "".join(
    f"{9 * n} file read {8192 * n} 8192\n" for n in range(99)
)
VERBS = {
    "profile": ("profile", "UNFIT"),
    "profile --check": ("profile", "--check", "UNFIT", "trace"),
    "replay": ("replay", "UNFIT", "."),
    "import": ("import", "UNFIT"),
    "run": ("run", "UNFIT", "."),
    "study": ("study", "UNFIT", "."),
    "rates": ("forecast", "--on", "nothing", "--rates", "UNFIT"),
    "copy": ("experiment", "copy", "UNFIT", "copied"),
    "report": ("report", "UNFIT"),
    "tape": ("watch", "iostat", "--tape", "UNFIT"),
}
KINDS = ("fifo", "socket", "device", "terminal")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A directory with what is no file to read."""
    (tmp_path / "trace").write_text(TRACE)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "terminal").symlink_to("/dev/ptmx")
    before = Path.cwd()
    os.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        yield tmp_path
    os.chdir(before)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_refused(place: Path, verb: str, kind: str) -> None:
    refused = iocast(*(kind if word == "UNFIT" else word for word in VERBS[verb]), cwd=place)
    assert refused.returncode == 2, refused.stderr
    assert kind in refused.stderr
    assert "\n\nhint: " in refused.stderr


def test_a_trace_that_comes_through_a_fifo_is_waited_for(place: Path) -> None:
    """The command that writes it is started beside the one that reads, or after it."""
    reading = subprocess.Popen(
        [*IOCAST, "profile", "fifo"], cwd=place, env=environment(), stderr=subprocess.PIPE, text=True
    )
    writer = threading.Thread(target=(place / "fifo").write_text, args=(TRACE,), daemon=True)
    writer.start()
    _, said = reading.communicate(timeout=60)
    assert (reading.returncode, "profile: " in said) == (0, True), said


def test_what_the_shell_gives_is_read(place: Path) -> None:
    done = subprocess.run(
        ["/bin/bash", "-c", 'exec "$@" <(sleep 0.3; cat trace)', "bash", *IOCAST, "profile"],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

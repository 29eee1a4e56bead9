"""Runs the real `iocast` command in a process of its own, for the tests of what people see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

IOCAST = (sys.executable, "-m", "iocast")
GOLDEN = Path(__file__).parents[1] / "golden" / "commands"

SMALL = """\
name = "small"

[files]
size = "4MiB"

[defaults]
time = "100ms"
size = "8k"
pattern = "random"
direct = {direct}

[[phase]]
test = "randread"
users = 2

[[phase]]
test = "randwrite"
write = 100
"""


def small_job(directory: Path, direct: bool = True) -> str:
    """The path of a job of two short rows on a file of 4 MiB."""
    file = directory / "small.toml"
    file.write_text(SMALL.format(direct=str(direct).lower()))
    return str(file)


def environment(**changes: str) -> dict[str, str]:
    """The environment of a plain shell."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return kept | {"PYTHONWARNINGS": "error", "LC_ALL": "C.UTF-8"} | changes


def iocast(
    *arguments: str | Path, cwd: Path, before: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs `iocast` to its end; `before` is what starts it.

    A page of charts takes a second or two to draw: only where `--page` is asked for is one made.
    """
    verb, rest = arguments[:1], arguments[1:]
    plain = ("--no-page",) if verb and verb[0] in ("card", "run") and "--help" not in rest else ()
    return subprocess.run(
        [*before, *IOCAST, *map(str, (*verb, *plain, *rest))],
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def in_this_process(*arguments: str) -> int:
    """The exit code of `iocast`, without the time that a process of its own takes to start."""
    from iocast.commands import run_command_line

    return run_command_line(list(arguments))


def start(
    *arguments: str | Path, cwd: Path, before: tuple[str, ...] = (), env: dict[str, str] | None = None, **popen: Any
) -> subprocess.Popen[str]:
    """Starts `iocast` and lets it run; `before` is what starts it."""
    return subprocess.Popen(
        [*before, *IOCAST, *map(str, arguments)],
        cwd=cwd,
        env=environment(**(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **popen,
    )


def run_folder(out: Path) -> Path:
    """The one run folder in `out`; there must be nothing else."""
    (folder,) = out.iterdir()
    return folder


def without_machine(text: str) -> str:
    """A card without the machine and the moment of its run: two runs of one second are numbered in their folders."""
    text = re.sub(
        r"^\d{4}-\d\d-\d\d \d\d:\d\d UTC · .* · iocast .*$", "<when> · <host> · iocast <version>", text, flags=re.M
    )
    text = re.sub(r"Machine .*?\nResults", "Machine ...\n\nResults", text, flags=re.DOTALL)
    return re.sub(r"\d{4}-\d\d-\d\dT\d{6}((?:-[a-z]+)+)(?:-\d+)?\b", r"<time>\1", text)


def compare(name: str, text: str) -> None:
    """Against a golden file, which IOCAST_UPDATE_GOLDEN=1 writes anew."""
    file = GOLDEN / name
    if os.environ.get("IOCAST_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")

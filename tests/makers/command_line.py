"""Runs the real `iocast` command, for the tests of what people see: in this process, or in one of its own."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

IOCAST = (sys.executable, "-m", "iocast")
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
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
    """The environment of a plain shell, of a user without defaults of his own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return kept | {"PYTHONWARNINGS": "error", "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": "/nonexistent"} | changes


def iocast(
    *arguments: str | Path, cwd: Path, before: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs `iocast` to its end, in this process: one of its own takes half a second to start.

    Where `before` is what starts it, or the environment says more than how wide and bright the screen is, it does
    get its own.
    """
    if before or not {*env} <= {"COLUMNS", "NO_COLOR"}:
        return in_own_process(*arguments, cwd=cwd, before=before, **env)
    words = _words(*arguments)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _as_started(cwd, environment(**env), out, err):
            code = in_this_process(*words)
        gc.collect()  # closes what a process that ends has closed
        said = [_text(file) for file in (out, err)]
    return subprocess.CompletedProcess(["iocast", *words], code, *said)


def in_own_process(
    *arguments: str | Path, cwd: Path, before: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs `iocast` to its end where the process is the subject: its start, streams, limits and end."""
    return subprocess.run(
        [*before, *IOCAST, *_words(*arguments)],
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _words(*arguments: str | Path) -> list[str]:
    """A page of charts takes a second or two to draw: only where `--page` is asked for is one made."""
    verb, rest = arguments[:1], arguments[1:]
    plain = ("--no-page",) if verb and verb[0] in ("card", "run") and "--help" not in rest else ()
    return [str(word) for word in (*verb, *plain, *rest)]


@contextlib.contextmanager
def _as_started(cwd: Path, env: dict[str, str], out: IO[bytes], err: IO[bytes]) -> Iterator[None]:
    """What a new process has: its folder, environment, streams and warnings; afterwards all is as before.

    Descriptors 1 and 2 are the files of its output, also for the programs that it starts.
    """
    from iocast.commands.shell.streams import Messages

    folder, known, stdin = os.getcwd(), dict(os.environ), sys.stdin
    handlers = {number: signal.getsignal(number) for number in (*ENDING, signal.SIGALRM)}
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as after:
        for descriptor, file in ((1, out), (2, err)):
            kept = os.dup(descriptor)
            after.callback(os.close, kept)
            after.callback(os.dup2, kept, descriptor)
            os.dup2(file.fileno(), descriptor)
        stdout = after.enter_context(open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False))
        stderr = after.enter_context(open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False))
        after.enter_context(contextlib.redirect_stdout(stdout))
        after.enter_context(contextlib.redirect_stderr(cast(IO[str], Messages(stderr))))
        after.enter_context(warnings.catch_warnings())
        warnings.simplefilter("error")
        warnings.simplefilter("default", ResourceWarning)  # of what earlier tests left, too
        sys.stdin = after.enter_context(open(os.devnull))
        try:
            os.environ.clear()
            os.environ.update(env)
            os.chdir(cwd)
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(known)
            sys.stdin = stdin
            resource.setrlimit(resource.RLIMIT_NOFILE, files)
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _text(file: IO[bytes]) -> str:
    """What was written to it, with line ends as `subprocess` gives them."""
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


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

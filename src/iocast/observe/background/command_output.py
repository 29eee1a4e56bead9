"""What a program prints, asked for with a time limit: one that hangs is killed, and not waited for."""

from __future__ import annotations

import os
from collections.abc import Callable

SECONDS = 2.0
ALSO_IN = "/usr/local/sbin:/usr/sbin:/sbin"  # which are not in everybody's PATH

Ask = Callable[..., str | None]  # words of a command → what it prints; None where it is not installed, or refuses


class UnansweredError(Exception):
    """A program did not answer in time."""


def output_of(*words: str, seconds: float = SECONDS) -> str | None:
    """What it prints; None where it is not installed or fails. Raises UnansweredError when it takes too long."""
    import shutil
    import subprocess

    program = shutil.which(words[0], path=f"{os.environ.get('PATH', '')}:{ALSO_IN}")
    if program is None:
        return None
    environment = {**os.environ, "LC_ALL": "C"}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        process = subprocess.Popen([program, *words[1:]], env=environment, **pipes)  # type: ignore[call-overload]
    except OSError:
        return None
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()  # it ends when the kernel lets it: whoever waits for storage that hangs, hangs too
        process.stdout.close()
        raise UnansweredError(f"{' '.join(words)} did not answer within {seconds:g} s") from None
    return None if process.returncode else str(out.decode(errors="replace"))

"""The anchor of a commit test: pg_test_fsync in the folder of the server, where both can be had."""

from __future__ import annotations

import os
import shutil
import subprocess

from iocast.formats.database_access.pg_test_fsync import sync_times

PROGRAM = "pg_test_fsync"
SECONDS = 1  # of each of its dozen tests
_PATIENCE_S = 120
_FILE = "iocast_pg_test_fsync.tmp"


def program_beside(pid: int | None) -> str | None:
    """The program, beside that of a running server or on PATH."""
    beside = ""
    if pid is not None:
        try:
            beside = os.path.join(os.path.dirname(os.readlink(f"/proc/{pid}/exe")), PROGRAM)
        except OSError:
            beside = ""
    return beside if beside and os.access(beside, os.X_OK) else shutil.which(PROGRAM)


def measured_anchor(pid: int | None, folder: str) -> tuple[dict[str, int], str]:
    """Method → ns an operation, and what keeps that from being known ("" for nothing). Its file is removed again."""
    program = program_beside(pid)
    if program is None:
        return {}, f"{PROGRAM} is not on PATH, nor beside the server"
    if not folder or not os.access(folder, os.W_OK):
        return {}, f"{PROGRAM} needs to write in the folder of the server, which this user cannot"
    file = os.path.join(folder, _FILE)
    try:
        done = subprocess.run(
            [program, "-s", str(SECONDS), "-f", file],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, f"{PROGRAM} failed: {error}"
    finally:
        if os.path.lexists(file):
            os.unlink(file)
    found = sync_times(done.stdout)
    return found, "" if found else f"{PROGRAM} said nothing that can be read: {done.stderr.strip()[:200]}"

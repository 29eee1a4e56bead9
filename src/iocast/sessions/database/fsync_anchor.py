"""The anchor of a commit test: pg_test_fsync in the folder of the server, where both can be had.

Root runs it as the owner of that folder, who may put links there: it writes into a file without a name, which ends with
the last of its users, whatever ends them.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator

from iocast.databases.postgresql.server_programs import Identity, identity_of
from iocast.tools.pg_test_fsync import sync_times

PROGRAM = "pg_test_fsync"
SECONDS = 1  # of each of its dozen tests
_PATIENCE_S = 120
_NOBODY = 65534
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


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
    """Method → ns an operation, and what keeps that from being known ("" for nothing)."""
    program = program_beside(pid)
    if program is None:
        return {}, f"{PROGRAM} is not on PATH, nor beside the server"
    if not folder or not os.access(folder, os.W_OK):
        return {}, f"{PROGRAM} needs to write in the folder of the server, which this user cannot"
    try:
        with _opened(folder, _DIRECTORY) as held:
            owner = os.fstat(held)
            if why := _foreign(pid, owner):
                return {}, f"{PROGRAM} is not run in {folder}: {why}"
            identity = _identity_of(owner)
            with _opened(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, held) as file:
                if identity:
                    os.fchown(file, identity["user"], identity["group"])
                done = _run(program, file, identity)
    except (OSError, subprocess.SubprocessError) as error:
        return {}, f"{PROGRAM} failed: {error}"
    times = sync_times(done.stdout)
    return times, "" if times else f"{PROGRAM} said nothing that can be read: {done.stderr.strip()[:200]}"


@contextlib.contextmanager
def _opened(path: str, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, flags, 0o600, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _foreign(pid: int | None, folder: os.stat_result) -> str:
    """Why root is not to run the program that was found: the server is not where the folder is, or not its owner's."""
    if os.geteuid() or pid is None:
        return ""
    try:
        if not os.path.samestat(os.stat(f"/proc/{pid}/cwd"), folder):
            return "the server does not work there any more"
        return "" if os.stat(f"/proc/{pid}").st_uid == folder.st_uid else "it does not belong to the user of the server"
    except OSError:
        return "the server has ended"


def _identity_of(owner: os.stat_result) -> Identity:
    """What makes a child process of root the owner of the folder, with no more rights than that."""
    if os.geteuid():
        return {}
    try:
        return identity_of(pwd.getpwuid(owner.st_uid))
    except KeyError:  # of a container
        return {"user": owner.st_uid, "group": _NOBODY, "extra_groups": []}


def _run(program: str, file: int, identity: Identity) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, "-s", str(SECONDS), "-f", f"/proc/self/fd/{file}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PATIENCE_S,
        check=False,
        cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C"},  # nothing of root's
        pass_fds=(file,),
        start_new_session=True,  # nor its terminal
        **identity,
    )

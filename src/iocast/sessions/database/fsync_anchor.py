"""The anchor of a commit test: pg_test_fsync in the folder of the server, where both can be had.

Root runs it as the owner of that folder, who may put links there: it writes into a directory of its own that nobody
else had a name for, and only that is removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from iocast.databases.postgresql.server_programs import Identity, identity_of
from iocast.tools.pg_test_fsync import sync_times

PROGRAM = "pg_test_fsync"
SECONDS = 1  # of each of its dozen tests
_PATIENCE_S = 120
_FILE = "written"
_NOBODY = 65534
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Room(NamedTuple):
    """A private directory in the folder of the server, held."""

    folder: int  # that it lies in, held
    name: str
    descriptor: int


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
    stays: list[str] = []
    times, why = _measured(program, pid, folder, stays)
    if stays:
        why = "; ".join(filter(None, (why, f"in {folder} there stays {stays[0]}")))
    return times, why


def _measured(program: str, pid: int | None, folder: str, stays: list[str]) -> tuple[dict[str, int], str]:
    try:
        with _held(folder) as held:
            owner = os.fstat(held)
            if why := _foreign(pid, owner):
                return {}, f"{PROGRAM} is not run in {folder}: {why}"
            identity = _identity_of(owner)
            with _private_room(held, identity, stays) as room:
                done = _run(program, room, identity)
    except (OSError, subprocess.SubprocessError) as error:
        return {}, f"{PROGRAM} failed: {error}"
    times = sync_times(done.stdout)
    return times, "" if times else f"{PROGRAM} said nothing that can be read: {done.stderr.strip()[:200]}"


@contextlib.contextmanager
def _held(folder: str) -> Iterator[int]:
    descriptor = os.open(folder, _DIRECTORY)
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


@contextlib.contextmanager
def _private_room(folder: int, identity: Identity, stays: list[str]) -> Iterator[_Room]:
    """A new directory below a held one while entered, which belongs to `identity`; what of it cannot be removed is put
    into `stays`. Raises OSError.
    """
    name = f".iocast-fsync-{secrets.token_hex(8)}"
    os.mkdir(name, 0o700, dir_fd=folder)
    room = _Room(folder, name, os.open(name, _DIRECTORY, dir_fd=folder))
    try:
        if os.fstat(room.descriptor).st_uid != os.geteuid() or os.listdir(room.descriptor):
            raise PermissionError(errno.EPERM, "another directory was put in the place of its own", name)
        try:
            if identity:
                os.fchown(room.descriptor, identity["user"], identity["group"])
            yield room
        finally:
            if why := _removed(room):
                stays.append(f"{name} ({why})")
    finally:
        os.close(room.descriptor)


def _removed(room: _Room) -> str:
    """Removes the file and its directory, if the name still leads to it and nothing else is in it; why not, or ""."""
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_FILE, dir_fd=room.descriptor)
        there = os.stat(room.name, dir_fd=room.folder, follow_symlinks=False)
        if not os.path.samestat(there, os.fstat(room.descriptor)):
            return "it was moved away"
        os.rmdir(room.name, dir_fd=room.folder)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _run(program: str, room: _Room, identity: Identity) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, "-s", str(SECONDS), "-f", f"/proc/self/fd/{room.descriptor}/{_FILE}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PATIENCE_S,
        check=False,
        cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C"},  # nothing of root's
        pass_fds=(room.descriptor,),
        start_new_session=True,  # nor its terminal
        **identity,
    )

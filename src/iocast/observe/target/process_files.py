"""The open and mapped files of processes, as far as this user may look into them."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from iocast.observe.target.mounts import RemotePlaces, mount_namespace, other_namespaces, remote_places
from iocast.observe.target.patience import within
from iocast.observe.target.sysfs import read_text

_PATIENCE_S = 2.0
_O_PATH = 0o10000000
_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}.get(platform.machine())  # its number as a system call
_KCMP_FILES = 2  # linux/kcmp.h
_NO_FILE = re.compile(r"(socket|pipe|anon_inode|mnt|net|pid|user|uts|ipc|cgroup|time):")


class FileUse(NamedTuple):
    """A process that has a file open, by the descriptor of that number of one of its threads, or mapped into its memory
    (-1)."""

    pid: int
    thread: int
    name: str
    how: Literal["open", "mapped"]
    status: os.stat_result
    descriptor: int

    @property
    def who(self) -> str:
        """The process as people look it up."""
        return f"process {self.pid} ({self.name})"


def file_uses(
    wanted: Callable[[os.stat_result], bool], *, own: bool = False, place: str = ""
) -> tuple[list[FileUse], int]:
    """Every use of a `wanted` file by a process, this one left out unless `own`; and how many processes could not be
    looked at. What lies on other machines is left out, but for the file system of `place`.
    """
    remote = remote_places(place)
    remote_there = {name: remote_places(place, mounts=there.mounts) for name, there in other_namespaces().items()}
    uses_found: list[FileUse] = []
    unseen = 0
    seen_maps: dict[str, os.stat_result | None] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if not own and folder.name == str(os.getpid()):
            continue
        places = remote_there.get(mount_namespace(folder), remote)
        uses = within(_PATIENCE_S, partial(_uses_of, folder, wanted, places, seen_maps))
        if uses is None:
            unseen += 1
        else:
            uses_found += uses
    return uses_found, unseen


def writes(use: FileUse) -> bool:
    """Whether a process may write to it: what is mapped counts."""
    if use.how == "mapped":
        return True
    flags = re.search(r"^flags:\s*([0-7]+)", descriptor_text(use), re.MULTILINE)
    number = int(flags[1], 8) if flags else 0
    return number & os.O_ACCMODE != os.O_RDONLY and not number & _O_PATH


def descriptor_text(use: FileUse) -> str:
    """What the kernel says of the descriptor: flags, locks; "" when it is closed by now."""
    try:
        return os.fsdecode(Path(f"/proc/{use.thread}/fdinfo/{use.descriptor}").read_bytes())
    except OSError:
        return ""


def _uses_of(
    folder: Path,
    wanted: Callable[[os.stat_result], bool],
    remote: RemotePlaces,
    seen_maps: dict[str, os.stat_result | None],
) -> list[FileUse] | None:
    """The uses of one process; None where they must not be seen."""
    try:
        threads = _with_own_files(folder)
        opened = [
            (each, number, status) for each in threads for number, status in _opened(each, remote) if wanted(status)
        ]
        mapped = [status for status in _mapped(threads, remote, seen_maps) if wanted(status)]
    except PermissionError:
        return None
    except OSError:
        return []  # it ended meanwhile
    if not opened and not mapped:
        return []
    pid, name = int(folder.name), read_text(folder / "comm") or "?"
    uses = [FileUse(pid, int(thread.name), name, "open", status, number) for thread, number, status in opened]
    return uses + [FileUse(pid, pid, name, "mapped", status, -1) for status in mapped]


def _with_own_files(process: Path) -> list[Path]:
    """The folders of the process and of its threads that have descriptors of their own: those that unshared them, and
    one that goes on when the first thread has ended. Raises OSError.
    """
    os.scandir(process / "fd").close()  # whoever must not see them compares no threads
    others = [name for name in os.listdir(process / "task") if name != process.name]
    distinct = [process.name]
    told_apart = bool(others) and _share_files(int(process.name), int(process.name))
    for name in others:
        if not (told_apart and any(_share_files(int(name), int(each)) for each in distinct)):
            distinct.append(name)
    return [process.parent / name for name in distinct]


def _share_files(thread: int, other: int) -> bool:
    """Whether two threads have the same descriptors; no, even of one with itself, where the kernel does not tell."""
    return _KCMP is not None and _libc().syscall(_KCMP, thread, other, _KCMP_FILES, 0, 0) == 0


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _opened(folder: Path, remote: RemotePlaces) -> Iterator[tuple[int, os.stat_result]]:
    for name in os.listdir(folder / "fd"):
        entry = f"{folder}/fd/{name}"
        try:
            place = os.readlink(entry)
        except FileNotFoundError:
            continue
        if not _NO_FILE.match(place) and not remote.hold(place) and (status := _status(entry)) is not None:
            yield int(name), status


def _mapped(
    threads: list[Path], remote: RemotePlaces, statuses: dict[str, os.stat_result | None]
) -> list[os.stat_result]:
    """What is mapped, each file once, as the first thread that has not ended knows it. Libraries are mapped by every
    process: each is looked at once."""
    by_name: dict[str, os.stat_result] = {}
    maps = ((each, (each / "maps").read_bytes()) for each in threads)
    folder, text = next(((each, text) for each, text in maps if text), (threads[0], b""))
    for line in text.decode("utf-8", "replace").splitlines():
        span, _, _, _, inode, *name = line.split(maxsplit=5)
        if inode == "0" or not name or remote.hold(name[0]):
            continue
        what = line.split(maxsplit=3)[3]
        if what not in statuses:
            first, _, last = span.partition("-")
            statuses[what] = _status(f"{folder}/map_files/{first.lstrip('0')}-{last.lstrip('0')}")
        status = statuses[what]
        if status is not None:
            by_name[what] = status
    return list(by_name.values())


def _status(entry: str) -> os.stat_result | None:
    try:
        return os.stat(entry)
    except OSError:
        return None

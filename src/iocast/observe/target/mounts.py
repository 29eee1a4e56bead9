"""Which mount holds a path: /proc/self/mountinfo, read and searched."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from iocast.observe.target.sysfs import read_text

_REMOTE = re.compile(r"nfs|cifs|smb|ceph|fuse|9p|afs|gfs|ocfs|lustre|glusterfs|beegfs|virtiofs")
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mount(Struct, frozen=True, kw_only=True):
    """One line of mountinfo, unescaped. `major` is 0 where the file system has no block device of its own."""

    mount_id: int
    major: int
    minor: int
    root: str  # the part of the file system that is mounted: not "/" for a bind mount or a subvolume
    mount_point: str
    filesystem: str
    source: str
    options: str  # of the mount, then of the file system, each once


def unescape(text: str) -> str:
    """Undoes mountinfo's octal escapes: a space is written as \\040."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """All mounts in the order in which they were made (proc_pid_mountinfo(5)); other lines are skipped."""
    return tuple(mount for line in text.split("\n") if (mount := _parse_line(line)) is not None)


def _parse_line(line: str) -> Mount | None:
    # The number of optional fields varies; a lone "-" ends them.
    before, dash, after = line.partition(" - ")
    head, tail = before.split(" "), after.split(" ")
    if not dash or len(head) < 6 or len(tail) < 3:
        return None
    major, _, minor = head[2].partition(":")
    options = dict.fromkeys([*head[5].split(","), *tail[2].split(",")])
    if "ro" in options:  # read-only in either place is read-only
        options.pop("rw", None)
    return Mount(
        mount_id=int(head[0]),
        major=int(major),
        minor=int(minor),
        root=unescape(head[3]),
        mount_point=unescape(head[4]),
        filesystem=tail[0],
        source=unescape(tail[1]),
        options=unescape(",".join(options)),
    )


def choose_mount(mounts: Sequence[Mount], path: str, device: tuple[int, int] | None = None) -> Mount | None:
    """The mount that holds the absolute, symlink-free `path`: the deepest one, the last made of equals.

    `device` (st_dev of the path) rules out a deeper mount that a later one has covered; btrfs gives each
    subvolume a number that no mount has, so a number found nowhere is ignored.
    """
    holding = [mount for mount in mounts if _holds(mount.mount_point, path)]
    same = [mount for mount in holding if (mount.major, mount.minor) == device]
    best: Mount | None = None
    for mount in same or holding:
        if best is None or len(mount.mount_point) >= len(best.mount_point):
            best = mount
    return best


def _holds(mount_point: str, path: str) -> bool:
    return mount_point == "/" or path == mount_point or path.startswith(mount_point + "/")


def read_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """The mounts that this process sees; none when /proc is not there."""
    try:
        raw = (root / "proc/self/mountinfo").read_bytes()
    except OSError:
        return ()
    return parse_mountinfo(os.fsdecode(raw))


class MountNamespace(NamedTuple):
    """The mounts that a process sees which are not those of this one, and how this one reaches its files."""

    pid: int
    name: str  # of the process
    root: Path
    mounts: tuple[Mount, ...]


def other_namespaces(root: Path = Path("/")) -> dict[str, MountNamespace]:
    """The other mount namespaces of this machine that a thread is in, as far as this user may look into them."""
    own = mount_namespace(root / "proc/self")
    namespaces: dict[str, MountNamespace] = {}
    for folder in _threads(root):
        name = mount_namespace(folder)
        if name in ("", own) or name in namespaces:
            continue
        try:
            mounts = parse_mountinfo(os.fsdecode((folder / "mountinfo").read_bytes()))
        except OSError:
            continue
        namespaces[name] = MountNamespace(int(folder.name), read_text(folder / "comm") or "?", folder / "root", mounts)
    return namespaces


def _threads(root: Path) -> Iterator[Path]:
    """Of each process its folder, then those of its threads: one may be elsewhere, or the first one has ended."""
    for process in root.glob("proc/[0-9]*"):
        yield process
        with contextlib.suppress(OSError):
            yield from (process / "task" / name for name in os.listdir(process / "task") if name != process.name)


def mount_namespace(process: Path) -> str:
    """Which one a process of /proc is in; "" where this user may not know."""
    try:
        return os.readlink(process / "ns/mnt")
    except OSError:
        return ""


class RemotePlaces(NamedTuple):
    """Where a look at a file may never come back, because its server is dead. A local file system that is mounted below
    a remote one (a scratch disk in an NFS home, any disk of a host whose root is on NFS) is local all the same.
    """

    remote: dict[str, bool]  # by mount point, with a slash at its end; {} where nothing is remote

    def hold(self, path: str) -> bool:
        """Whether a file of this name lies on one: the deepest mount says it, of equals the last."""
        above = (place for place in self.remote if path.startswith(place))
        return self.remote.get(max(above, key=len, default=""), False)


def remote_places(besides: str = "", root: Path = Path("/"), mounts: Sequence[Mount] | None = None) -> RemotePlaces:
    """Those among `mounts`, or among those that this process sees; not the file system of the path `besides`."""
    here = find_mount(besides, root) if besides else None
    own = (here.major, here.minor) if here is not None else None
    remote = {
        f"{mount.mount_point.rstrip('/')}/": bool(_REMOTE.match(mount.filesystem)) and (mount.major, mount.minor) != own
        for mount in (read_mounts(root) if mounts is None else mounts)
    }
    return RemotePlaces(remote if any(remote.values()) else {})


def find_mount(path: str, root: Path = Path("/")) -> Mount | None:
    """The mount that holds the existing absolute `path`, as the kernel itself says where it can be asked.

    Under another `root` (a tree written by a test) numbers of this machine mean nothing: only names count.
    """
    mounts = read_mounts(root)
    if root != Path("/"):
        return choose_mount(mounts, os.path.normpath(path))
    answer, device = _ask_kernel(path)
    for mount in mounts:
        if mount.mount_id == answer:
            return mount
    return choose_mount(mounts, os.path.realpath(path), device)


def _ask_kernel(path: str) -> tuple[int | None, tuple[int, int] | None]:
    """Mount id and st_dev of `path`. O_PATH needs no right to read the file and does not touch a device."""
    try:
        fd = os.open(path, os.O_PATH)
    except OSError:
        return None, None
    try:
        number = os.fstat(fd).st_dev
        info = Path(f"/proc/self/fdinfo/{fd}").read_text()
    except OSError:
        return None, None
    finally:
        os.close(fd)
    match = re.search(r"^mnt_id:\s*(\d+)", info, re.MULTILINE)
    return int(match[1]) if match else None, (os.major(number), os.minor(number))

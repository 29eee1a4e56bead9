"""Who else uses a file, or a file of a tree: a loop device or an export on it, swap, processes that write, map or lock
it, by any name; and what is mounted on it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from iocast.archive.writing.file_identity import MARK_SUFFIX
from iocast.archive.writing.held_directories import held_path
from iocast.observe.target.claims import claims_on, exports, read_uses
from iocast.observe.target.loops import Inode, all_loops, unseen_loops
from iocast.observe.target.mounts import (
    Mount,
    MountNamespace,
    find_mount,
    other_namespaces,
    read_mounts,
    remote_places,
    unescape,
)
from iocast.observe.target.process_files import FileUse, descriptor_text, file_uses, writes
from iocast.observe.target.sysfs import kernel_name

_F_SETSIG = 10  # asm-generic/fcntl.h
_WITHOUT_DEVICE = ("btrfs", "tmpfs", "zfs", "bcachefs")  # file systems of this machine that no block device numbers
_LOCK = re.compile(r"^\d+: (\w+) +\w+ +(\w+) (-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) ", re.MULTILINE)


def file_users(paths: Sequence[str], root: Path = Path("/")) -> dict[str, list[str]]:
    """One sentence for each use of these regular files, and of those in these directories, by path: what is free is
    left out.

    Who only reads a file, without a lock, does not count: what iocast writes there was made by iocast. What is mounted
    on a file, on one in a directory or on a mark hides what iocast made.
    """
    mounted = _mounted(root)
    users = inode_users({inode: path for path in paths for inode in _numbers(path, root, mounted)}, root)
    for path, sentence in _mounted_on(paths, root):
        users.setdefault(path, []).append(sentence)
    for path in paths if root == Path("/") else ():
        if path not in users and (unseen := _unseen_use(held_path(path))):
            users[path] = [f"a process that cannot be seen from here (in another container?) {unseen}"]
    return users


def _numbers(path: str, root: Path, mounted: Mounted) -> set[Inode]:
    """Of a file, or of all files in a directory, as the kernel numbers them."""
    place = held_path(path) if root == Path("/") else path
    try:
        status = os.lstat(place)
    except OSError:
        return set()
    if not stat.S_ISDIR(status.st_mode):
        return aliases(path, root, mounted)
    places = [place, *_other_places(place, root, mounted)]
    inodes = {(file.st_dev, file.st_ino) for each in places for file in _files_in(each)}
    return inodes | _by_number(place, inodes, root, mounted)


def _files_in(directory: str) -> Iterator[os.stat_result]:
    """The regular files in a directory and below; a directory that cannot be listed has none."""
    waiting = [directory]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False)


def _mounted_on(paths: Sequence[str], root: Path) -> Iterator[tuple[str, str]]:
    """Mounts on a file of a tree, on a directory of it, or on a mark."""
    mounts = read_mounts(root)
    for path in paths:
        real = os.path.realpath(held_path(path) if root == Path("/") else path)
        for mount in mounts:
            if mount.mount_point == f"{real}{MARK_SUFFIX}" or mount.mount_point.startswith(f"{real}/"):
                yield path, f"{mount.source} is mounted on {mount.mount_point}"


def _unseen_use(path: str) -> str:
    """What a process of another PID namespace does with a file: the kernel refuses a lease on what is open for writing,
    and a lock on what is locked. File systems without leases say nothing.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGURG)  # who opens it meanwhile waits, and does not end this process
        for tried, what in ((_lease, "has it open for writing"), (_lock, "holds a lock on it")):
            try:
                tried(descriptor)
            except BlockingIOError:
                return what
            except OSError:
                continue
    finally:
        os.close(descriptor)
    return ""


def _lease(descriptor: int) -> None:
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _lock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def inode_users(
    inodes: Mapping[Inode, str], root: Path = Path("/"), besides: Collection[Path] = ()
) -> dict[str, list[str]]:
    """The same for files by their inodes, each with its path; of loop devices all but those `besides`."""
    said: list[tuple[str, str]] = [*_loops(inodes, root, besides), *_swaps(inodes, root), *_exports(inodes, root)]
    said += _mounted_from(inodes, root)
    if inodes and root == Path("/"):
        said += _processes(inodes)
        said += _hidden_locks(inodes)
    users: dict[str, list[str]] = {}
    for path, sentence in said:
        if sentence not in users.setdefault(path, []):
            users[path].append(sentence)
    return users


def aliases(path: str, root: Path = Path("/"), mounted: Mounted | None = None) -> set[Inode]:
    """The file as the kernel numbers it: on an overlay the file below is the same one under other numbers."""
    place = held_path(path) if root == Path("/") else path
    mounted = mounted or _mounted(root)
    inodes = _inodes([place, *_other_places(place, root, mounted)])
    return inodes | _by_number(place, inodes, root, mounted)


def _by_number(place: str, inodes: Collection[Inode], root: Path, mounted: Mounted) -> set[Inode]:
    """Files on an overlay, or below one, whose other place cannot be reached by the name that the kernel has for the
    directory below: it was renamed, is hidden by a mount, or outside of this container. An overlay keeps the numbers of
    files, so that the one of that number counts, on every file system, or overlay, that is mounted anywhere here.
    """
    if not mounted.overlays:
        return set()
    try:
        own = os.stat(place).st_dev
    except OSError:
        return set()
    if own in mounted.devices:
        is_on_one = False
    else:  # an overlay whose layers are of several file systems has files of other numbers
        mount = find_mount(place, root)
        is_on_one = own in mounted.overlay_devices or (mount is not None and mount.filesystem == "overlay")
    reached = {number for device, number in inodes if device != own}
    lost = {number for device, number in inodes if device == own} - reached
    devices = mounted.devices if is_on_one else mounted.overlay_devices
    return {(device, number) for device in devices for number in lost}


def _other_places(path: str, root: Path, mounted: Mounted) -> Iterator[str]:
    """Where else a file or directory is: below the overlay that it is on, and on overlays that it is below of."""
    own = find_mount(path, root)
    path = os.path.realpath(path)
    if own is not None:
        inside = os.path.relpath(path, own.mount_point)
        yield from (os.path.join(upper, own.root.lstrip("/"), inside) for upper in _uppers(own))
    for seen_from, overlay in mounted.overlays:
        for upper in _uppers(overlay):
            below = _inside(path, os.path.join(upper, overlay.root.lstrip("/")))
            if below is not None:
                yield str(seen_from / overlay.mount_point.lstrip("/") / below)


class Mounted(NamedTuple):
    """What is mounted anywhere here, in other mount namespaces too: overlays and parts of them, with where each is seen
    from; the numbers of overlays, and of all other file systems that keep files.
    """

    overlays: list[tuple[Path, Mount]]
    overlay_devices: set[int]
    devices: set[int]


def _mounted(root: Path) -> Mounted:
    here = MountNamespace(os.getpid(), "", root, read_mounts(root))
    known = Mounted([], set(), set())
    for there in (here, *other_namespaces(root).values()):
        for mount in there.mounts:
            if mount.filesystem == "overlay":
                known.overlays.append((Path("/") if there is here else there.root, mount))
                known.overlay_devices.add(os.makedev(mount.major, mount.minor))
            elif mount.major:
                known.devices.add(os.makedev(mount.major, mount.minor))
            elif mount.filesystem in _WITHOUT_DEVICE:
                with contextlib.suppress(OSError):
                    known.devices.add(os.stat(there.root / mount.mount_point.lstrip("/")).st_dev)
    return known


def _uppers(mount: Mount) -> Iterator[str]:
    """The directory in which an overlay keeps what was written."""
    if mount.filesystem == "overlay":
        yield from re.findall(r"(?:^|,)upperdir=([^,]+)", mount.options)


def _inside(path: str, directory: str) -> str | None:
    """The rest of the path from a directory on, by whatever name that is reached; None where it is not above."""
    for above in Path(path).parents:
        try:
            if os.path.samefile(above, directory):
                return os.path.relpath(path, above)
        except OSError:
            return None
    return None


def _inodes(places: Sequence[str]) -> set[Inode]:
    return {inode for place in places if (inode := _inode(place)) is not None}


def _inode(path: str | Path) -> Inode | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _loops(inodes: Mapping[Inode, str], root: Path, besides: Collection[Path]) -> Iterator[tuple[str, str]]:
    """Loop devices on it, by whatever name they were given it, and what stands on them. Where the kernel shows none
    and has some, each file may be behind one.
    """
    if unseen_loops(root):
        said = "loop devices on it cannot be looked for where /sys is not mounted (mount -t sysfs sysfs /sys)"
        yield from ((path, said) for path in dict.fromkeys(inodes.values()))
        return
    attached = all_loops(root, next(iter(inodes.values()), ""))
    on_it = {each.loop: inodes[each.inode] for each in attached if each.inode is not None and each.inode in inodes}
    others = {loop: path for loop, path in on_it.items() if loop not in besides}
    if not others:
        return
    uses = read_uses(root)
    for loop, path in others.items():
        yield path, f"it is the file behind {kernel_name(loop)}"
        yield from ((path, claim) for claim in claims_on(loop, uses, besides))


def _swaps(inodes: Mapping[Inode, str], root: Path) -> Iterator[tuple[str, str]]:
    for line in _text(root / "proc/swaps").splitlines()[1:]:
        name = unescape(line.split()[0]) if line.strip() else ""
        inode = _inode(root / name.lstrip("/")) if name else None
        if inode is not None and inode in inodes:
            yield inodes[inode], "it is used as swap"


def _mounted_from(inodes: Mapping[Inode, str], root: Path) -> Iterator[tuple[str, str]]:
    """File systems that stand on the file itself, without a loop device: of EROFS, or of FUSE."""
    here = MountNamespace(os.getpid(), "", root, read_mounts(root))
    remote = remote_places(next(iter(inodes.values()), ""), root)
    for there in (here, *other_namespaces(root).values()):
        for mount in there.mounts:
            if mount.major or not mount.source.startswith("/") or remote.hold(mount.source):
                continue
            inode = _inode(there.root / mount.source.lstrip("/"))
            if inode is not None and inode in inodes:
                yield inodes[inode], f"it is mounted on {mount.mount_point} ({mount.filesystem})"


def _exports(inodes: Mapping[Inode, str], root: Path) -> Iterator[tuple[str, str]]:
    for file, what in exports(root):
        inode = _inode(root / file.lstrip("/"))
        if inode is not None and inode in inodes:
            yield inodes[inode], f"it is {what}"


def _processes(inodes: Mapping[Inode, str]) -> Iterator[tuple[str, str]]:
    place = next(iter(inodes.values()))
    uses, _ = file_uses(lambda status: (status.st_dev, status.st_ino) in inodes, own=True, place=place)
    for use in uses:
        path = inodes[use.status.st_dev, use.status.st_ino]
        for what in _what(use):
            yield path, f"{use.who} {what}"


def _what(use: FileUse) -> Iterator[str]:
    """What a process does with the file."""
    if use.how == "mapped":
        yield "has it mapped into its memory"
        return
    if writes(use):
        yield "has it open for writing"
    text = descriptor_text(use)
    if re.search(r"^lock:\s.* LEASE ", text, re.MULTILINE):
        yield "has a lease on it"
    elif "\nlock:" in text:
        yield "holds a lock on it"


def _hidden_locks(inodes: Mapping[Inode, str]) -> Iterator[tuple[str, str]]:
    """Locks and leases of processes that this user may not look into: the kernel lists them for everybody."""
    keys: dict[tuple[int, int, int], str] = {}
    places = {path: (find_mount(path), _inode(path)) for path in set(inodes.values())}
    for (device, inode), path in inodes.items():
        keys[os.major(device), os.minor(device), inode] = path
        mount, own = places[path]  # whose number is not that of its files on btrfs and some overlays
        if mount is not None and own in (None, (device, inode)):  # None: a directory, and the file is in it
            keys[mount.major, mount.minor, inode] = path
    for kind, _, pid, major, minor, inode_text in _LOCK.findall(_text(Path("/proc/locks"))):
        key = int(major, 16), int(minor, 16), int(inode_text)
        if key in keys and not os.access(f"/proc/{pid}/fd", os.R_OK):
            who = f"process {pid}" if int(pid) > 0 else "another process"
            yield keys[key], f"{who} {'has a lease' if kind == 'LEASE' else 'holds a lock'} on it"


def _text(file: Path) -> str:
    try:
        return os.fsdecode(file.read_bytes())
    except OSError:
        return ""

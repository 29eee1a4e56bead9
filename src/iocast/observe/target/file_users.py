"""Who else uses a file: a loop device or an export on it, swap, processes that write, map or lock it, by any name."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from iocast.observe.target.claims import claims, exports, loop_files
from iocast.observe.target.identity import loop_inode
from iocast.observe.target.mounts import Mount, find_mount, read_mounts, unescape
from iocast.observe.target.process_files import FileUse, file_uses
from iocast.observe.target.sysfs import device_directory, device_number, kernel_name, read_text

Inode = tuple[int, int]  # device of the file system, inode
_O_PATH = 0o10000000
_LOCK = re.compile(r"^\d+: (\w+) +\w+ +(\w+) (-?\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) ", re.MULTILINE)


def file_users(paths: Sequence[str], root: Path = Path("/")) -> dict[str, list[str]]:
    """One sentence for each use of these regular files, by path; what is free, or not there, is left out.

    Who only reads a file, without a lock, does not count: what iocast writes there was made by iocast.
    """
    inodes: dict[Inode, str] = {}
    for path in paths:
        inodes |= dict.fromkeys(aliases(path, root), path)
    said: list[tuple[str, str]] = [*_loops(inodes, root), *_swaps(inodes, root), *_exports(inodes, root)]
    if inodes and root == Path("/"):
        said += _processes(inodes, paths[0])
        said += _hidden_locks(paths)
    found: dict[str, list[str]] = {}
    for path, sentence in said:
        if sentence not in found.setdefault(path, []):
            found[path].append(sentence)
    return found


def loop_file_users(major: int, minor: int, root: Path = Path("/")) -> list[str]:
    """Who uses the file behind a loop device, or behind the disk of its partition, besides that loop device itself."""
    device = device_directory(major, minor, root)
    disk = device.parent if device is not None and (device / "partition").exists() else device
    file = read_text(disk / "loop/backing_file") if disk is not None else None
    if disk is None or file is None or _inode(root / file.lstrip("/")) is None:
        return []
    its_own = {f"it is the file behind {kernel_name(disk)}", *claims(*device_number(disk), root)}
    used = file_users([str(root / file.lstrip("/"))], root)
    return [f"of the file behind it, {file}: {say}" for each in used.values() for say in each if say not in its_own]


def aliases(path: str, root: Path = Path("/")) -> set[Inode]:
    """The file as the kernel numbers it: on an overlay the file below is the same one under other numbers."""
    found = {inode for inode in (_inode(path),) if inode is not None}
    mounts = read_mounts(root)
    own = find_mount(path, root)
    if own is not None and own.filesystem == "overlay":
        inside = os.path.relpath(path, own.mount_point)
        found |= _inodes(Path(upper, own.root.lstrip("/"), inside) for upper in _uppers(own))
    for overlay in mounts:
        for upper in _uppers(overlay):
            below = _inside(path, upper) if overlay.root == "/" else None
            if below is not None:
                found |= _inodes([Path(overlay.mount_point, below)])
    return found


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


def _inodes(places: Iterator[Path] | Sequence[Path]) -> set[Inode]:
    return {inode for place in places if (inode := _inode(place)) is not None}


def _inode(path: str | Path) -> Inode | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _loops(inodes: Mapping[Inode, str], root: Path) -> Iterator[tuple[str, str]]:
    """Loop devices on it, by whatever name they were given it, and what stands on them."""
    for loop, file in loop_files(root, next(iter(inodes.values()), "")).items():
        inode = loop_inode(kernel_name(loop), file, root)
        if inode is not None and inode in inodes:
            yield inodes[inode], f"it is the file behind {kernel_name(loop)}"
            yield from ((inodes[inode], claim) for claim in claims(*device_number(loop), root))


def _swaps(inodes: Mapping[Inode, str], root: Path) -> Iterator[tuple[str, str]]:
    for line in _text(root / "proc/swaps").splitlines()[1:]:
        name = unescape(line.split()[0]) if line.strip() else ""
        inode = _inode(root / name.lstrip("/")) if name else None
        if inode is not None and inode in inodes:
            yield inodes[inode], "it is used as swap"


def _exports(inodes: Mapping[Inode, str], root: Path) -> Iterator[tuple[str, str]]:
    for file, what in exports(root):
        inode = _inode(root / file.lstrip("/"))
        if inode is not None and inode in inodes:
            yield inodes[inode], f"it is {what}"


def _processes(inodes: Mapping[Inode, str], place: str) -> Iterator[tuple[str, str]]:
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
    told = _text(Path(f"/proc/{use.pid}/fdinfo/{use.descriptor}"))
    flags = re.search(r"^flags:\s*([0-7]+)", told, re.MULTILINE)
    number = int(flags[1], 8) if flags else 0
    if number & os.O_ACCMODE != os.O_RDONLY and not number & _O_PATH:
        yield "has it open for writing"
    if re.search(r"^lock:\s.* LEASE ", told, re.MULTILINE):
        yield "has a lease on it"
    elif "\nlock:" in told:
        yield "holds a lock on it"


def _hidden_locks(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Locks and leases of processes that this user may not look into: the kernel lists them for everybody."""
    keys: dict[tuple[int, int, int], str] = {}
    for path in paths:
        mount = find_mount(path)
        if mount is not None and (inode := _inode(path)) is not None:
            keys[mount.major, mount.minor, inode[1]] = path
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

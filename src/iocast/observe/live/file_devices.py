"""FileDevices: which of the watched devices the I/O of a file enters first, and which of them are below it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from iocast.model.target import Layer
from iocast.observe.target.layers import Stack
from iocast.observe.target.mounts import find_mount

_GONE = " (deleted)"


class FileDevices:
    """Looks each path up once, in the mount namespace of those who are followed. A path whose devices cannot be known
    is asked for again.
    """

    def __init__(self, watched: Iterable[str], pids: Iterable[int] = (), root: Path = Path("/")) -> None:
        self._watched = frozenset(watched)
        self._roots = tuple(dict.fromkeys(_root_of(pid, root) for pid in pids)) or (root,)
        self._root = root
        self._by_path: dict[str, tuple[str, ...]] = {}
        self._by_number: dict[int, tuple[str, ...]] = {}
        self.below: dict[str, tuple[str, ...]] = {}  # a watched device → the next watched ones below it

    def of(self, path: str) -> tuple[str, ...] | None:
        """Several below a file system on several devices; () where none is watched (NFS, FUSE); None: unknown."""
        if path not in self._by_path:
            devices = self._looked_up(path.removesuffix(_GONE))
            if devices is None:
                return None
            self._by_path[path] = devices
        return self._by_path[path]

    def _looked_up(self, path: str) -> tuple[str, ...] | None:
        for root in self._roots:
            for place in (path, os.path.dirname(path)):  # a log file is renamed, and then its name is gone
                try:
                    status = os.stat(root / place.lstrip("/"))
                except (OSError, ValueError):
                    continue
                number = status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev
                if number not in self._by_number:
                    self._by_number[number] = self._entered(number, place if root == self._root else "")
                return self._by_number[number]
        return None

    def _entered(self, number: int, path: str) -> tuple[str, ...]:
        """`path`: where btrfs and overlay, which have no device of their own, are looked up among the mounts."""
        stack = Stack(self._root)
        if os.major(number):
            stack.add_device(os.major(number), os.minor(number))
        elif path and (mount := find_mount(path, self._root)):
            stack.add_mount(mount)
        by_name = {layer.name: layer for layer in stack.layers()}
        lower = {name for layer in by_name.values() for name in layer.lower}
        for name in self._watched & by_name.keys():
            self.below[name] = first_watched(by_name[name].lower, by_name, self._watched)
        return first_watched((name for name in by_name if name not in lower), by_name, self._watched)


def first_watched(names: Iterable[str], by_name: Mapping[str, Layer], watched: frozenset[str]) -> tuple[str, ...]:
    """Of each of these devices the first that is watched, on the way down."""

    def down(name: str) -> Iterator[str]:
        if name in watched:
            yield name
        elif name in by_name:
            for lower in by_name[name].lower:
                yield from down(lower)

    return tuple(dict.fromkeys(device for name in names for device in down(name)))


def _root_of(pid: int, root: Path) -> Path:
    """Where the paths of a process begin: a container has mounts of its own."""
    try:
        same = os.readlink(root / f"proc/{pid}/ns/mnt") == os.readlink(root / "proc/self/ns/mnt")
    except OSError:
        return root
    return root if same else root / f"proc/{pid}/root"

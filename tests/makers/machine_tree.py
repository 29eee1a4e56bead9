"""Builds a small /proc and /sys in a temporary folder, laid out and linked as the kernel does it."""

from __future__ import annotations

import os
from pathlib import Path

QUEUE = {
    "logical_block_size": "512",
    "physical_block_size": "4096",
    "rotational": "0",
    "scheduler": "[none] mq-deadline kyber",
    "write_cache": "write back",
    "max_sectors_kb": "1280",
    "max_segments": "127",
    "nr_requests": "1023",
    "iostats": "1",
}


class MachineTree:
    """A machine on paper: `root` goes where iocast takes a root folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._mounts: list[str] = []
        self.write("proc/self/mountinfo", "")

    def write(self, path: str, text: str | bytes) -> None:
        """One file, and the folders above it."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else (text + "\n").encode())

    def disk(self, path: str, number: str, sectors: int = 2048, **files: str | bytes) -> Path:
        """A block device at sys/devices/`path`; `files` are more of its files, "/" written as "__"."""
        return self._device(path, number, sectors, {f"queue/{k}": v for k, v in QUEUE.items()}, files)

    def partition(self, path: str, number: str, index: int, sectors: int = 1024) -> Path:
        """A partition: a folder in that of its disk, without a queue."""
        return self._device(path, number, sectors, {"partition": str(index)}, {})

    def _device(
        self, path: str, number: str, sectors: int, first: dict[str, str], files: dict[str, str | bytes]
    ) -> Path:
        here = f"sys/devices/{path}"
        more = {name.replace("__", "/"): content for name, content in files.items()}
        for name, content in {"dev": number, "size": str(sectors), **first, **more}.items():
            self.write(f"{here}/{name}", content)
        directory = self.root / here
        self.link(f"sys/dev/block/{number}", directory)
        self.link(f"sys/class/block/{directory.name}", directory)
        return directory

    def link(self, path: str, to: Path) -> None:
        """A relative symbolic link, as sysfs has them."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(to, place.parent))

    def stack(self, upper: Path, *lower: Path) -> None:
        """Says in slaves/ and holders/ that `upper` is built on `lower`."""
        for below in lower:
            self.link(str((upper / "slaves" / below.name).relative_to(self.root)), below)
            self.link(str((below / "holders" / upper.name).relative_to(self.root)), upper)

    def mount(
        self,
        number: str,
        point: str,
        filesystem: str = "ext4",
        source: str = "/dev/x",
        root: str = "/",
        more: str = "rw",
    ) -> None:
        """A mount on `point`, whose folder is made too."""
        here = f"{20 + len(self._mounts)} 1 {number} {root} {point} rw,relatime shared:1"
        self._mounts.append(f"{here} - {filesystem} {source} {more}")
        self.write("proc/self/mountinfo", "\n".join(self._mounts))
        (self.root / point.replace("\\040", " ").lstrip("/")).mkdir(parents=True, exist_ok=True)

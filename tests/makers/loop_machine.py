"""Stacks of loop devices with who uses them: images, mounts, swap and processes, all undone at the end of a test."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

from makers.disk_images import MIB, blank
from makers.other_processes import other_process
from makers.rootly import command, need

HOLDS = (
    "import ctypes as c, fcntl, os, sys; f = os.open(sys.argv[1], os.O_RDWR); call = c.CDLL(None).mmap; "
    "call.restype = c.c_void_p; call.argtypes = c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long; "
)
MOUNTS = "import subprocess, sys; subprocess.run(['mount', *sys.argv[1:]], check=True)"
ELSEWHERE = ("unshare", "--mount", "--propagation", "private")


class LoopMachine:
    """Images, loop devices, mounts and processes, all undone in turn at the end."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.image, self.stack = folder, folder / "image", stack

    def undo(self, *words: object) -> None:
        self.stack.callback(lambda: subprocess.run([str(word) for word in words], check=False, capture_output=True))

    def attach(self, file: str | Path, *options: object) -> str:
        need("losetup")
        device = command("losetup", "--find", "--show", *options, file)
        self.undo("losetup", "--detach", device)
        return device

    def blank(self, size_bytes: int = 64 * MIB) -> str:
        blank(self.image, size_bytes)
        return self.attach(self.image)

    def mount(self, *options: object, name: str = "mounted") -> Path:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        command("mount", *options, place)
        self.undo("umount", place)
        return place

    def partition(self, device: str, number: int = 1) -> str:
        """32 MiB behind the one before it."""
        path = f"{device}p{number}"
        if not os.path.exists(path):
            need("addpart", "delpart")
            start = MIB // 512 + (number - 1) * 32 * MIB // 512
            command("addpart", device, number, start, 32 * MIB // 512)
            self.undo("delpart", device, number)
        return path

    def overlay(self) -> tuple[Path, Path]:
        """A mounted overlay, and the directory in which it keeps what is written."""
        lower, upper, inside = (self.folder / each for each in ("lower", "upper", "inside"))
        for each in (lower, upper, inside):
            each.mkdir()
        options = f"lowerdir={lower},upperdir={upper},workdir={inside}"
        return self.mount("-t", "overlay", "overlay", "-o", options, name="merged"), upper

    def process(self, program: str, *words: object, before: tuple[str, ...] = ()) -> int:
        return self.stack.enter_context(other_process(program, *words, before=before))

    @staticmethod
    def written_ios(device: str) -> int:
        """The writes that the kernel counted on a device."""
        return int(Path(f"/sys/class/block/{device[5:]}/stat").read_text().split()[4])

"""What a block device holds by its own account: file systems, RAID and volume members, partition tables.

libblkid looks, the library behind `blkid` and `wipefs`; where it is missing the program `blkid` does. Where
there is neither this is an error and not an empty answer.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

from msgspec import Struct

from iocast.errors import TargetError

_LIBRARY = "libblkid.so.1"
# BLKID_SUBLKS_: LABEL, UUID, TYPE, USAGE, MAGIC, BADCSUM: a damaged file system is one that somebody may want back.
_SUPERBLOCKS = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 9 | 1 << 10
_PARTITIONS = 1 << 1 | 1 << 3  # BLKID_PARTS_: FORCE_GPT (without a protective MBR, or the copy at the end), MAGIC
_MOST = 64
_WORDS = {"filesystem": "file system", "raid": "member", "crypto": "encrypted volume", "other": "volume"}
_PATIENCE_S = 30


class Signature(Struct, frozen=True):
    """One thing that was recognised."""

    kind: str  # "ext4", "LVM2_member", "gpt", as blkid(8) calls it
    what: str  # "file system", "area", "member", "encrypted volume", "partition table", ...
    offset_bytes: int | None = None  # of its magic number; None when the program did not say
    label: str = ""


def signatures(descriptor: int, path: str) -> tuple[Signature, ...]:
    """Everything recognised on an open device or image; () when nothing is. It is only read.

    Raises TargetError when nobody could look, or the device could not be read where they look.
    """
    try:
        library = _load()
    except (OSError, AttributeError):
        return tuple(_by_program(descriptor, path))
    return tuple(dict.fromkeys(_by_library(library, descriptor, path)))


def _load() -> ctypes.CDLL:
    """libblkid with the types of what is used of it. Raises OSError, AttributeError."""
    library = ctypes.CDLL(_LIBRARY, use_errno=True)
    probe, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    library.blkid_new_probe.restype = probe
    library.blkid_free_probe.argtypes = (probe,)
    library.blkid_free_probe.restype = None
    library.blkid_probe_set_device.argtypes = (probe, number, ctypes.c_int64, ctypes.c_int64)
    for name in ("superblocks", "partitions"):
        getattr(library, f"blkid_probe_enable_{name}").argtypes = (probe, number)
        getattr(library, f"blkid_probe_set_{name}_flags").argtypes = (probe, number)
    library.blkid_do_probe.argtypes = (probe,)
    library.blkid_probe_lookup_value.argtypes = (probe, text, ctypes.POINTER(text), ctypes.POINTER(ctypes.c_size_t))
    return library


def _by_library(library: ctypes.CDLL, descriptor: int, path: str) -> Iterator[Signature]:
    probe = library.blkid_new_probe()
    if not probe:
        raise _unseen(path, "libblkid is out of memory")
    try:
        if library.blkid_probe_set_device(probe, descriptor, 0, 0):
            raise _unseen(path, "libblkid cannot open it")
        library.blkid_probe_enable_superblocks(probe, 1)
        library.blkid_probe_set_superblocks_flags(probe, _SUPERBLOCKS)
        library.blkid_probe_enable_partitions(probe, 1)
        library.blkid_probe_set_partitions_flags(probe, _PARTITIONS)
        for _ in range(_MOST):
            answer = library.blkid_do_probe(probe)
            if answer == 1:
                return
            if answer:
                number = ctypes.get_errno()
                raise _unseen(path, f"libblkid failed to read it{f': {os.strerror(number)}' if number else ''}")
            yield from _signatures(lambda name: _value(library, probe, name))
    finally:
        library.blkid_free_probe(probe)


def _value(library: ctypes.CDLL, probe: int, name: str) -> str:
    text, length = ctypes.c_char_p(), ctypes.c_size_t()
    if library.blkid_probe_lookup_value(probe, name.encode(), ctypes.byref(text), ctypes.byref(length)):
        return ""
    return (text.value or b"").decode("utf-8", "replace")


def _signatures(value: Callable[[str], str]) -> Iterator[Signature]:
    """The signatures that one answer of blkid holds."""
    if kind := value("TYPE"):
        what = _WORDS.get(value("USAGE"), "signature")
        yield Signature(
            kind, "area" if kind.startswith("sw") else what, _offset(value("SBMAGIC_OFFSET")), value("LABEL")
        )
    if kind := value("PTTYPE"):
        yield Signature(kind, "partition table", _offset(value("PTMAGIC_OFFSET")))


def _offset(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _by_program(descriptor: int, path: str) -> Iterator[Signature]:
    program = shutil.which("blkid", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if program is None:
        raise _unseen(path, f"neither {_LIBRARY} nor the program blkid is installed")
    command = (program, "-p", "-o", "export", f"/proc/self/fd/{descriptor}")
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            pass_fds=(descriptor,),
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unseen(path, f"blkid: {error}") from error
    if done.returncode == 8:  # several at once, of which it names none
        yield Signature("several", "signature")
    elif done.returncode not in (0, 2) or done.stderr.strip():
        raise _unseen(path, f"blkid: {done.stderr.strip() or f'exit code {done.returncode}'}")
    values = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    yield from _signatures(lambda name: values.get(name, ""))


def _unseen(path: str, why: str) -> TargetError:
    return TargetError(
        f"{path} will not be overwritten: its contents are unknown ({why})",
        f"install {_LIBRARY} (Debian: libblkid1) or blkid (util-linux), or check the kernel log (dmesg)",
    )

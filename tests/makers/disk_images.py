"""Disk images that hold something: made by the tools where they are small, else by the magic bytes as documented."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

from makers.rootly import command, need

MIB = 1 << 20
_ZFS_UBERBLOCK = struct.pack("<QQ", 0x00BAB10C, 5000)
_BCACHE_MAGIC = bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")


def blank(image: Path, size_bytes: int = 64 * MIB) -> None:
    """A sparse file of zeros."""
    with open(image, "wb") as file:
        file.truncate(size_bytes)


def put(image: Path, *pieces: tuple[int, bytes], size_bytes: int = 64 * MIB) -> None:
    """Zeros, but for these bytes at these offsets."""
    blank(image, size_bytes)
    with open(image, "r+b") as file:
        for offset, data in pieces:
            file.seek(offset)
            file.write(data)


def tool(*words: str, size_bytes: int = 64 * MIB) -> Callable[[Path], None]:
    """Makes an image with a program of that name."""

    def make(image: Path) -> None:
        need(words[0])
        blank(image, size_bytes)
        command(*words, image)

    return make


def magic(*pieces: tuple[int, bytes]) -> Callable[[Path], None]:
    """Makes an image of bytes alone. Checksums are left out: a damaged one is one as well."""
    return lambda image: put(image, *pieces)


def gpt(image: Path) -> None:
    """A partition table with one partition of 32 MiB at 1 MiB."""
    need("sfdisk")
    blank(image)
    script = image.with_suffix(".sfdisk")
    script.write_text("label: gpt\nstart=2048, size=65536\n")
    command("sh", "-c", f"exec sfdisk --quiet '{image}' < '{script}'")


def gpt_at_the_end(image: Path) -> None:
    """Of a partition table only the copy at the end is left."""
    gpt(image)
    with open(image, "r+b") as file:
        file.write(bytes(MIB))


def damaged_ext4(image: Path) -> None:
    """A superblock whose checksum is wrong."""
    tool("mkfs.ext4", "-q", "-O", "metadata_csum")(image)
    with open(image, "r+b") as file:
        file.seek(1024 + 0x30)  # s_mtime..: any field that the checksum covers
        file.write(os.urandom(4))


def _mbr() -> bytes:
    entry = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0x83, b"\0\2\0", 2048, 65536)
    return entry + bytes(48) + b"\x55\xaa"


# What blkid calls it -> how it is made.
HOLDING: dict[str, Callable[[Path], None]] = {
    "ext4 file system": tool("mkfs.ext4", "-q", "-L", "precious"),
    "ext4 file system, damaged": damaged_ext4,
    "xfs file system": tool("mkfs.xfs", "-q", size_bytes=320 * MIB),
    "btrfs file system": tool("mkfs.btrfs", "-q", size_bytes=128 * MIB),
    "vfat file system": tool("mkfs.vfat"),
    "squashfs file system": magic((0, b"hsqs" + bytes(24) + struct.pack("<HH", 4, 0))),
    "iso9660 file system": magic((32768, b"\1CD001\1"), (34816, b"\xffCD001\1")),
    "swap area": tool("mkswap"),
    "LVM2_member member": magic((512, b"LABELONE" + struct.pack("<QII", 1, 0, 32) + b"LVM2 001" + b"a" * 32)),
    "crypto_LUKS encrypted volume": magic((0, b"LUKS\xba\xbe" + struct.pack(">H", 1))),
    "linux_raid_member member": magic((4096, struct.pack("<II", 0xA92B4EFC, 1)), (4096 + 144, struct.pack("<Q", 8))),
    "zfs_member file system": magic(
        *((n * 262144 + 131072 + i * 1024, _ZFS_UBERBLOCK) for n in (0, 1) for i in range(64))
    ),
    "bcache volume": magic((4096, struct.pack("<QQQ", 0, 8, 0) + _BCACHE_MAGIC)),
    "oracleasm file system": magic((32, b"ORCLDISKVOL1")),
    "gpt partition table": gpt,
    "gpt partition table, only its copy at the end": gpt_at_the_end,
    "dos partition table": magic((446, _mbr())),
    "ext3 file system": tool("mkfs.ext3", "-q"),
    "minix file system": tool("mkfs.minix"),
    "jbd volume": tool("mke2fs", "-q", "-F", "-O", "journal_dev"),
}
# What databases put on raw devices and no library recognises: the header of an Oracle data file, of 8 KiB blocks, and
# the first page of an InnoDB raw tablespace.
UNRECOGNISED: dict[str, Callable[[Path], None]] = {
    "Oracle data file": magic(
        (0, b"\x00\xa2\x00\x00" + bytes(24) + b"}|{z" + b"\xa0\x0a"), (8192, b"\x0b\xa2\x00\x00")
    ),
    "InnoDB raw tablespace": magic((24, struct.pack(">H", 8)), (38, struct.pack(">I", 0)), (16384 + 24, b"\x00\x05")),
}
